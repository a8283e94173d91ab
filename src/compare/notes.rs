//! What must be known before the figures of a comparison are looked at.
//!
//! Owns these sentences and their order: what makes a comparison meaningless comes first. Nothing is compared silently.

use super::judge::Sample;
use super::points::{At, Matched};
use super::{Design, Rules, Side};
use crate::facts::DeviceFacts;
use crate::plan::{Plan, WorkloadPlan};
use crate::result::{Mark, PointResult, RunResult};
use crate::units::format_duration;

/// Adds what stands against comparing `side` with `base`.
pub(super) fn about(base: &Side<'_>, side: &Side<'_>, matched: &[Matched<'_>], rules: &Rules, notes: &mut Vec<String>) {
    for point in matched {
        notes.extend(bottleneck(base, side, point));
    }
    let (first, other) = (base.runs[0].result, side.runs[0].result);
    let differ = |what: &str, how: String| format!("{what} differ: {how} ({} against {})", base.label, side.label);
    let paired = rules.design == Design::Paired;
    // In pairs the difference is what is asked for, and the study says it.
    if !paired {
        let plans = plans(&first.plan, &other.plan);
        if !plans.is_empty() {
            notes.push(differ("the plans", plans.join("; ")));
        }
        let devices = devices(&first.facts.targets, &other.facts.targets);
        if !devices.is_empty() {
            notes.push(differ("the targets", devices.join("; ")));
        }
    }
    for (what, of) in HOST {
        let (a, b) = (of(first), of(other));
        if a != b {
            notes.push(differ("the hosts", format!("{what} {a} against {b}")));
        }
    }
    for each in [base, side] {
        odd_one_out(each, notes);
        for point in matched {
            let at = if std::ptr::eq(each, base) { &point.base } else { &point.new };
            notes.extend(marks(each, point, at));
        }
    }
    if !paired && base.runs.len() == 1 && side.runs.len() == 1 {
        notes.push(format!(
            "one run on each side: how much runs of one kind differ is not known, and a spread of {:.1} % is assumed \
             (--spread); repeat the runs to measure it",
            rules.spread * 100.0
        ));
        for each in [base, side] {
            if each.runs[0].series.is_none() && each.runs[0].result.facts.host.clock != "virtual" {
                notes.push(format!(
                    "{}: its intervals (series.jsonl) are not at hand, so what moved within the run is in no interval",
                    each.label
                ));
            }
        }
    }
    if !paired && base.runs.len() + side.runs.len() == 3 {
        notes.push(
            "three runs in all: their spread is known from one difference only; more runs tell much more".to_owned(),
        );
    }
}

/// Adds what the values themselves say.
pub(super) fn about_samples(side: &Side<'_>, samples: &[Sample], notes: &mut Vec<String>) {
    let repeats = |sample: &&Sample| sample.judged && sample.base.len() + sample.new.len() > 2;
    let still = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
    let constant: Vec<String> = samples
        .iter()
        .filter(repeats)
        .filter(|sample| still(&sample.base) && still(&sample.new))
        .map(|sample| format!("{} at {}", sample.figure, sample.load))
        .collect();
    if let Some(first) = constant.first() {
        let more = if constant.len() > 1 { format!(" and {} more", constant.len() - 1) } else { String::new() };
        notes.push(format!(
            "{}: zero variance: {first}{more} had one and the same value in every run of a side, so any difference counts \
             as a change; runs of one seed on a model repeat each other, vary run.seed",
            side.label
        ));
    }
}

/// A figure that is limited by the host on one side only compares two hosts' limits with an array.
fn bottleneck(base: &Side<'_>, side: &Side<'_>, point: &Matched<'_>) -> Option<String> {
    let bound = |at: &[At<'_>]| at.iter().filter(|at| at.point.is_host_bound()).count() * 2 > at.len();
    let label = match (bound(&point.base), bound(&point.new)) {
        (true, false) => &base.label,
        (false, true) => &side.label,
        _ => return None,
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
        "" => result.tool.version.clone(),
        spdk => format!("{} with SPDK {spdk}", result.tool.version),
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
const FIELDS: [OfWorkload; 4] = [
    ("block size", |w| w.block_size.to_string()),
    ("share of reads", |w| format!("{} %", w.read_percent)),
    ("access", |w| format!("{:?}", w.access).to_lowercase()),
    ("blocks in the region", |w| w.regions.iter().map(|region| region.blocks).sum::<u64>().to_string()),
];

fn names(plan: &Plan) -> String {
    plan.workloads.iter().map(|workload| workload.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// In what the devices differ, in words; not in where they are, since one device may have two addresses.
fn devices(a: &[DeviceFacts], b: &[DeviceFacts]) -> Vec<String> {
    let told = |device: &DeviceFacts| {
        let DeviceFacts { driver, model, serial, firmware, .. } = device;
        let known = [model, serial, firmware].into_iter().filter(|text| !text.is_empty());
        let known: Vec<&str> = known.map(String::as_str).collect();
        if known.is_empty() { format!("{driver} {}", device.uri) } else { known.join(" ") }
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
