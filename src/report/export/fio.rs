//! A point as the JSON that fio writes (`--output-format=json+`), so that tools made for fio read it.
//!
//! Owns the job's options in fio's words and the counters; the latencies stand in `fio_latency`. Fields that fio has and
//! Rigel does not measure are 0, as fio writes what it did not measure.

use serde_json::{Map, Value, json};

use super::epoch;
use super::fio_latency::{self, distribution};
use crate::plan::{Access, Arrivals, Band, Load, Plan, SizeMix, SizeShare, WorkloadPlan};
use crate::result::series::{Interval, OpInterval, Series, SeriesPhase};
use crate::result::{OpFigures, ResultError, RunResult, WorkloadResult};

/// fio's layout that is followed.
const LAYOUT: &str = "fio-3.33";
/// What fio reports of a job in which an I/O failed: the system's EIO.
const EIO: u32 = 5;

/// Point `index` (from 0) of `result`, a job for each workload; with the series also the spread of its rates over time.
///
/// # Errors
/// When an archived histogram is damaged.
///
/// # Panics
/// When the result has no such point.
pub fn render(result: &RunResult, series: Option<&Series>, index: usize) -> Result<Vec<u8>, ResultError> {
    let point = &result.points[index];
    let seconds = epoch::seconds(&result.started_at).unwrap_or_default();
    let intervals: Vec<&Interval> = series
        .into_iter()
        .flat_map(Series::intervals)
        .filter(|interval| interval.point == index && interval.phase == SeriesPhase::Window)
        .collect();
    let jobs = (0..point.workloads.len()).map(|w| job(result, index, &intervals, w)).collect::<Result<Vec<_>, _>>()?;
    let document = json!({
        "fio version": format!("{LAYOUT}, written by {} {}", result.tool.name, result.tool.version),
        "timestamp": seconds,
        "timestamp_ms": seconds * 1000,
        "time": result.started_at,
        "global options": {},
        "jobs": jobs,
    });
    let mut bytes = serde_json::to_vec_pretty(&document).expect("numbers and texts, in memory");
    bytes.push(b'\n');
    Ok(bytes)
}

fn job(result: &RunResult, index: usize, intervals: &[&Interval], w: usize) -> Result<Value, ResultError> {
    let (point, run) = (&result.points[index], result.plan_of(index).0);
    let (workload, plan) = (&point.workloads[w], &run.workloads[w]);
    let of = |op: fn(&crate::result::series::WorkloadInterval) -> &OpInterval| -> Vec<(f64, &OpInterval)> {
        let length_s = |interval: &Interval| interval.end_s - interval.start_s;
        intervals.iter().map(|interval| (length_s(interval), op(&interval.workloads[w]))).collect()
    };
    let figures = &workload.figures;
    let busy: f64 = point.cores.iter().map(|core| core.busy).sum::<f64>() / point.cores.len().max(1) as f64;
    let histograms = fio_latency::histograms(figures)?;
    let mut job = json!({
        "jobname": workload.name,
        "groupid": 0,
        "error": if figures.errors > 0 { EIO } else { 0 },
        "eta": 0,
        "elapsed": point.window_s.ceil() as u64,
        "job options": options(result, run, workload, plan),
        "read": operation(&figures.read, point.window_s, &of(|workload| &workload.read))?,
        "write": operation(&figures.write, point.window_s, &of(|workload| &workload.write))?,
        "trim": operation(&nothing(), 0.0, &[])?,
        "sync": {"total_ios": 0, "lat_ns": fio_latency::none()},
        "job_runtime": milliseconds(point.window_s),
        "usr_cpu": busy * 100.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "latency_depth": depth(workload.load).0,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
        "total_err": figures.errors,
        "first_error": if figures.errors > 0 { EIO } else { 0 },
    });
    for (name, shares) in distribution(&histograms) {
        job[name] = shares;
    }
    Ok(job)
}

/// The job file's options that describe the workload, as texts, as fio has them.
fn options(result: &RunResult, run: &Plan, workload: &WorkloadResult, plan: &WorkloadPlan) -> Value {
    let (iodepth, per_target) = depth(workload.load);
    let mix = |read, write, both| match plan.read_percent {
        percent if percent >= 100.0 => read,
        percent if percent <= 0.0 => write,
        _ => both,
    };
    let rw = if plan.access.is_stream() { mix("read", "write", "rw") } else { mix("randread", "randwrite", "randrw") };
    // fio's own way to write a stride is the distance that is left out between two I/Os.
    let rw = match plan.access {
        Access::Strided { stride } if stride > plan.block_size => format!("{rw}:{}", stride.0 - plan.block_size.0),
        _ => rw.to_owned(),
    };
    let names = plan.targets.iter().map(|&target| run.targets[target].replace(':', r"\:"));
    let engine = plan.targets.first().and_then(|&target| result.facts.targets.get(target));
    let mut options = Map::new();
    let mut put = |name: &str, value: String| options.insert(name.to_owned(), value.into());
    put("name", workload.name.clone());
    put("ioengine", engine.map(|facts| facts.driver.clone()).unwrap_or_default());
    put("filename", names.collect::<Vec<_>>().join(":"));
    put("rw", rw);
    put("rwmixread", plan.read_percent.to_string());
    match &plan.sizes {
        None => put("bs", plan.block_size.to_string()),
        Some(sizes) => put("bssplit", format!("{},{}", split(&sizes.read), split(&sizes.write))),
    };
    if let Some(distribution) = distribution_of(&plan.access) {
        put("random_distribution", distribution);
    }
    put("iodepth", iodepth.to_string());
    put("numjobs", if per_target { plan.targets.len() } else { 1 }.to_string());
    if let Load::Rate(open) = workload.load {
        put("rate_iops", open.rate_per_s.to_string());
        match open.arrivals {
            Arrivals::Poisson => put("rate_process", "poisson".to_owned()),
            Arrivals::Constant => put("rate_process", "linear".to_owned()),
            // fio knows no such arrivals.
            Arrivals::Bursts { .. } => None,
        };
    }
    put("runtime", run.time.as_secs_f64().to_string());
    put("ramp_time", run.ramp.as_secs_f64().to_string());
    Value::Object(options)
}

