//! Made-up but consistent figures: loops played through on paper, with a seeded latency for every I/O.
//!
//! Owns the made-up plans, devices and runs that the tests and benchmarks of results and reports share.

#![allow(dead_code, reason = "each test and benchmark uses its own part")]

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rigel::clock::Clock;
use rigel::engine::record::{
    ArrivalFigures, CellFigures, CoreFigures, ErrorCount, Leftover, PointFigures, Round, RoundCell,
};
use rigel::facts::{DeviceFacts, HostFacts};
use rigel::plan::{
    Access, Arrivals, CorePlan, Lane, LaneArrivals, Load, Op, OpenLoad, Overload, Plan, PointPlan, Region, WorkloadPlan,
};
use rigel::result::{
    ClockResult, CoreUse, Facts, Headroom, HostUse, PointResult, Provenance, RunResult, SiblingUse, Tool, WorkerUse,
    point,
};
use rigel::stats::{ROUNDS, TickHistogram};
use rigel::units::{Bytes, Ticks};

/// Ramp of every point, in nanoseconds.
const RAMP_NS: u64 = 20_000_000;

/// A plan of one workload on `targets` targets, driven by two cores; both cores share each target.
pub fn plan(targets: usize, read_percent: f64, depths: &[u32], time: Duration) -> Plan {
    let uri = |n| format!("sim://array-{n}");
    let core = |core: usize| CorePlan {
        core,
        lanes: (0..targets)
            .map(|position| Lane {
                workload: 0,
                targets: vec![position],
                part: (core as u32 - 1, 2),
                depths: depths.iter().map(|depth| depth / 2 + (depth % 2) * (core as u32 % 2)).collect(),
                arrivals: None,
                budget: None,
            })
            .collect(),
    };
    Plan {
        seed: 42,
        ramp: Duration::from_nanos(RAMP_NS),
        time,
        interval: Duration::from_millis(100),
        targets: (0..targets).map(uri).collect(),
        lba_bytes: vec![512; targets],
        workloads: vec![WorkloadPlan {
            name: "oltp".to_owned(),
            targets: (0..targets).collect(),
            block_size: Bytes(8192),
            sizes: None,
            align: None,
            read_percent,
            mix: None,
            access: Access::Random,
            start_percent: 0.0,
            volume: None,
            think_time: None,
            regions: vec![Region { first_block: 0, blocks: 1 << 21 }; targets],
            payload: None,
        }],
        cores: vec![core(1), core(2)],
        points: depths.iter().map(|&depth| PointPlan { loads: vec![Load::QueueDepth(depth)] }).collect(),
        overload: Overload::Stop,
        destroy: Vec::new(),
    }
}

/// Plays point `point` of `plan` through: each slot submits as soon as its former I/O completes.
pub fn drive(plan: &Plan, point: usize) -> PointFigures {
    let window_ns = plan.time.as_nanos() as u64;
    let t1 = RAMP_NS + window_ns;
    let mut played = Played::new(plan);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed + point as u64);
    let lanes = plan.cores.iter().flat_map(|core| &core.lanes);
    for lane in lanes.flat_map(|lane| std::iter::repeat_n(lane, lane.depths[point] as usize)) {
        let mut now = rng.random_range(0..100_000);
        while now < t1 {
            let read = rng.random_range(0.0..100.0) < plan.workloads[lane.workload].read_percent;
            let op = if read { Op::Read } else { Op::Write };
            let slow = rng.random_range(0..1000) == 0;
            let latency = if read { rng.random_range(90_000..160_000) } else { rng.random_range(45_000..80_000) };
            let latency = if slow { latency * 20 } else { latency };
            now += latency;
            played.complete(plan.cell(lane.workload, lane.targets[0], op), now, latency, None);
        }
    }
    played.figures(plan, point)
}

/// The completions of a point as they are played.
struct Played {
    window: (u64, u64),
    phases: [Vec<CellFigures>; 3],
    rounds: [Round; ROUNDS],
}

impl Played {
    fn new(plan: &Plan) -> Self {
        let window_ns = plan.time.as_nanos() as u64;
        let cells = (0..plan.workloads.len()).flat_map(|number| {
            let response = plan.is_open(number).then(TickHistogram::new);
            let cell = CellFigures { response, ..CellFigures::default() };
            std::iter::repeat_n(cell, plan.workloads[number].targets.len() * 2)
        });
        let cells: Vec<CellFigures> = cells.collect();
        let cell = RoundCell::default();
        let round = Round { span: Ticks(window_ns / ROUNDS as u64), cells: vec![cell; plan.cells()] };
        Self {
            window: (RAMP_NS, RAMP_NS + window_ns),
            phases: std::array::from_fn(|_| cells.clone()),
            rounds: std::array::from_fn(|_| round.clone()),
        }
    }

