//! An array model on a virtual clock: exact ground truth for the engine and the method.
//!
//! Owns the model's dynamics: reads that hit the cache take their own time and no server; all
//! else (what is no read takes the time of a write) waits, in order of
//! arrival, for one of `servers` internal servers. While the array stalls nothing completes: what would have is moved
//! to the stall's end. Each core drives a model of its own, with its own clock (one tick a nanosecond), which moves
//! only when the core polls: to the next completion, never by waiting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use rand::Rng;
use rand_distr::{Distribution, Exp1, LogNormal, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::{Backend, CoreOrder, Driver, DriverError, Full, Io, Operation, Sink, Status};
use crate::clock::{Clock, ClockError};
use crate::facts::{DeviceFacts, Supports};
use crate::spec::{Dist, SimModel, Uri};
use crate::units::Ticks;

/// How far an idle poll moves the clock, in ticks.
const IDLE_STEP: u64 = 1_000;

/// Simulated arrays, one a target.
#[derive(Debug)]
pub struct SimBackend {
    models: Vec<SimModel>,
    facts: Vec<DeviceFacts>,
}

impl SimBackend {
    /// For targets of the form `sim://…`; other kinds are left out.
    #[must_use]
    pub fn new(uris: &[Uri]) -> Self {
        let models: Vec<_> =
            uris.iter().filter_map(|uri| if let Uri::Sim(model) = uri { Some(model.clone()) } else { None }).collect();
        let facts = models.iter().map(|model| DeviceFacts {
            uri: Uri::Sim(model.clone()).to_string(),
            driver: "sim".to_owned(),
            model: format!("Rigel array model{}", model.preset.as_ref().map(|p| format!(" {p}")).unwrap_or_default()),
            serial: String::new(),
            firmware: String::new(),
            identities: Vec::new(),
            block_size: model.block_size,
            blocks: model.size.0 / u64::from(model.block_size),
            max_io_bytes: 0,
            max_queue_depth: 0,
            queue_pair_depth: 0,
            volatile: true,
            supports: Supports::ALL,
        });
        Self { facts: facts.collect(), models }
    }
}

impl Backend for SimBackend {
    type Core<S: Sink> = SimDriver<S::Tag>;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.facts.clone()
    }

    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<SimDriver<S::Tag>, DriverError> {
        let slots = order.slot_bytes.len();
        let arrays = self.models.iter().enumerate().map(|(target, model)| Array::new(model, order.seed, target));
        Ok(SimDriver {
            now: 0,
            arrays: arrays.collect(),
            due: BinaryHeap::with_capacity(slots),
            sequence: 0,
            expected: u64::MAX,
            tags: vec![S::Tag::default(); slots],
        })
    }

    fn clock(&self) -> Result<Clock, ClockError> {
        Ok(Clock::virtual_ns())
    }

    fn virtual_time(&self) -> bool {
        true
    }
}

/// The simulated data plane of one core.
#[derive(Debug)]
pub struct SimDriver<T> {
    now: u64,
    arrays: Vec<Array>,
    /// Completion tick, order of submission, slot; the earliest on top.
    due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    sequence: u64,
    /// A poll moves the clock no further than to this tick.
    expected: u64,
    /// What each slot's I/O has with it.
    tags: Vec<T>,
}

impl<S: Sink> Driver<S> for SimDriver<S::Tag> {
    fn now(&self) -> Ticks {
        Ticks(self.now)
    }

    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        self.enqueue(io, tag)
    }

    fn expect(&mut self, tick: Ticks) {
        // What was expected by now is late: the clock moves on.
        self.expected = if tick.0 > self.now { tick.0 } else { u64::MAX };
    }

    fn poll(&mut self, sink: &mut S) {
        let idle = if self.expected < u64::MAX { self.expected } else { self.now + IDLE_STEP };
        let next = self.due.peek().map_or(idle, |Reverse((due, ..))| *due);
        self.now = self.now.max(next.min(self.expected));
        while let Some(&Reverse((due, _, slot))) = self.due.peek() {
            if due > self.now {
                break;
            }
            self.due.pop();
            // No service time is zero, so an answer is due later than now.
            let tag = self.tags[slot as usize];
            if let Some((io, tag)) = sink.complete(slot, tag, Status::Good, || self.now) {
                let io = Io { slot, ..io };
                if self.enqueue(io, tag).is_err() {
                    sink.refuse(io, tag);
                }
            }
        }
    }
}

