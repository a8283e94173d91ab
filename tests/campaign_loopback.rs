//! Campaigns on SPDK's own target on loopback: the number of volumes, and the search on a volume with a delay.

#![cfg(feature = "spdk")]

#[path = "common/array.rs"]
mod array;
#[path = "common/cli.rs"]
mod cli;

use std::fs;

use array::Array;
use cli::Running;
use rigel::result::{RunResult, SearchOutcome};

#[track_caller]
fn run(job: &str) -> (RunResult, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), job).unwrap();
    let outcome = Running::start_in(folder, "run job.toml --quiet --out out --no-archive").wait();
    assert!([Some(0), Some(4)].contains(&outcome.code), "{}", outcome.stderr);
    let text = fs::read_to_string(outcome.folder().join("out/result.json")).unwrap();
    let page = fs::read_to_string(outcome.folder().join("out/report.html")).unwrap();
    (rigel::result::from_json(&text).unwrap(), page)
}

#[test]
fn one_two_four_and_eight_volumes_are_one_command_and_one_chart() {
    let array = Array::tcp(&["backing=null", "namespaces=8"]);
    assert_eq!(array.uris.len(), 8);
    let targets: String = array.uris.iter().map(|uri| format!("[[target]]\nuri = \"{uri}\"\n")).collect();
    let run_for = "[run]\nramp = \"100ms\"\ntime = \"300ms\"\n";
    let (result, page) =
        run(&format!("{targets}{run_for}[[workload]]\noutstanding = 32\n[sweep]\ntargets = [1, 2, 4, 8]\n"));
    let labels: Vec<String> = result.points.iter().map(rigel::result::PointResult::label).collect();
    assert_eq!(labels, [1, 2, 4, 8].map(|n| format!("targets {n}, 32 outstanding")));
    for (point, targets) in result.points.iter().zip([1, 2, 4, 8]) {
        assert!(point.total.completions > 0 && point.checks.conservation.ok);
        let busy = point.workloads[0].targets.iter().filter(|target| target.figures.completions > 0).count();
        assert_eq!((point.workloads[0].targets.len(), busy), (targets, targets));
    }
    let chart = page.split("id=\"iops\"").nth(1).expect("a chart of IOPS").split("</figure>").next().unwrap();
    assert!(chart.contains(">targets<"), "the axis is the number of targets");
}

#[test]
fn the_highest_rate_under_a_limit_is_found_on_a_path_with_a_delay() {
    let array = Array::tcp(&["backing=delay", "size_mib=16", "delay_us=350"]);
    let target = format!("[[target]]\nuri = \"{}\"\n[run]\nramp = \"100ms\"\ntime = \"400ms\"\n", array.uri());
    let (result, _) = run(&format!("{target}[search]\nlimit = \"p99 read <= 1ms\"\nfrom = 100\nto = \"2M\"\n"));
    let [found] = &result.search[..] else { panic!("{:?}", result.search) };
    assert!(result.points.len() <= 12 && found.tried.len() == result.points.len(), "{}", found.says);
    // Whatever else this machine does: no more than its path carries, and what is far below it.
    match found.outcome {
        SearchOutcome::Found | SearchOutcome::Wide => {
            let (answer, broken) = (found.answer.unwrap_or(0), found.broken_at.unwrap());
            assert!(answer < broken && broken <= 2_000_000, "{}", found.says);
        }
        _ if found.is_disturbed() => array::skip(&format!("the machine is too busy: {}", found.says)),
        other => panic!("{other:?}: {}", found.says),
    }
    // A limit below the delay is broken by any load, and that is the answer.
    let (result, _) = run(&format!("{target}[search]\nlimit = \"p50 read <= 300us\"\nfrom = 100\nto = 1000\n"));
    assert_eq!(result.search[0].outcome, SearchOutcome::LowestBreaks, "{}", result.search[0].says);
    assert!(result.search[0].says.contains("already the lowest"), "{}", result.search[0].says);
}
