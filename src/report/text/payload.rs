//! What writes carried, in words: what was asked for, and what compressors made of it.
//!
//! Owns the wording, for the summary and for the page.

use crate::plan::{PayloadPlan, ReductionPlan, Scope};
use crate::report::columns::decimal;
use crate::result::{PayloadResult, RunResult};
use crate::units::Bytes;

/// What was asked for.
pub(in crate::report) fn asked(payload: &PayloadPlan) -> String {
    let PayloadPlan::Made(ReductionPlan { compression, dedupe, unit, scope }) = payload else {
        return "zeroes".to_owned();
    };
    let compressed = match *compression {
        1.0 => "incompressible bytes".to_owned(),
        ratio => format!("bytes that compress {ratio}:1"),
    };
    match (*dedupe, scope) {
        (1.0, _) => format!("{compressed}, no unit of {unit} twice"),
        (ratio, Scope::Global) => format!("{compressed}, units of {unit} that dedupe {ratio}:1 over all targets"),
        (ratio, Scope::Target) => format!("{compressed}, units of {unit} that dedupe {ratio}:1 within each target"),
    }
}

/// What was found, a line for each workload and size of chunk.
pub(in crate::report) fn found(result: &RunResult) -> String {
    let mut out = String::new();
    for PayloadResult { workload, found } in &result.payload {
        let (dedupe, total) = (decimal(found.dedupe, 2), decimal(found.total, 2));
        let sample = Bytes(found.bytes);
        line!(&mut out, "  workload {workload}: dedupes {dedupe}:1, in total {total}:1 (a sample of {sample})");
        for chunk in &found.compression {
            let ratios = chunk.ratios().map(|(name, ratio)| format!("{name} {}:1", decimal(ratio, 2)));
            line!(&mut out, "      in chunks of {}: {}", Bytes(u64::from(chunk.chunk_bytes)), ratios.join(", "));
        }
    }
    out
}