/// Sizes as fio's `bssplit` has them.
fn split(sizes: &SizeMix) -> String {
    let part = |part: &SizeShare| format!("{}/{}", part.size, part.share_percent);
    sizes.sizes().iter().map(part).collect::<Vec<_>>().join(":")
}

/// The pattern as fio's `random_distribution`, where it has one; hot bands and others are its zones.
fn distribution_of(access: &Access) -> Option<String> {
    match access {
        Access::Random | Access::Sequential | Access::Permutation | Access::Strided { .. } => None,
        Access::Zipf { theta, .. } => Some(format!("zipf:{theta}")),
        Access::Pareto { share, .. } => Some(format!("pareto:{share}")),
        Access::Normal { deviation_percent } => Some(format!("normal:{deviation_percent}")),
        Access::Hot { accesses_percent: hot, space_percent: space, .. } => {
            Some(format!("zoned:{hot}/{space}:{}/{}", 100.0 - hot, 100.0 - space))
        }
        Access::Bands(bands) => {
            let zone = |b: &Band| format!("{}/{}", b.accesses_percent, b.end_percent - b.first_percent);
            Some(format!("zoned:{}", bands.iter().map(zone).collect::<Vec<_>>().join(":")))
        }
    }
}

/// fio's depth, and whether each target has it: then each is a job of fio's, so that depth times jobs is what is
/// outstanding.
fn depth(load: Load) -> (u32, bool) {
    (load.depth(), matches!(load, Load::QueueDepth(_)))
}

fn operation(figures: &OpFigures, window_s: f64, intervals: &[(f64, &OpInterval)]) -> Result<Value, ResultError> {
    let bytes = (figures.bytes_per_s * window_s).round() as u64;
    let mut operation = json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / 1024,
        "bw_bytes": figures.bytes_per_s.round() as u64,
        "bw": (figures.bytes_per_s / 1024.0).round() as u64,
        "iops": figures.iops,
        "runtime": milliseconds(window_s),
        "total_ios": figures.completions,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": fio_latency::none(),
        "clat_ns": fio_latency::of(figures.service.as_ref())?,
        "lat_ns": fio_latency::of(figures.service.as_ref())?,
    });
    if figures.response.is_some() {
        operation["response_ns"] = fio_latency::of(figures.response.as_ref())?;
    }
    let rate = |count: fn(&OpInterval) -> u64| {
        let rates = intervals.iter().filter(|(length_s, _)| *length_s > 0.0);
        Spread::of(rates.map(|(length_s, op)| count(op) as f64 / length_s).collect())
    };
    let (kib, ios) = (rate(|op| op.bytes).scaled(1.0 / 1024.0), rate(|op| op.completions));
    let more = json!({
        "bw_min": kib.min.round() as u64,
        "bw_max": kib.max.round() as u64,
        "bw_agg": if kib.samples > 0 { 100.0 } else { 0.0 },
        "bw_mean": kib.mean,
        "bw_dev": kib.stddev,
        "bw_samples": kib.samples,
        "iops_min": ios.min.round() as u64,
        "iops_max": ios.max.round() as u64,
        "iops_mean": ios.mean,
        "iops_stddev": ios.stddev,
        "iops_samples": ios.samples,
    });
    if let (Value::Object(operation), Value::Object(more)) = (&mut operation, more) {
        operation.extend(more);
    }
    Ok(operation)
}

/// How a rate varied over the intervals of the window; all 0 without a series.
#[derive(Default)]
struct Spread {
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
    samples: usize,
}

impl Spread {
    fn of(rates: Vec<f64>) -> Self {
        if rates.is_empty() {
            return Self::default();
        }
        let samples = rates.len();
        let mean = rates.iter().sum::<f64>() / samples as f64;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        Self {
            min: rates.iter().copied().fold(f64::INFINITY, f64::min),
            max: rates.iter().copied().fold(0.0, f64::max),
            mean,
            stddev: if samples > 1 { (squares / (samples - 1) as f64).sqrt() } else { 0.0 },
            samples,
        }
    }

    fn scaled(self, factor: f64) -> Self {
        let Self { min, max, mean, stddev, samples } = self;
        Self { min: min * factor, max: max * factor, mean: mean * factor, stddev: stddev * factor, samples }
    }
}

fn nothing() -> OpFigures {
    OpFigures { completions: 0, iops: 0.0, bytes_per_s: 0.0, errors: 0, service: None, response: None }
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}
