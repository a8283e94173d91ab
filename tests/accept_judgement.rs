//! The judgement of what a job has to fulfil, on made-up figures: what is certain all the same, what is left open and why.

#[path = "common/figures.rs"]
mod figures;

use rigel::report::{export, text};
use rigel::result::{Acceptance, Accepted, Provenance, RunResult};
use serde_json::{Value, json};

/// `result` with a job that has to fulfil `accept`.
fn judged(result: RunResult, accept: Value) -> RunResult {
    let RunResult { tool, started_at, command, mut job, plan, facts, clock, headroom, payload, points, .. } = result;
    job["accept"] = accept;
    let (resumed_at, campaign) = (Vec::new(), None);
    RunResult::new(
        Provenance { tool, started_at, command, job, plan, facts, clock, headroom, payload, resumed_at, campaign },
        points,
    )
}

fn one(result: RunResult, accept: &str) -> Acceptance {
    let result = judged(result, json!([accept]));
    assert_eq!(result.acceptances.len(), 1);
    result.acceptances[0].clone()
}

fn outcomes(acceptance: &Acceptance) -> Vec<Accepted> {
    acceptance.points.iter().map(|point| point.outcome).collect()
}

#[test]
fn in_a_troubled_run_only_errors_that_were_counted_are_certain() {
    use Accepted::{Failed, NotJudged};
    // Conservation is violated at the first point, the second ended early with four errors, the third was not run.
    let errors = one(figures::troubled(), "errors == 0");
    assert_eq!((errors.outcome, outcomes(&errors)), (Failed, vec![NotJudged, Failed, NotJudged]));
    assert_eq!((errors.decisive, errors.points[1].value), (Some(1), Some(4.0)));
    let few = one(figures::troubled(), "errors <= 4 at 8");
    assert_eq!(few.outcome, NotJudged, "there might have been more");
    let iops = one(figures::troubled(), "iops >= 1");
    assert_eq!((iops.outcome, outcomes(&iops)), (NotJudged, vec![NotJudged; 3]));
    let reasons: Vec<_> = iops.points.iter().map(|point| point.reason.clone().unwrap()).collect();
    assert_eq!(reasons, ["conservation is violated", "it ended early (interrupted)", "it was not run"]);
    assert_eq!(iops.reason.as_deref(), Some("QD 4: conservation is violated"));
    assert!(iops.points[0].value.is_some() && iops.decisive.is_none(), "told, but not judged by");
}

#[test]
fn a_percentile_that_no_field_tells_is_read_from_the_histogram() {
    let result = figures::read_sweep();
    let read = result.points[0].total.read.service.as_ref().unwrap();
    let exact = read.histogram().unwrap().value_at_quantile(0.75);
    let ns = format!("{exact}ns");
    assert_eq!(one(result.clone(), &format!("p75 read <= {ns} at 1")).outcome, Accepted::Passed);
    assert_eq!(one(result.clone(), &format!("p75 read < {ns} at 1")).outcome, Accepted::Failed);
    assert_eq!(one(result, "oltp/p75 <= 1s").outcome, Accepted::Passed);
}

#[test]
fn a_latency_of_an_operation_of_which_none_completed_is_left_open() {
    let mut result = figures::mixed();
    let write = &mut result.points[1].total.write;
    (write.completions, write.service, write.errors) = (0, None, 5);
    let both = one(result.clone(), "p99 <= 1s");
    assert_eq!(outcomes(&both), [Accepted::Passed, Accepted::NotJudged]);
    assert_eq!(both.reason.as_deref(), Some("QD 16: no write completed"));
    assert_eq!(one(result, "p99 read <= 1s").outcome, Accepted::Passed);
}

#[test]
fn open_loops_are_judged_by_their_response() {
    // Mean service is 100 µs at both rates; at the second the arrivals wait ever longer.
    let result = figures::open_loop();
    assert_eq!(one(result.clone(), "mean service <= 200us").outcome, Accepted::Passed);
    let response = one(result.clone(), "mean <= 1ms");
    assert_eq!((response.outcome, response.decisive), (Accepted::Failed, Some(1)));
    assert!(response.points[1].op.is_some(), "which operation is told");
    assert_eq!(one(result, "mean response <= 1ms at 6000").outcome, Accepted::Passed);
}

#[test]
fn a_job_that_cannot_be_read_is_never_accepted() {
    let result = judged(figures::read_sweep(), json!("steady"));
    assert!(!result.is_accepted());
    let told = text::acceptances(&result);
    assert!(told.starts_with("NOT accepted: \"steady\" (not judged, the job's `accept` cannot be read"), "{told}");
    assert_eq!(export::checks(&result).last().unwrap().name, "run");
    assert!(judged(figures::read_sweep(), json!([])).is_accepted());
}
