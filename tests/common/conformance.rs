//! What every driver must do (`driver::Driver`), as functions over any backend. Each test file of a driver runs them all.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rigel::driver::{Backend, CoreOrder, Driver, Io, Operation, Sink, Status};

/// How long any single expectation may take.
const LIMIT: Duration = Duration::from_secs(10);

/// An order for `slots` slots of `blocks` each, all on target 0, reading only.
pub fn order<B: Backend>(backend: &B, slots: u32, blocks: u32) -> CoreOrder {
    let facts = backend.facts();
    let bytes = blocks * facts[0].block_size;
    let mut depths = vec![0; facts.len()];
    depths[0] = slots;
    CoreOrder {
        core: 0,
        slot_bytes: vec![bytes; slots as usize],
        lanes: vec![(slots, vec![0])],
        depths,
        writes: vec![false; facts.len()],
        flushes: vec![false; facts.len()],
        destroy: Vec::new(),
        outgoing: Vec::new(),
        seed: 1,
    }
}

/// Counts what comes back, and answers until `left` answers were given.
#[derive(Debug, Default)]
pub struct Counter {
    pub ended: u64,
    pub by_slot: HashMap<u32, u64>,
    pub statuses: HashMap<Status, u64>,
    pub refused: Vec<Io>,
    pub ticks: Vec<u64>,
    left: u64,
    blocks: u32,
    op: Option<Operation>,
    /// Slots that are with the driver; a completion of another one is a fault.
    outstanding: Vec<u32>,
    /// What went with each.
    tags: HashMap<u32, (u32, u64)>,
    sent: u64,
}

impl Sink for Counter {
    /// Slot and a number that no other I/O has.
    type Tag = (u32, u64);

    fn complete(
        &mut self,
        slot: u32,
        tag: Self::Tag,
        status: Status,
        now: impl FnOnce() -> u64,
    ) -> Option<(Io, Self::Tag)> {
        assert_eq!(self.tags.remove(&slot), Some(tag), "an I/O's tag comes back with it");
        let place = self.outstanding.iter().position(|&s| s == slot).expect("only outstanding slots complete");
        self.outstanding.swap_remove(place);
        self.ended += 1;
        self.ticks.push(now());
        *self.by_slot.entry(slot).or_default() += 1;
        *self.statuses.entry(status).or_default() += 1;
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        self.outstanding.push(slot);
        // The slot named here does not matter.
        Some((Io { slot: 0, ..self.io(slot, u64::from(slot)) }, self.tag(slot)))
    }

    fn refuse(&mut self, io: Io, _tag: Self::Tag) {
        self.outstanding.retain(|&slot| slot != io.slot);
        self.refused.push(io);
    }
}

impl Counter {
    pub fn new(answers: u64, blocks: u32, op: Operation) -> Self {
        Self { left: answers, blocks, op: Some(op), ..Self::default() }
    }

    fn tag(&mut self, slot: u32) -> (u32, u64) {
        self.sent += 1;
        self.tags.insert(slot, (slot, self.sent));
        (slot, self.sent)
    }

    fn io(&self, slot: u32, lba: u64) -> Io {
        Io { slot, target: 0, op: self.op.expect("made by `new`"), lba, blocks: self.blocks }
    }

    /// Sends `slots` I/Os from `lba` on, and polls until nothing is outstanding.
    pub fn drive<D: Driver<Self>>(&mut self, driver: &mut D, slots: u32, lba: u64) {
        for slot in 0..slots {
            self.outstanding.push(slot);
            let tag = self.tag(slot);
            driver.submit(self.io(slot, lba), tag).expect("an idle slot within the order's depth finds room");
        }
        let end = Instant::now() + LIMIT;
        while !self.outstanding.is_empty() {
            driver.poll(self);
            assert!(Instant::now() < end, "{} I/Os never ended", self.outstanding.len());
        }
    }
}

/// Every I/O ends exactly once and well, on each slot; answers are sent and end too.
pub fn every_io_ends_once<B: Backend>(backend: &B, blocks: u32) {
    let mut driver = backend.open::<Counter>(&order(backend, 16, blocks)).expect("opens");
    let mut counter = Counter::new(50_000, blocks, Operation::Read);
    counter.drive(&mut driver, 16, 0);
    assert_eq!(counter.ended, 50_016);
    assert_eq!(counter.statuses, HashMap::from([(Status::Good, 50_016)]));
    assert_eq!(counter.by_slot.len(), 16);
    assert!(counter.refused.is_empty(), "a slot's answer finds the room it has just left");
    assert!(counter.ticks.is_sorted(), "ticks never go back");
    // Nothing comes after the end.
    for _ in 0..1_000 {
        driver.poll(&mut counter);
    }
    assert_eq!(counter.ended, 50_016);
}