    fn complete(&mut self, cell: usize, now: u64, service: u64, response: Option<u64>) {
        let (t0, t1) = self.window;
        let figures = &mut self.phases[usize::from(now >= t0) + usize::from(now >= t1)][cell];
        figures.service.record(service);
        figures.response.iter_mut().for_each(|histogram| histogram.record(response.unwrap_or(service)));
        if (t0..t1).contains(&now) {
            let cell = &mut self.rounds[((now - t0) * ROUNDS as u64 / (t1 - t0)) as usize].cells[cell];
            cell.completions += 1;
            cell.service_ticks += u128::from(service);
            cell.response_ticks += u128::from(response.unwrap_or(0));
        }
    }

    fn figures(self, plan: &Plan, point: usize) -> PointFigures {
        let [ramp, cells, drain] = self.phases;
        let (t0, t1) = self.window;
        point_figures(plan, point, t1 - t0, [ramp, cells, drain], self.rounds)
    }
}

fn point_figures(
    plan: &Plan,
    point: usize,
    window_ns: u64,
    [ramp, cells, drain]: [Vec<CellFigures>; 3],
    rounds: [Round; ROUNDS],
) -> PointFigures {
    let completions = cells.iter().map(|cell| cell.service.count()).sum();
    let cores = plan.cores.iter().map(|core| CoreFigures {
        core: core.core,
        busy: 0.25 * core.core as f64,
        off_core: 0.0,
        poll_gap_max: Ticks(18_250 * core.core as u64),
        polls: 1_234_567,
        completions_per_tick: 1,
        back_pressure: 0,
        left: Vec::new(),
        blank_reads: Vec::new(),
    });
    PointFigures {
        point,
        window: Ticks(window_ns),
        ramp,
        cells,
        drain,
        ramp_arrivals: vec![None; plan.workloads.len()],
        arrivals: vec![None; plan.workloads.len()],
        leftovers: vec![None; plan.workloads.len()],
        rounds,
        cores: cores.collect(),
        errors: Vec::new(),
        intervals: (window_ns / plan.interval.as_nanos() as u64) as usize,
        interval_completions: completions,
        ended_early: None,
        overloaded: false,
    }
}

/// The result of `plan` with the given points.
pub fn result(plan: Plan, points: Vec<PointResult>) -> RunResult {
    let device = |uri: &String| DeviceFacts {
        uri: uri.clone(),
        driver: "sim".to_owned(),
        model: "Simulated array".to_owned(),
        serial: format!("SN-{}", uri.len()),
        firmware: String::new(),
        identities: vec![format!("SN-{}", uri.len())],
        block_size: 512,
        blocks: 1 << 21,
        max_io_bytes: 0,
        max_queue_depth: 0,
        queue_pair_depth: 0,
        volatile: true,
        supports: rigel::facts::Supports::ALL,
    };
    let host = HostFacts {
        hostname: "bench-1".to_owned(),
        kernel: "Linux 6.1.0".to_owned(),
        cpu: "A processor µ".to_owned(),
        cores: vec![0, 1, 2, 3],
        memory_bytes: 8 << 30,
        clock: "tsc".to_owned(),
        ticks_per_s: 1_000_000_000,
    };
    let clock = ClockResult {
        source: host.clock.clone(),
        ticks_per_s: 1e9,
        calibration_error_ppm: 0.25,
        drift_ppm: Some(-1.5),
        checked_s: 3.25,
        doubt: None,
    };
    let headroom = Some(Headroom { null_iops: 12_345_678.0 });
    let facts = Facts { targets: plan.targets.iter().map(device).collect(), host };
    let tool = Tool {
        name: "rigel".to_owned(),
        version: "0.1.0".to_owned(),
        spdk: "26.01".to_owned(),
        git: "0123abc".to_owned(),
    };
    let command = ["rigel", "run", "oltp.toml"].map(str::to_owned).to_vec();
    let job = serde_json::json!({
        "name": "OLTP 8k",
        "target": plan.targets.iter().map(|uri| serde_json::json!({"uri": uri})).collect::<Vec<_>>(),
        "workload": [{"name": "oltp", "block_size": "8k"}],
    });
    let started_at = "2026-11-30T15:46:00Z".to_owned();
    let (clock, payload) = (Some(clock), Vec::new());
    let (resumed_at, campaign) = (Vec::new(), None);
    RunResult::new(
        Provenance { tool, started_at, command, job, plan, facts, clock, headroom, payload, resumed_at, campaign },
        points,
    )
}

/// A sound run of every point of `plan`.
pub fn run(plan: Plan) -> RunResult {
    let clock = Clock::virtual_ns();
    let of_point = |n| PointResult { host: Some(host_use(&plan)), ..point(&plan, &clock, &drive(&plan, n)) };
    let points = (0..plan.points.len()).map(of_point).collect();
    result(plan, points)
}

