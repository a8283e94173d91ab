//! What must be known before the figures of a comparison are looked at.
//!
//! Owns these sentences and their order: what makes a comparison meaningless comes first. Nothing is compared silently.

use std::collections::BTreeSet;

use super::judge::Sample;
use super::points::{At, Matched, words};
use super::{Design, Rules, Side};
use crate::facts::DeviceFacts;
use crate::plan::{Plan, WorkloadPlan};
use crate::result::{Mark, PointResult, RunResult};
use crate::units::format_duration;

/// Adds what stands against comparing `side` with `base`.
pub(super) fn about(base: &Side<'_>, side: &Side<'_>, matched: &[Matched<'_>], notes: &mut Vec<String>) {
    for point in matched {
        notes.extend(bottleneck(base, side, point));
    }
    let (first, other) = (base.runs[0].result, side.runs[0].result);
    let differ = |what: &str, how: String| format!("{what} differ: {how} ({} against {})", base.label, side.label);
    let mut plans = plans(&first.plan, &other.plan);
    plans.extend(matched.iter().filter_map(loads));
    if !plans.is_empty() {
        notes.push(differ("the plans", plans.join("; ")));
    }
    let devices = devices(&first.facts.targets, &other.facts.targets);
    if !devices.is_empty() {
        notes.push(differ("the targets", devices.join("; ")));
    }
    notes.extend(twice(base, side));
    for (what, of) in HOST {
        let (a, b) = (of(first), of(other));
        if a != b {
            notes.push(differ("the hosts", format!("{what} {a} against {b}")));
        }
    }
    for each in [base, side] {
        odd_one_out(each, notes);
        notes.extend(each.runs.iter().find_map(|run| clock(&each.label, run.result)));
        for point in matched {
            let at = if std::ptr::eq(each, base) { &point.base } else { &point.new };
            notes.extend(marks(each, point, at));
        }
    }
}

/// Adds what the values themselves say.
pub(super) fn about_samples(
    base: &Side<'_>,
    side: &Side<'_>,
    samples: &[Sample],
    rules: &Rules,
    notes: &mut Vec<String>,
) {
    let singles: BTreeSet<&str> = samples.iter().filter(|s| s.is_single()).map(|s| s.load.as_str()).collect();
    if !singles.is_empty() {
        let all = singles.len() == samples.iter().map(|s| s.load.as_str()).collect::<BTreeSet<_>>().len();
        let of = if all { String::new() } else { format!("{}: ", singles.into_iter().collect::<Vec<_>>().join(", ")) };
        notes.push(format!(
            "{of}one run on each side: how much runs of one kind differ is not known, and a spread of {:.1} % is assumed \
             (--spread); repeat the runs to measure it",
            rules.spread * 100.0
        ));
        let blind =
            |number: usize| samples.iter().filter(|s| s.is_single() && s.judged).all(|s| s.within[number].is_none());
        for (number, each) in [base, side].into_iter().enumerate() {
            if blind(number) {
                notes.push(format!(
                    "{}: fewer than eight intervals of the window are at hand (series.jsonl), so what moved within the run \
                     is in no interval of the change",
                    each.label
                ));
            }
        }
    }
    if rules.design == Design::Unpaired && samples.iter().any(|s| s.base.len() + s.new.len() == 3) {
        notes.push(
            "three runs in all: their spread is known from one difference only; more runs tell much more".to_owned(),
        );
    }
    let constant: Vec<String> = samples
        .iter()
        .filter(|sample| sample.judged && sample.is_still())
        .map(|sample| format!("{} at {}", sample.figure, sample.load))
        .collect();
    if let Some(first) = constant.first() {
        let more = if constant.len() > 1 { format!(" and {} more", constant.len() - 1) } else { String::new() };
        notes.push(format!(
            "{}: zero variance: {first}{more} did not differ at all from run to run of one kind, so the word on it rests on no \
             measure of error; runs of one seed on a model repeat each other, vary run.seed",
            side.label
        ));
    }
}

/// Runs that are compared with themselves.
fn twice(base: &Side<'_>, side: &Side<'_>) -> Option<String> {
    let all: Vec<&RunResult> = base.runs.iter().chain(&side.runs).map(|run| run.result).collect();
    let same = |a: &RunResult, b: &RunResult| {
        let real = a.facts.host.clock != "virtual";
        std::ptr::eq(a, b) || (real && a.started_at == b.started_at && a.points == b.points)
    };
    let again = all.iter().enumerate().any(|(n, a)| all[..n].iter().any(|b| same(a, b)));
    again.then(|| {
        format!("one and the same run is named twice ({} and {}): it tells nothing of itself", base.label, side.label)
    })
}

/// The loads of a point where they are not the same.
fn loads(point: &Matched<'_>) -> Option<String> {
    let (a, b) = (words(point.base[0].point), words(point.new[0].point));
    (a != b).then(|| format!("load {a} against {b}"))
}

/// What stands against the clock of a run.
fn clock(label: &str, result: &RunResult) -> Option<String> {
    let clock = result.clock.as_ref()?;
    let doubts = clock.sentences();
    doubts.first().map(|doubt| format!("{label}: {doubt}"))
}

/// A figure that is limited by the host on one side only compares two hosts' limits with an array.
fn bottleneck(base: &Side<'_>, side: &Side<'_>, point: &Matched<'_>) -> Option<String> {
    let bound = |at: &[At<'_>]| at.iter().filter(|at| at.point.is_host_bound()).count() * 2 > at.len();
    let label = match (bound(&point.base), bound(&point.new)) {
        (true, false) => &base.label,
        (false, true) => &side.label,
        (false, false) => return None,
        (true, true) => {
            return Some(format!("{}: the host was the bottleneck on both sides, so it tells of the host", point.load));
        }
    };
    Some(format!(
        "{}: the host was the bottleneck in {label} only; the difference may be the host's, not the array's",
        point.load
    ))
}

type OfHost = (&'static str, fn(&RunResult) -> String);

/// What tells one host from another.
const HOST: [OfHost; 5] = [
    ("name", |result| result.facts.host.hostname.clone()),
    ("processor", |result| result.facts.host.cpu.clone()),
    ("kernel", |result| result.facts.host.kernel.clone()),
    ("clock", |result| result.facts.host.clock.clone()),
    ("rigel", |result| match result.tool.spdk.as_str() {
        "" => format!("{} {}", result.tool.version, result.tool.git),
        spdk => format!("{} {} with SPDK {spdk}", result.tool.version, result.tool.git),
    }),
];

/// In what two plans differ, in words.
fn plans(a: &Plan, b: &Plan) -> Vec<String> {
    let mut out = Vec::new();
    let mut put = |what: &str, a: String, b: String| {
        if a != b {
            out.push(format!("{what} {a} against {b}"));
        }
    };
    put("ramp", format_duration(a.ramp), format_duration(b.ramp));
    put("time", format_duration(a.time), format_duration(b.time));
    put("number of targets", a.targets.len().to_string(), b.targets.len().to_string());
    let cores = |plan: &Plan| plan.cores.len().to_string();
    put("number of cores", cores(a), cores(b));
    put("workloads", names(a), names(b));
    for (one, other) in a.workloads.iter().zip(&b.workloads) {
        let of = |what: &str| if a.workloads.len() > 1 { format!("{what} of {}", one.name) } else { what.to_owned() };
        for (what, field) in FIELDS {
            put(&of(what), field(one), field(other));
        }
    }
    out
}

type OfWorkload = (&'static str, fn(&WorkloadPlan) -> String);

/// What tells one workload from another.
const FIELDS: [OfWorkload; 6] = [
    ("block size", |w| w.sizes_text()),
    ("share of reads", |w| w.mix.map_or_else(|| format!("{} %", w.read_percent), |mix| mix.to_string())),
    ("access", |w| w.access.to_string()),
    ("think time", |w| w.think_time.map_or("none".to_owned(), |time| time.to_string())),
    ("region", |w| {
        let regions = w.regions.iter().map(|region| format!("{} blocks from {}", region.blocks, region.first_block));
        regions.collect::<Vec<_>>().join(", ")
    }),
    ("targets", |w| w.targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
];

fn names(plan: &Plan) -> String {
    plan.workloads.iter().map(|workload| workload.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// In what the devices differ, in words; not in where they are, since one device may have two addresses.
fn devices(a: &[DeviceFacts], b: &[DeviceFacts]) -> Vec<String> {
    let told = |device: &DeviceFacts| {
        let DeviceFacts { driver, model, serial, firmware, identities, .. } = device;
        let known = [model, serial, firmware].into_iter().filter(|text| !text.is_empty());
        let mut known: Vec<&str> =
            known.chain(identities.iter().filter(|id| *id != serial)).map(String::as_str).collect();
        if serial.is_empty() && identities.is_empty() {
            known.push(&device.uri);
        }
        format!("{driver} {}, {} blocks of {}", known.join(" "), device.blocks, device.block_size)
    };
    let pairs = a.iter().zip(b).enumerate();
    let differ = pairs.filter(|(_, (a, b))| told(a) != told(b));
    differ.map(|(index, (a, b))| format!("[{index}] {} against {}", told(a), told(b))).collect()
}

/// Runs of one side that are not of one plan or host.
fn odd_one_out(side: &Side<'_>, notes: &mut Vec<String>) {
    let first = side.runs[0].result;
    for (number, run) in side.runs.iter().enumerate().skip(1) {
        let mut odd = plans(&first.plan, &run.result.plan);
        odd.extend(devices(&first.facts.targets, &run.result.facts.targets));
        odd.extend(HOST.iter().filter_map(|(what, of)| {
            let (a, b) = (of(first), of(run.result));
            (a != b).then(|| format!("{what} {a} against {b}"))
        }));
        if !odd.is_empty() {
            notes.push(format!(
                "{}: its runs 1 and {} are not of one kind: {}",
                side.label,
                number + 1,
                odd.join("; ")
            ));
        }
    }
}

/// What stands against single points.
fn marks(side: &Side<'_>, point: &Matched<'_>, at: &[At<'_>]) -> Option<String> {
    let count = |is: &dyn Fn(&PointResult) -> bool| at.iter().filter(|at| is(at.point)).count();
    let early = count(&|point| point.ended_early.is_some());
    let failed = count(&|point| point.ended_early.is_none() && point.mark() == Some(Mark::Failed));
    let unsteady = count(&|point| point.mark() == Some(Mark::Unsteady));
    let runs = |n: usize| if at.len() == 1 { String::new() } else { format!(" in {n} of {} runs", at.len()) };
    let mut said = Vec::new();
    if early > 0 {
        said.push(format!("ended early{}", runs(early)));
    }
    if failed > 0 {
        said.push(format!("had errors or a failed check{}", runs(failed)));
    }
    if unsteady > 0 {
        said.push(format!("was unsteady{}", runs(unsteady)));
    }
    (!said.is_empty()).then(|| format!("{}, {}: {}; see its report", side.label, point.load, said.join(", ")))
}