/// One slot alone, and a driver that is opened again, work as well.
pub fn a_single_slot_works_again_and_again<B: Backend>(backend: &B, blocks: u32) {
    for _ in 0..3 {
        let mut driver = backend.open::<Counter>(&order(backend, 1, blocks)).expect("opens");
        let mut counter = Counter::new(99, blocks, Operation::Read);
        counter.drive(&mut driver, 1, 0);
        assert_eq!(counter.ended, 100);
    }
}

/// A driver may be dropped with I/Os outstanding, and the target still serves the next one.
pub fn dropping_with_io_outstanding_is_safe<B: Backend>(backend: &B, blocks: u32) {
    for _ in 0..3 {
        let mut driver = backend.open::<Counter>(&order(backend, 8, blocks)).expect("opens");
        for slot in 0..8 {
            driver.submit(Io { slot, target: 0, op: Operation::Read, lba: 0, blocks }, (slot, 0)).expect("room");
        }
        drop(driver);
    }
    every_io_ends_once(backend, blocks);
}

/// A read beyond the last block ends with an error in words.
pub fn an_address_beyond_the_end_is_an_error<B: Backend>(backend: &B, blocks: u32) {
    let end = backend.facts()[0].blocks;
    let mut driver = backend.open::<Counter>(&order(backend, 1, blocks)).expect("opens");
    let mut counter = Counter::new(0, blocks, Operation::Read);
    counter.drive(&mut driver, 1, end);
    let (status, _) = counter.statuses.iter().next().expect("it ended");
    assert!(!status.is_good() && status.to_string().contains(" / "), "{status}");
}

/// An order that reads gets no write through, whatever is submitted; nor anything else that destroys.
pub fn a_write_on_a_reading_order_is_refused<B: Backend>(backend: &B, blocks: u32) {
    for op in [Operation::Write, Operation::Trim, Operation::WriteZeroes] {
        let mut driver = backend.open::<Counter>(&order(backend, 2, blocks)).expect("opens");
        let mut counter = Counter::new(2, blocks, op);
        counter.drive(&mut driver, 2, 0);
        assert_eq!(counter.statuses, HashMap::from([(Status::WriteRefused, 4)]), "{op:?}");
    }
}

/// What else a target supports ends once and well, as a read does; a flush on an order that writes nothing too.
pub fn other_operations_end_once<B: Backend>(backend: &B, blocks: u32, destroy: &[&str]) {
    let supports = backend.facts()[0].supports;
    let ops = [
        (Operation::Trim, supports.trim),
        (Operation::WriteZeroes, supports.write_zeroes),
        (Operation::Flush, supports.flush),
    ];
    for (op, _) in ops.into_iter().filter(|(_, supported)| *supported) {
        let mut order = order(backend, 4, blocks);
        order.writes[0] = op.destroys();
        order.flushes[0] = op == Operation::Flush;
        order.destroy = destroy.iter().map(ToString::to_string).collect();
        let mut driver = backend.open::<Counter>(&order).expect("opens");
        let mut counter = Counter::new(396, blocks, op);
        counter.drive(&mut driver, 4, 0);
        assert_eq!(counter.statuses, HashMap::from([(Status::Good, 400)]), "{op:?}");
        assert_eq!((counter.ended, counter.by_slot.len(), counter.refused.len()), (400, 4, 0), "{op:?}");
    }
}

/// An I/O that does not fit its slot's buffer, or goes to no target, ends with an error; nothing is sent.
pub fn impossible_io_ends_with_an_error<B: Backend>(backend: &B, blocks: u32) {
    let mut driver = backend.open::<Counter>(&order(backend, 1, blocks)).expect("opens");
    let mut counter = Counter::new(0, blocks + 1, Operation::Read);
    counter.drive(&mut driver, 1, 0);
    assert_eq!(counter.statuses, HashMap::from([(Status::BadLength, 1)]));
    let tag = counter.tag(0);
    driver.submit(Io { slot: 0, target: 7, op: Operation::Read, lba: 0, blocks }, tag).expect("ends at the next poll");
    counter.outstanding.push(0);
    driver.poll(&mut counter);
    assert_eq!(counter.statuses.get(&Status::TargetLost), Some(&1));
}