impl<T> SimDriver<T> {
    fn enqueue(&mut self, io: Io, tag: T) -> Result<(), Full> {
        if self.due.len() == self.tags.len() {
            return Err(Full);
        }
        let Some(place) = self.tags.get_mut(io.slot as usize) else { return Err(Full) };
        let Some(array) = self.arrays.get_mut(io.target as usize) else { return Err(Full) };
        *place = tag;
        self.sequence += 1;
        self.due.push(Reverse((array.completion_of(io.op != Operation::Read, self.now), self.sequence, io.slot)));
        Ok(())
    }
}

/// One array of the model.
#[derive(Debug)]
struct Array {
    random: Xoshiro256PlusPlus,
    service: Sampler,
    write_service: Sampler,
    hit_service: Sampler,
    hit_share: f64,
    /// When each server is free again; the earliest on top.
    servers: BinaryHeap<Reverse<u64>>,
    /// Start and end of each stall, rising.
    stalls: Vec<(u64, u64)>,
}

impl Array {
    fn new(model: &SimModel, seed: u64, target: usize) -> Self {
        let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let factor = point_factor(model, seed);
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(model.seed.unwrap_or(seed).wrapping_add(target as u64)),
            service: Sampler::new(&model.service, factor),
            write_service: Sampler::new(&model.write_service, factor),
            hit_service: Sampler::new(&model.hit_service, factor),
            hit_share: model.hit_share,
            servers: (0..model.servers.max(1)).map(|_| Reverse(0)).collect(),
            stalls: model.stalls.iter().map(|&(at, length)| (ns(at), ns(at).saturating_add(ns(length)))).collect(),
        }
    }

    fn completion_of(&mut self, write: bool, now: u64) -> u64 {
        if !write && self.hit_share > 0.0 && self.random.random::<f64>() < self.hit_share {
            let service = self.hit_service.draw(&mut self.random);
            return self.after_stalls(now + service);
        }
        let service = if write { self.write_service } else { self.service };
        let service = service.draw(&mut self.random);
        let free = self.servers.pop().map_or(now, |Reverse(free)| free.max(now));
        let done = self.after_stalls(free + service);
        self.servers.push(Reverse(done));
        done
    }

    fn after_stalls(&self, done: u64) -> u64 {
        self.stalls.iter().find(|(start, end)| (*start..*end).contains(&done)).map_or(done, |(_, end)| *end)
    }
}

/// What a point's service times are multiplied by: log-normal, of median 1, and more where the array is slow.
fn point_factor(model: &SimModel, seed: u64) -> f64 {
    // Not the service times' own generator, or their first value would go with it.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed_0f5b_0ead);
    let usual = (model.spread * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut random)).exp();
    let slow = model.slow.filter(|slow| random.random::<f64>() < slow.share);
    usual * slow.map_or(1.0, |slow| slow.factor)
}

/// A distribution ready to be drawn from, in ticks of a nanosecond.
#[derive(Debug, Clone, Copy)]
enum Sampler {
    Constant(u64),
    Exponential(f64),
    LogNormal(LogNormal<f64>),
    Uniform(u64, u64),
}

impl Sampler {
    fn new(dist: &Dist, factor: f64) -> Self {
        let ns = |duration: Duration| duration.as_nanos() as f64 * factor;
        match *dist {
            Dist::Constant(value) => Self::Constant(ns(value) as u64),
            Dist::Exponential(mean) => Self::Exponential(ns(mean)),
            Dist::LogNormal { mean, sigma } => {
                // The mean of a log-normal is exp(mu + sigma²/2).
                let mu = ns(mean).ln() - sigma * sigma / 2.0;
                LogNormal::new(mu, sigma).map_or(Self::Constant(ns(mean) as u64), Self::LogNormal)
            }
            Dist::Uniform { low, high } => Self::Uniform(ns(low) as u64, ns(high) as u64),
        }
    }

    fn draw(self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let ns = match self {
            Self::Constant(ns) => return ns.max(1),
            Self::Exponential(mean) => mean * <Exp1 as Distribution<f64>>::sample(&Exp1, random),
            Self::LogNormal(dist) => dist.sample(random),
            Self::Uniform(low, high) => return random.random_range(low..=high).max(1),
        };
        (ns.round() as u64).max(1)
    }
}