/// A quiet host whose first polled core has a sibling.
fn host_use(plan: &Plan) -> HostUse {
    let siblings = |core| if core == 1 { vec![SiblingUse { core: 3, busy: 0.125 }] } else { Vec::new() };
    let core = |core: usize| CoreUse { core, busy: 1.0, steal: 0.0, siblings: siblings(core) };
    let worker = |core: usize| WorkerUse {
        core,
        voluntary_switches: 0,
        involuntary_switches: 2,
        migrations: (core == 1).then_some(0),
        waited_ns: (core == 1).then_some(1_250_000),
    };
    let cores = || plan.cores.iter().map(|core| core.core);
    HostUse {
        sampled_s: 0.512,
        busy: 0.625,
        steal: 0.0,
        cores: cores().map(core).collect(),
        workers: cores().map(worker).collect(),
    }
}

/// Reads of one target at three depths.
pub fn read_sweep() -> RunResult {
    run(plan(1, 100.0, &[1, 8, 32], Duration::from_millis(500)))
}

/// Reads and writes of two targets at two depths.
pub fn mixed() -> RunResult {
    run(plan(2, 70.0, &[4, 16], Duration::from_millis(500)))
}

/// Reads and writes that arrive at two rates at a target which serves one at a time: the first it follows, the second not.
pub fn open_loop() -> RunResult {
    let mut plan = plan(1, 70.0, &[1, 1], Duration::from_secs(1));
    let rates = [6_000, 9_800];
    let load = |rate_per_s| Load::Rate(OpenLoad { rate_per_s, arrivals: Arrivals::Poisson, max_outstanding: Some(1) });
    plan.points = rates.map(|rate| PointPlan { loads: vec![load(rate)] }).to_vec();
    plan.overload = Overload::Continue;
    plan.cores.truncate(1);
    let rates_per_s = rates.map(|rate| rate as f64).to_vec();
    plan.cores[0].lanes[0].arrivals = Some(LaneArrivals { spread: Arrivals::Poisson, rates_per_s, offset: 0.0 });
    let points = (0..2).map(|n| point(&plan, &Clock::virtual_ns(), &drive_open(&plan, n, rates[n]))).collect();
    result(plan, points)
}

/// Plays point `point` of [`open_loop`] through: one server, arrivals in order.
fn drive_open(plan: &Plan, point: usize, rate_per_s: u64) -> PointFigures {
    let t1 = RAMP_NS + plan.time.as_nanos() as u64;
    let mut played = Played::new(plan);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed + point as u64);
    let mut phases = [ArrivalFigures::default(), ArrivalFigures::default()];
    let (mut arrival, mut free, mut waiting) = (0, 0, 0);
    loop {
        arrival += (-(1.0 - rng.random::<f64>()).ln() * 1e9 / rate_per_s as f64) as u64;
        if arrival >= t1 {
            break;
        }
        phases[usize::from(arrival >= RAMP_NS)].offered += 1;
        let start = arrival.max(free);
        if start >= t1 {
            waiting += 1;
            continue;
        }
        let sent = &mut phases[usize::from(start >= RAMP_NS)];
        sent.sent += 1;
        sent.slip.record(start - arrival);
        let op = if rng.random_range(0.0..100.0) < 70.0 { Op::Read } else { Op::Write };
        let service = if op == Op::Read { rng.random_range(90_000..160_000) } else { rng.random_range(45_000..80_000) };
        free = start + service;
        played.complete(plan.cell(0, 0, op), free, service, Some(free - arrival));
    }
    let [ramp, mut window] = phases;
    window.backlog_max = waiting.max(5);
    let mut figures = played.figures(plan, point);
    (figures.ramp_arrivals, figures.arrivals) = (vec![Some(ramp)], vec![Some(window)]);
    figures.leftovers = vec![Some(Leftover { waiting, unanswered: 0 })];
    figures
}

/// A run of three points in which all went wrong that can: lost completions and idle slots at the first, failed I/Os
/// and an interruption at the second, the third never begun.
pub fn troubled() -> RunResult {
    let plan = plan(1, 70.0, &[4, 8, 16], Duration::from_millis(500));
    let mut first = drive(&plan, 0);
    first.interval_completions -= 1;
    first.window = Ticks(first.window.0 * 2);
    first.cores[0].back_pressure = 1_234;
    let mut second = drive(&plan, 1);
    second.ended_early = Some("interrupted".to_owned());
    second.cells[1].errors = 3;
    second.drain[1].errors = 1;
    let error = |status: &str, count| ErrorCount { cell: 1, status: status.to_owned(), count };
    second.errors = vec![
        error("Media and Data Integrity Error / Write Fault", 1),
        error("Generic Command Status / Command Aborted due to SQ Deletion", 3),
    ];
    let clock = Clock::virtual_ns();
    let points = [first, second].map(|figures| point(&plan, &clock, &figures)).to_vec();
    result(plan, points)
}
