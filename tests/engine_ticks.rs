//! The error of shared readings of the clock (docs/method.md, "Ticks"), against a witness that reads the clock for every
//! single completion.

#[path = "common/runs.rs"]
mod runs;

use std::sync::Mutex;

use rigel::clock;
use rigel::driver::{Backend, CoreOrder, Driver, DriverError, Full, Io, NullBackend, Sink, Status};
use rigel::facts::DeviceFacts;
use rigel::stats::TickHistogram;
use rigel::units::Ticks;

/// The bound that the engine promises, in nanoseconds.
const TICK_ERROR_NS: f64 = 250.0;

/// A null device that measures each slot's latency itself.
#[derive(Debug)]
struct WitnessBackend {
    null: NullBackend,
    seen: Mutex<TickHistogram>,
}

struct Witness<'b, T> {
    slots: Vec<(u32, T)>,
    since: Vec<u64>,
    histogram: TickHistogram,
    backend: &'b WitnessBackend,
}

impl Backend for &'static WitnessBackend {
    type Core<S: Sink> = Witness<'static, S::Tag>;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.null.facts()
    }

    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<Witness<'static, S::Tag>, DriverError> {
        let slots = order.slot_bytes.len();
        Ok(Witness {
            slots: Vec::with_capacity(slots),
            since: vec![0; slots],
            histogram: TickHistogram::new(),
            backend: self,
        })
    }
}

impl<S: Sink> Driver<S> for Witness<'_, S::Tag> {
    fn now(&self) -> Ticks {
        clock::now()
    }

    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        self.slots.push((io.slot, tag));
        self.since[io.slot as usize] = clock::now().0;
        Ok(())
    }

    fn poll(&mut self, sink: &mut S) {
        for index in 0..self.slots.len() {
            let (slot, tag) = self.slots[index];
            let now = clock::now().0;
            match sink.complete(slot, tag, Status::Good, || now) {
                Some((_, tag)) => {
                    self.slots[index] = (slot, tag);
                    self.histogram.record(now - self.since[slot as usize]);
                    self.since[slot as usize] = now;
                }
                None => self.slots[index].0 = u32::MAX,
            }
        }
        self.slots.retain(|&(slot, _)| slot != u32::MAX);
    }
}

impl<T> Drop for Witness<'_, T> {
    fn drop(&mut self) {
        self.backend.seen.lock().expect("one writer").merge(&self.histogram);
    }
}

#[test]
fn shared_ticks_stay_within_their_bound() {
    let null = NullBackend::new(&["null://1g".parse().expect("a URI")]);
    let backend: &'static WitnessBackend = Box::leak(Box::new(WitnessBackend { null, seen: Mutex::default() }));
    let job = "[[target]]\nuri = \"null://1g\"\n[run]\nramp = \"0s\"\ntime = \"900ms\"\ninterval = \"100ms\"\n";
    let points = runs::figures(&backend, job);
    let clock = backend.null.clock().expect("a clock");
    let (engine, witness) = (&points[0].cells[0].service, backend.seen.lock().expect("written"));
    assert!(engine.count() > 100_000, "{} I/Os", engine.count());
    for quantile in [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] {
        let ns = |histogram: &TickHistogram| clock.ns(histogram.quantile_ticks(quantile).expect("filled") as f64);
        let (measured, truth) = (ns(engine), ns(&witness));
        // The same I/Os in both; each histogram rounds by up to 1/1,024.
        let bound = TICK_ERROR_NS + truth * 0.002;
        assert!((measured - truth).abs() <= bound, "quantile {quantile}: {measured} ns, in truth {truth} ns");
    }
    let shared = points[0].cores[0].completions_per_tick;
    assert!((1..=8).contains(&shared), "{shared}");
}
