//! SPDK's log lines on their way to `tracing`, under the target `spdk`. Owns the callback, takes secrets out of what
//! passes, and remembers the latest errors for messages of ours: SPDK's return codes seldom say more than that something
//! failed. Decides no level.

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Mutex, PoisonError};

use spdk_sys as sys;

/// Errors that are remembered.
const REMEMBERED: usize = 16;

static ERRORS: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// The latest errors SPDK logged since [`forget_errors`], oldest first.
pub(crate) fn errors() -> Vec<String> {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

pub(crate) fn forget_errors() {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// From here on SPDK's messages go to `tracing` and nowhere else.
pub(crate) fn to_tracing() {
    // SAFETY: `forward` matches the callback type, is callable from any thread, and never unwinds into C: a panic in an
    // `extern "C"` function ends the process.
    unsafe { sys::rigel_log_to(Some(forward)) };
}

unsafe extern "C" fn forward(level: c_int, message: *const c_char) {
    // SAFETY: the shim passes a NUL-terminated buffer that lives until this returns.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    let text = without_secrets(text.trim_end());
    match level {
        ..=0 => {
            tracing::error!(target: "spdk", "{text}");
            remember(text);
        }
        1 => tracing::warn!(target: "spdk", "{text}"),
        2 => tracing::info!(target: "spdk", "{text}"),
        _ => tracing::debug!(target: "spdk", "{text}"),
    }
}

fn remember(text: String) {
    let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    if errors.len() == REMEMBERED {
        errors.pop_front();
    }
    errors.push_back(text);
}

/// The text with the secret of every iSCSI URL (`iscsi://user%secret@host`) replaced.
fn without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("iscsi://") {
        let (before, url) = rest.split_at(at + "iscsi://".len());
        out.push_str(before);
        rest = url;
        let login = url.split('/').next().and_then(|authority| authority.rsplit_once('@')).map(|(login, _)| login);
        if let Some((user, secret)) = login.and_then(|login| login.split_once('%')) {
            out.push_str(user);
            out.push_str("%***");
            rest = &url[user.len() + 1 + secret.len()..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn secrets_of_urls_are_taken_out() {
        for (logged, shown) in [
            (
                "connect provided URL=iscsi://bob%s3cret@10.0.0.1:3260/iqn.x:y/0: no",
                "connect provided URL=iscsi://bob%***@10.0.0.1:3260/iqn.x:y/0: no",
            ),
            ("iscsi://a%p@q@h/t and iscsi://b%r@h/t", "iscsi://a%***@h/t and iscsi://b%***@h/t"),
            ("iscsi://h:3260/iqn/0 100% @ once", "iscsi://h:3260/iqn/0 100% @ once"),
            ("nothing here", "nothing here"),
        ] {
            assert_eq!(without_secrets(logged), shown);
        }
    }
}
