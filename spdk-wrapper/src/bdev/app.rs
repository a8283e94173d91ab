//! The bdev subsystem and the SPDK thread it calls home. Owns start (configuration before and after the subsystems
//! are up, as SPDK's own applications do it) and shut-down; opens no device.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use spdk_sys as sys;

use crate::control::{Control, poll_until};

/// Value of a step's outcome before SPDK has called back; no errno is that.
const PENDING: i32 = i32::MIN;
/// Whether the thread library was ever started in this process.
static STARTED: AtomicBool = AtomicBool::new(false);
const STARTUP: u32 = 1;
const RUNTIME: u32 = 2;

/// Why the bdev layer did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayerError {
    /// One of SPDK's calls failed.
    #[error("SPDK's bdev layer did not start: {step} failed ({reason})")]
    Step {
        /// What was being done.
        step: &'static str,
        /// What SPDK said last, or the error's name.
        reason: String,
    },
    /// SPDK did not answer in time.
    #[error("SPDK's bdev layer did not start: {step} took longer than {limit_s} s")]
    TimedOut {
        /// What was being done.
        step: &'static str,
        /// The limit, in seconds.
        limit_s: u64,
    },
    /// It is up already.
    #[error("SPDK's bdev layer was started before, and takes one configuration per process")]
    Twice,
}

/// Proof that the bdev layer is up on this control thread.
#[derive(Debug, Clone)]
pub struct BdevLayer {
    control: Arc<Control>,
}

impl BdevLayer {
    /// Starts the bdev layer with a JSON configuration (`{"subsystems": [...]}`, as SPDK's applications take by `-c`).
    /// Each step, network connections included, has `limit`.
    pub fn start(control: &Arc<Control>, config: String, limit: Duration) -> Result<Self, LayerError> {
        control.run(move |plane| {
            if STARTED.swap(true, Ordering::Relaxed) {
                return Err(LayerError::Twice);
            }
            crate::log::forget_errors();
            let app = AppThread::start()?;
            // Kept whatever follows: a thread that SPDK knows must go on being polled.
            let app = plane.app.insert(app);
            app.configure(&config, limit)
        })?;
        Ok(Self { control: Arc::clone(control) })
    }

    /// The control thread it lives on.
    #[must_use]
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }
}

/// SPDK's application thread, bound to the OS thread that made it.
#[derive(Debug)]
pub(crate) struct AppThread {
    thread: NonNull<sys::spdk_thread>,
}

impl AppThread {
    fn start() -> Result<Self, LayerError> {
        let failed = |step, rc: i32| LayerError::Step { step, reason: errno_words(rc) };
        // SAFETY: the environment is up (this is the control thread), and this is the first call (`STARTED`).
        let rc = unsafe { sys::rigel_thread_lib_init() };
        if rc != 0 {
            return Err(failed("starting the thread library", rc));
        }
        // SAFETY: the thread library is up; a null mask means any core. The first thread becomes the app thread.
        let thread = unsafe { sys::spdk_thread_create(c"rigel-control".as_ptr(), std::ptr::null()) };
        let thread = NonNull::new(thread).ok_or_else(|| failed("creating the control thread", -libc::ENOMEM))?;
        // SAFETY: binds it to the calling OS thread, which has no other SPDK thread.
        unsafe { sys::spdk_set_thread(thread.as_ptr()) };
        Ok(Self { thread })
    }

    fn configure(&mut self, config: &str, limit: Duration) -> Result<(), LayerError> {
        self.load(config, STARTUP, "the start-up part of the configuration", limit)?;
        self.step("starting the subsystems", limit, |done, outcome| {
            // SAFETY: called on the app thread; the outcome lives until the callback (see `step`).
            unsafe { sys::spdk_subsystem_init(done, outcome) }
        })?;
        self.load(config, RUNTIME, "the configuration", limit)
    }

