//! A target that is memory of the test, so that what was written there can be looked at. Writes are sent from the same kind
//! of buffers as those of the other drivers; everything completes at the next poll.

#![allow(dead_code, reason = "each test uses its own part")]

use std::sync::{Arc, Mutex};

use rigel::clock;
use rigel::driver::{Backend, CoreOrder, Driver, DriverError, Full, Io, Operation, Outgoing, Sink, Status, outgoing};
use rigel::facts::DeviceFacts;
use rigel::plan::Plan;
use rigel::units::Ticks;

/// LBA size of every target.
pub const LBA_BYTES: u32 = 512;

/// Targets of the same size.
pub struct MemoryBackend {
    targets: Arc<Vec<Mutex<Vec<u8>>>>,
}

pub struct MemoryDriver<T> {
    targets: Arc<Vec<Mutex<Vec<u8>>>>,
    outgoing: Outgoing<Box<[u8]>>,
    ended: Vec<(u32, T)>,
}

impl MemoryBackend {
    pub fn new(targets: usize, bytes: usize) -> Self {
        Self { targets: Arc::new((0..targets).map(|_| Mutex::new(vec![0; bytes])).collect()) }
    }

    /// What the targets hold, one after the other.
    pub fn held(&self) -> Vec<u8> {
        self.targets.iter().flat_map(|target| target.lock().unwrap().clone()).collect()
    }
}

impl Backend for MemoryBackend {
    type Core<S: Sink> = MemoryDriver<S::Tag>;

    fn facts(&self) -> Vec<DeviceFacts> {
        let facts = |(number, target): (usize, &Mutex<Vec<u8>>)| DeviceFacts {
            uri: format!("memory {number}"),
            driver: "memory".to_owned(),
            model: String::new(),
            serial: String::new(),
            firmware: String::new(),
            identities: Vec::new(),
            block_size: LBA_BYTES,
            blocks: target.lock().unwrap().len() as u64 / u64::from(LBA_BYTES),
            max_io_bytes: 0,
            max_queue_depth: 0,
            queue_pair_depth: 0,
            volatile: true,
            supports: rigel::facts::Supports::ALL,
        };
        self.targets.iter().enumerate().map(facts).collect()
    }

    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<MemoryDriver<S::Tag>, DriverError> {
        let buffer = |bytes: u32| Ok::<_, DriverError>(vec![0; bytes as usize].into_boxed_slice());
        Ok(MemoryDriver { targets: Arc::clone(&self.targets), outgoing: outgoing(order, buffer)?, ended: Vec::new() })
    }
}

impl<S: Sink> Driver<S> for MemoryDriver<S::Tag> {
    fn now(&self) -> Ticks {
        clock::now()
    }

    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        if io.op == Operation::Write {
            let (from, len) = (io.lba as usize * LBA_BYTES as usize, io.blocks as usize * LBA_BYTES as usize);
            let sent = self.outgoing.prepare(&io, len as u64).expect("a buffer");
            self.targets[io.target as usize].lock().unwrap()[from..from + len].copy_from_slice(&sent[..len]);
        }
        self.ended.push((io.slot, tag));
        Ok(())
    }

    fn poll(&mut self, sink: &mut S) {
        for (slot, tag) in std::mem::take(&mut self.ended) {
            if let Some((io, tag)) = sink.complete(slot, tag, Status::Good, || clock::now().0) {
                let _ = Driver::<S>::submit(self, Io { slot, ..io }, tag);
            }
        }
    }
}

/// Writes all regions of a plan of one workload once in order, and then as often again at random, from its first core, all
/// slots in turn.
pub fn write_everything<B: Backend>(backend: &B, plan: &Plan) {
    let workload = &plan.workloads[0];
    let order = CoreOrder::of(plan, &plan.cores[0], 0);
    let mut driver = backend.open::<Ends>(&order).expect("opens");
    let mut ends = Ends::default();
    let mut places = Vec::new();
    for (&target, region) in workload.targets.iter().zip(&workload.regions) {
        let blocks = workload.block_size.0 / u64::from(plan.lba_bytes[target]);
        let lbas = (0..region.blocks / blocks).map(|io| region.first_block + io * blocks);
        places.extend(lbas.map(|lba| (target as u32, lba, blocks as u32)));
    }
    // A full period of a linear congruence would be a permutation; overwrites at random leave some out and hit others twice.
    let mut state = 1u64;
    let scattered: Vec<_> = places
        .iter()
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            places[(state >> 33) as usize % places.len()]
        })
        .collect();
    // A lane a target: its slots send to no other.
    let mut first = 0;
    let slots: Vec<_> = order
        .lanes
        .iter()
        .map(|(count, targets)| {
            first += count;
            (targets.clone(), first - count, *count)
        })
        .collect();
    for (number, (target, lba, blocks)) in (0u32..).zip(places.into_iter().chain(scattered)) {
        let of = |(targets, ..): &&(Vec<usize>, u32, u32)| targets.contains(&(target as usize));
        let (_, first, count) = slots.iter().find(of).expect("a lane");
        let io = Io { slot: first + number % count, target, op: Operation::Write, lba, blocks };
        driver.submit(io, ()).expect("room");
        ends.outstanding += 1;
        while ends.outstanding > 0 {
            driver.poll(&mut ends);
        }
    }
}

/// Counts the end of each I/O.
#[derive(Default)]
struct Ends {
    outstanding: u32,
}

impl Sink for Ends {
    type Tag = ();

    fn complete(&mut self, _: u32, (): (), status: Status, _: impl FnOnce() -> u64) -> Option<(Io, ())> {
        assert!(status.is_good(), "{status}");
        self.outstanding -= 1;
        None
    }

    fn refuse(&mut self, _: Io, (): ()) {}
}
