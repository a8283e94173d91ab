//! The gate at which cores wait for the next point. Owns nothing but that; nobody is at it while I/O goes on.

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
    /// The point that may run, and the tick at which it starts on all cores.
    open: Option<(usize, Ticks)>,
    closed: bool,
}

impl Gate {
    /// Lets every core into `point`.
    pub(super) fn open(&self, point: usize, start: Ticks) {
        self.lock().open = Some((point, start));
        self.changed.notify_all();
    }

    /// Sends every core home.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits until `point` may run, and returns when it starts; none when there will be no such point.
    pub(super) fn wait(&self, point: usize) -> Option<Ticks> {
        let mut state = self.lock();
        loop {
            match state.open {
                Some((open, start)) if open == point => return Some(start),
                _ if state.closed => return None,
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
