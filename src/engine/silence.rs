//! Notices that a core completes nothing any more, so that its targets can be asked whether they are there.
//!
//! Owns how long that takes and which target is asked next. Knows no target.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::core_loop::Progress;

/// How long a core may complete nothing before the targets are asked, one each time, whether they are there.
const SILENCE: Duration = Duration::from_secs(1);

/// Notices that a core completes nothing any more.
pub(super) struct Watch {
    seen: Vec<(u64, Instant)>,
    next: usize,
}

impl Watch {
    pub(super) fn new(cores: usize) -> Self {
        Self { seen: vec![(0, Instant::now()); cores], next: 0 }
    }

    /// True once per [`SILENCE`] in which some core made no progress.
    pub(super) fn silent(&mut self, progress: &[Progress]) -> bool {
        let mut silent = false;
        for ((seen, since), progress) in self.seen.iter_mut().zip(progress) {
            let total = progress.0.load(Ordering::Relaxed);
            let quiet = total == *seen && since.elapsed() >= SILENCE;
            if total != *seen || quiet {
                (*seen, *since) = (total, Instant::now());
            }
            silent |= quiet;
        }
        silent
    }

    /// The target to ask this time; all in turn.
    pub(super) fn next_target(&mut self, targets: usize) -> usize {
        self.next = (self.next + 1) % targets.max(1);
        self.next
    }
}
