//! Writing to stdout. Owns what happens when its reader has gone away.

use std::io::{ErrorKind, Write};

use super::exit::Failure;

/// Writes to stdout. A reader that has gone away (`| head`) is no failure: the run goes on, and its result is saved.
pub(super) fn to_stdout(text: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()) {
        Err(reason) if reason.kind() != ErrorKind::BrokenPipe => Err(Failure::Stdout(reason)),
        _ => Ok(()),
    }
}
