//! Targets that count how often each of their blocks was written, on a clock of their own; some refuse now and then, fail a
//! write, or ask for an interruption.

#![allow(dead_code, reason = "each test uses its own part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rigel::clock::{Clock, ClockError};
use rigel::driver::{Backend, CoreOrder, Driver, DriverError, Full, Io, Sink, Status};
use rigel::engine::RunControl;
use rigel::facts::DeviceFacts;
use rigel::units::Ticks;

/// What a poll moves the clock by.
const STEP: u64 = 10_000;

pub struct CountingBackend {
    pub facts: Vec<DeviceFacts>,
    shared: Arc<Shared>,
}

struct Shared {
    /// By target and block.
    written: Vec<Vec<AtomicU32>>,
    /// Writes sent so far.
    sent: AtomicU64,
    /// At this many an interruption is asked for.
    interrupt_at: AtomicU64,
    /// The one of this number fails.
    fail_at: AtomicU64,
    control: Arc<RunControl>,
}

pub struct CountingDriver<T> {
    shared: Arc<Shared>,
    now: u64,
    ended: Vec<(u32, T, Status)>,
    submissions: u64,
    /// Every so manieth submission finds the queue full.
    refuse_every: u64,
}

impl CountingBackend {
    /// Targets of so many blocks of 512 bytes.
    pub fn new(blocks: &[u64]) -> Self {
        let facts = |(number, &blocks): (usize, &u64)| DeviceFacts {
            uri: format!("counting {number}"),
            driver: "counting".to_owned(),
            model: String::new(),
            serial: String::new(),
            firmware: String::new(),
            identities: vec![format!("C{number}")],
            block_size: 512,
            blocks,
            max_io_bytes: 0,
            max_queue_depth: 0,
            queue_pair_depth: 0,
            volatile: true,
            supports: rigel::facts::Supports::ALL,
        };
        let counters = |&blocks: &u64| (0..blocks).map(|_| AtomicU32::new(0)).collect();
        let shared = Shared {
            written: blocks.iter().map(counters).collect(),
            sent: AtomicU64::new(0),
            interrupt_at: AtomicU64::new(u64::MAX),
            fail_at: AtomicU64::new(u64::MAX),
            control: Arc::default(),
        };
        Self { facts: blocks.iter().enumerate().map(facts).collect(), shared: Arc::new(shared) }
    }

    /// How often each block of a target was written.
    pub fn written(&self, target: usize) -> Vec<u32> {
        self.shared.written[target].iter().map(|count| count.load(Ordering::SeqCst)).collect()
    }

    /// What the driver asks for an interruption by; fresh for each run.
    pub fn control(&self) -> &RunControl {
        self.shared.control.interrupt.store(false, Ordering::SeqCst);
        &self.shared.control
    }

    /// Asks for an interruption once so many more writes are sent.
    pub fn interrupt_after(&self, writes: u64) {
        self.shared.interrupt_at.store(self.shared.sent.load(Ordering::SeqCst) + writes, Ordering::SeqCst);
    }

    /// Lets the write fail that comes after so many more.
    pub fn fail_after(&self, writes: u64) {
        self.shared.fail_at.store(self.shared.sent.load(Ordering::SeqCst) + writes, Ordering::SeqCst);
    }
}

impl Backend for CountingBackend {
    type Core<S: Sink> = CountingDriver<S::Tag>;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.facts.clone()
    }

    fn open<S: Sink>(&self, _order: &CoreOrder) -> Result<CountingDriver<S::Tag>, DriverError> {
        let shared = Arc::clone(&self.shared);
        Ok(CountingDriver { shared, now: 0, ended: Vec::new(), submissions: 0, refuse_every: 7 })
    }

    fn clock(&self) -> Result<Clock, ClockError> {
        Ok(Clock::virtual_ns())
    }

    fn virtual_time(&self) -> bool {
        true
    }
}

impl<S: Sink> Driver<S> for CountingDriver<S::Tag> {
    fn now(&self) -> Ticks {
        Ticks(self.now)
    }

    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        self.submissions += 1;
        if self.submissions % self.refuse_every == 0 {
            return Err(Full);
        }
        assert_eq!(io.op, rigel::driver::Operation::Write, "a fill reads nothing");
        let number = self.shared.sent.fetch_add(1, Ordering::SeqCst);
        if number == self.shared.interrupt_at.load(Ordering::SeqCst) {
            self.shared.control.interrupt.store(true, Ordering::SeqCst);
        }
        if self.shared.control.interrupt.load(Ordering::Relaxed) {
            // The run is to notice while there is something left to do.
            std::thread::sleep(Duration::from_micros(50));
        }
        let fails = number == self.shared.fail_at.load(Ordering::SeqCst);
        if !fails {
            let blocks = &self.shared.written[io.target as usize][io.lba as usize..][..io.blocks as usize];
            for count in blocks {
                count.fetch_add(1, Ordering::SeqCst);
            }
        }
        self.ended.push((io.slot, tag, if fails { Status::Nvme { sct: 0, sc: 6 } } else { Status::Good }));
        Ok(())
    }

    fn poll(&mut self, sink: &mut S) {
        self.now += STEP;
        for (slot, tag, status) in std::mem::take(&mut self.ended) {
            let now = self.now;
            if let Some((io, tag)) = sink.complete(slot, tag, status, || now) {
                let io = Io { slot, ..io };
                if Driver::<S>::submit(self, io, tag).is_err() {
                    sink.refuse(io, tag);
                }
            }
        }
    }
}
