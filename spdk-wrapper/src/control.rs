//! The control thread: the one on which SPDK is started, controllers are attached and bdevs opened, and which keeps
//! them alive (admin completions, keep-alive, SPDK's own messages) while workers do the I/O.
//!
//! Owns the environment's thread and its loop; knows no data path.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::bdev::AppThread;
use crate::env::{Env, EnvError, EnvOptions};
use crate::nvme::Controller;

/// How often the control thread looks after its charges when nobody calls: far below any keep-alive time, and seldom
/// enough not to be felt where it has to share a core.
const TENDING: Duration = Duration::from_millis(20);

/// Held while SPDK is called on a control thread. The end of the process takes it for good: DPDK takes its memory down then,
/// and a control thread that still lives, since I/Os that never came back keep its handle, must not touch it any more.
static AT_WORK: Mutex<()> = Mutex::new(());

/// How long the end of the process waits for a control thread to come out of SPDK.
const PATIENCE: Duration = Duration::from_secs(2);

type Job = Box<dyn FnOnce(&mut Plane) + Send>;

/// A handle on the control thread. Dropping the last one ends the thread after it has put its charges away.
#[derive(Debug)]
pub struct Control {
    env: Env,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// What lives on the control thread.
#[derive(Debug, Default)]
pub(crate) struct Plane {
    pub(crate) app: Option<AppThread>,
    pub(crate) watched: Vec<Weak<Controller>>,
}

impl Control {
    /// Starts the thread, and on it the environment.
    pub fn start(options: EnvOptions) -> Result<Arc<Self>, EnvError> {
        let (jobs, inbox) = channel::<Job>();
        let (ready, started) = channel();
        // Before DPDK's own, which runs as a destructor: those come after what was registered with `atexit`.
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            // SAFETY: the function is callable at any time, from the thread that ends the process.
            let _ = unsafe { libc::atexit(stop_work) };
        });
        let body = move || {
            let env = Env::start(options);
            let up = env.is_ok();
            if ready.send(env).is_ok() && up {
                Plane::default().serve(&inbox);
            }
        };
        let thread = std::thread::Builder::new()
            .name("rigel-control".to_owned())
            .spawn(body)
            .map_err(|e| EnvError::Init(e.to_string()))?;
        let gone = || EnvError::Init("the control thread ended".to_owned());
        let env = started.recv().map_err(|_| gone())??;
        Ok(Arc::new(Self { env, jobs: Some(jobs), thread: Some(thread) }))
    }

    /// The token of the running environment.
    #[must_use]
    pub fn env(&self) -> Env {
        self.env
    }

    /// Runs `job` on the control thread and waits for its answer.
    pub(crate) fn run<T: Send + 'static>(&self, job: impl FnOnce(&mut Plane) -> T + Send + 'static) -> T {
        let (answer, answered) = channel();
        let job: Job = Box::new(move |plane| {
            let _ = answer.send(job(plane));
        });
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        match answered.recv() {
            Ok(answer) if sent => answer,
            _ => panic!("the control thread is gone; it ends only with its handle, or by a panic reported above"),
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Plane {
    fn serve(mut self, inbox: &Receiver<Job>) {
        loop {
            let next = inbox.recv_timeout(TENDING);
            let _at_work = at_work();
            match next {
                Ok(job) => job(&mut self),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.tend();
        }
        let _at_work = at_work();
        if let Some(app) = self.app.take() {
            app.shut_down(Duration::from_secs(3));
        }
    }

    fn tend(&mut self) {
        if let Some(app) = &mut self.app {
            app.poll();
        }
        self.watched.retain(|controller| {
            controller.upgrade().is_some_and(|c| {
                c.tend();
                true
            })
        });
    }
}

fn at_work() -> MutexGuard<'static, ()> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps every control thread out of SPDK from now on; gives up where one does not come out of it.
extern "C" fn stop_work() {
    let taken = poll_until(PATIENCE, || match AT_WORK.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    std::mem::forget(taken);
}

/// Calls `step` until it answers, at most `limit`.
pub(crate) fn poll_until<T>(limit: Duration, mut step: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(answer) = step() {
            return Some(answer);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::yield_now();
    }
}