    fn load(&mut self, config: &str, state: u32, step: &'static str, limit: Duration) -> Result<(), LayerError> {
        // SAFETY: sets one variable, on the app thread.
        unsafe { sys::spdk_rpc_set_state(state) };
        let mut text = config.as_bytes().to_vec();
        self.step(step, limit, |done, outcome| {
            // SAFETY: on the app thread; SPDK copies the text before it returns.
            unsafe {
                sys::spdk_subsystem_load_config(text.as_mut_ptr().cast(), text.len() as isize, done, outcome, true)
            }
        })
    }

    /// Starts one asynchronous step and polls until SPDK has called back.
    fn step(
        &mut self,
        step: &'static str,
        limit: Duration,
        start: impl FnOnce(sys::spdk_subsystem_init_fn, *mut c_void),
    ) -> Result<(), LayerError> {
        // Given to SPDK as a counted reference, which the callback takes back: a step that outlives the limit may
        // still call.
        let outcome = Arc::new(AtomicI32::new(PENDING));
        start(Some(finished), Arc::into_raw(Arc::clone(&outcome)).cast_mut().cast());
        let rc = poll_until(limit, || {
            self.poll();
            Some(outcome.load(Ordering::Acquire)).filter(|&rc| rc != PENDING)
        });
        match rc {
            Some(0) => Ok(()),
            Some(rc) => {
                // The first says what went wrong, the later ones where it was noticed.
                let reason = crate::log::errors().first().map_or_else(|| errno_words(rc), |text| message_of(text));
                Err(LayerError::Step { step, reason })
            }
            None => Err(LayerError::TimedOut { step, limit_s: limit.as_secs() }),
        }
    }

    /// Runs SPDK's messages and pollers until there is nothing to do.
    pub(crate) fn poll(&mut self) {
        for _ in 0..64 {
            // SAFETY: the thread is bound to this OS thread (`AppThread` never leaves the control thread's plane).
            if unsafe { sys::spdk_thread_poll(self.thread.as_ptr(), 0, 0) } == 0 {
                break;
            }
        }
    }

    /// Ends the subsystems in order (an iSCSI session logs out here), within `limit`.
    pub(crate) fn shut_down(mut self, limit: Duration) {
        let outcome = Arc::new(AtomicI32::new(PENDING));
        // SAFETY: on the app thread; the counted reference is taken back by the callback, late or never.
        unsafe { sys::spdk_subsystem_fini(Some(ended), Arc::into_raw(Arc::clone(&outcome)).cast_mut().cast()) };
        let done = poll_until(limit, || {
            self.poll();
            Some(outcome.load(Ordering::Acquire)).filter(|&rc| rc != PENDING)
        });
        if done.is_none() {
            tracing::warn!("SPDK's subsystems did not end within {limit:?}; the process ends without them");
        }
    }
}

unsafe extern "C" fn finished(rc: c_int, outcome: *mut c_void) {
    // SAFETY: the counted reference given away in `step`, taken back exactly once, here.
    let outcome = unsafe { Arc::from_raw(outcome.cast_const().cast::<AtomicI32>()) };
    outcome.store(rc, Ordering::Release);
}

unsafe extern "C" fn ended(outcome: *mut c_void) {
    // SAFETY: the counted reference given away in `shut_down`, taken back exactly once, here.
    let outcome = unsafe { Arc::from_raw(outcome.cast_const().cast::<AtomicI32>()) };
    outcome.store(0, Ordering::Release);
}

/// The message within the JSON-RPC error that SPDK logs, or the whole on one line.
fn message_of(logged: &str) -> String {
    let within = logged.split_once("\"message\": \"").and_then(|(_, rest)| rest.split_once('"'));
    within.map_or_else(|| logged.split_whitespace().collect::<Vec<_>>().join(" "), |(message, _)| message.to_owned())
}

pub(super) fn errno_words(rc: i32) -> String {
    std::io::Error::from_raw_os_error(rc.abs()).to_string()
}
