//! The gate at which cores wait for the next point, and the tick at which they start together once all are through it.
//! Owns nothing but that; nobody is at either while I/O goes on.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::units::Ticks;

/// Opened by the caller's thread, point by point, then closed.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The point that may run.
    open: Option<usize>,
    closed: bool,
}

impl Gate {
    /// Lets every core into `point`.
    pub(super) fn open(&self, point: usize) {
        self.lock().open = Some(point);
        self.changed.notify_all();
    }

    /// Sends every core home.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits until `point` may run; false when there will be no such point.
    pub(super) fn wait(&self, point: usize) -> bool {
        let mut state = self.lock();
        loop {
            match state.open {
                Some(open) if open == point => return true,
                _ if state.closed => return false,
                _ => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits until nothing runs any more.
    pub(super) fn wait_closed(&self) {
        let mut state = self.lock();
        while !state.closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When the cores start. The last one that is through the gate, and so is running, says it, and the others wait for that
/// at work: whoever was late to wake up delays the point, and not only its own part of it.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// Cores that have come, over all points.
    here: AtomicUsize,
    /// The tick of the latest point.
    tick: AtomicU64,
}

impl Start {
    /// The tick at which the `cores` cores start `point`, `lead` after the last one has come; none when `give_up` says
    /// that one will not come.
    pub(super) fn agree(&self, point: usize, cores: usize, lead: Ticks, give_up: impl Fn() -> bool) -> Option<Ticks> {
        let before = self.tick.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == cores * (point + 1) {
            let start = crate::clock::now().plus(lead);
            self.tick.store(start.0, Ordering::Release);
            return Some(start);
        }
        loop {
            match self.tick.load(Ordering::Acquire) {
                tick if tick != before => return Some(Ticks(tick)),
                _ if give_up() => return None,
                _ => std::hint::spin_loop(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cores_start_each_point_together_after_the_last_one_has_come() {
        let start = Start::default();
        for point in 0..3 {
            let (came, ticks): (Vec<_>, Vec<_>) = std::thread::scope(|scope| {
                let core = |late: u64| {
                    let start = &start;
                    scope.spawn(move || {
                        std::thread::sleep(std::time::Duration::from_millis(late));
                        (crate::clock::now(), start.agree(point, 3, Ticks(1_000), || false).unwrap())
                    })
                };
                let cores = [0, 20, 5].map(core);
                cores.map(|core| core.join().unwrap()).into_iter().unzip()
            });
            assert!(ticks.windows(2).all(|pair| pair[0] == pair[1]));
            assert!(came.iter().all(|came| *came < ticks[0]));
        }
        assert_eq!(start.agree(3, 3, Ticks(1), || true), None);
    }
}
