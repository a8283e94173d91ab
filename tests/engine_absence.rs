//! What an open loop makes of a core that was away: the arrivals of that time are late, not lost, and nobody is blamed.

#[path = "common/runs.rs"]
mod runs;

use std::time::{Duration, Instant};

use rigel::driver::{Backend, CoreOrder, Driver, DriverError, Full, Io, NullBackend, NullDriver, Sink};
use rigel::facts::DeviceFacts;
use rigel::units::Ticks;

/// How long after its begin a core goes away, and for how long.
const WHEN: Duration = Duration::from_millis(200);
const AWAY: Duration = Duration::from_millis(2_200);

/// A null device, one of whose polls takes very long.
#[derive(Debug)]
struct Sleepy(NullBackend);

struct SleepyDriver<T> {
    null: NullDriver<T>,
    sleeps_at: Option<Instant>,
}

impl Backend for Sleepy {
    type Core<S: Sink> = SleepyDriver<S::Tag>;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.0.facts()
    }

    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<SleepyDriver<S::Tag>, DriverError> {
        Ok(SleepyDriver { null: self.0.open::<S>(order)?, sleeps_at: Some(Instant::now() + WHEN) })
    }
}

impl<S: Sink> Driver<S> for SleepyDriver<S::Tag> {
    fn now(&self) -> Ticks {
        <NullDriver<S::Tag> as Driver<S>>::now(&self.null)
    }

    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        <NullDriver<S::Tag> as Driver<S>>::submit(&mut self.null, io, tag)
    }

    fn poll(&mut self, sink: &mut S) {
        if self.sleeps_at.is_some_and(|at| Instant::now() >= at) {
            self.sleeps_at = None;
            std::thread::sleep(AWAY);
        }
        self.null.poll(sink);
    }
}

#[test]
fn a_core_that_was_away_over_edges_and_the_ramps_end_is_no_overload() {
    let backend = Sleepy(NullBackend::new(&["null://1g".parse().expect("a URI")]));
    // More than a second's arrivals wait at the ramp's end already, and more at the next edge.
    let job = "[[target]]\nuri = \"null://1g\"\n[[workload]]\nrate = 1000\n\
               [run]\nramp = \"1500ms\"\ntime = \"2s\"\ninterval = \"100ms\"\n";
    let points = runs::figures(&backend, job);
    let point = &points[0];
    assert_eq!((&point.ended_early, point.overloaded), (&None, false));
    let clock = backend.clock().expect("a clock");
    let response = point.cells[0].response.as_ref().expect("an open loop");
    let slowest_ns = clock.ns(response.max_ticks().expect("filled") as f64);
    assert!(slowest_ns >= 2e9, "who came as the core went waited for all of it: {slowest_ns} ns");
    let offered = point.arrivals[0].as_ref().expect("an open loop").offered;
    // Four standard deviations of a Poisson number of 2,000 are 179.
    assert!((1_800..=2_200).contains(&offered), "{offered} arrivals in 2 s, noticed or not");
}
