//! SPDK's log lines on their way to `tracing`, under the target `spdk`. Owns the callback, and remembers the last error
//! for messages of ours: SPDK's return codes seldom say more than that something failed. Decides no level.

use std::ffi::{CStr, c_char, c_int};
use std::sync::{Mutex, PoisonError};

use spdk_sys as sys;

static LAST_ERROR: Mutex<Option<String>> = Mutex::new(None);

/// The last error SPDK logged since [`forget_errors`].
pub(crate) fn last_error() -> Option<String> {
    LAST_ERROR.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(crate) fn forget_errors() {
    *LAST_ERROR.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// From here on SPDK's messages go to `tracing` and nowhere else.
pub(crate) fn to_tracing() {
    // SAFETY: `forward` matches the callback type, is callable from any thread, and never unwinds into C: tracing's
    // subscriber runs inside `catch_unwind`.
    unsafe { sys::rigel_log_to(Some(forward)) };
}

unsafe extern "C" fn forward(level: c_int, message: *const c_char) {
    // SAFETY: the shim passes a NUL-terminated buffer that lives until this returns.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    let text = text.trim_end();
    if level <= 0 {
        *LAST_ERROR.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
    }
    let _ = std::panic::catch_unwind(|| match level {
        ..=0 => tracing::error!(target: "spdk", "{text}"),
        1 => tracing::warn!(target: "spdk", "{text}"),
        2 => tracing::info!(target: "spdk", "{text}"),
        _ => tracing::debug!(target: "spdk", "{text}"),
    });
}
