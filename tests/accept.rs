//! What a job has to fulfil: judged on a simulated array whose every figure is known, told in each output and by the exit
//! code, and refused before any I/O where it could never be judged.

#[path = "common/cli.rs"]
mod cli;

use std::fs;
use std::process::Command;

use cli::{Outcome, Running};
use rigel::report::{export, html, json};
use rigel::result::{Acceptance, Accepted, from_json};

/// Two points, 10,000 and 40,000 IOPS, each I/O in 100 µs; long enough for Little's law and five rounds.
const JOB: &str = "[[target]]\nuri = \"sim://constant-100us\"\n[run]\nramp = \"50ms\"\ntime = \"500ms\"\ninterval = \"50ms\"\n\
                   [sweep]\nqueue_depth = [1, 4]\n";

/// Runs a job that begins with `accept`, with flags behind it.
#[track_caller]
fn run(accept: &str, flags: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), format!("{accept}\n{JOB}")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args(["run", "job.toml", "--quiet"]).args(flags);
    Running::spawn(folder, command).wait()
}

fn texts(acceptances: &[Acceptance]) -> Vec<(&str, Accepted)> {
    acceptances.iter().map(|acceptance| (acceptance.that.as_str(), acceptance.outcome)).collect()
}

#[test]
fn what_holds_at_every_point_is_accepted() {
    let accept = "accept = ['iops >= 10k', 'p99.9 read <= 101us']";
    let outcome = run(accept, &["--accept", "errors == 0", "--accept", "steady", "--accept", "MB/s > 40"]).ends_with(0);
    let result = outcome.result();
    assert!(result.is_accepted());
    let passed = ["iops >= 10k", "p99.9 read <= 101us", "errors == 0", "steady", "MB/s > 40"];
    assert_eq!(texts(&result.acceptances), passed.map(|that| (that, Accepted::Passed)));
    let iops = &result.acceptances[0];
    let found: Vec<_> = iops.points.iter().map(|p| (p.point, p.load.queue_depth, p.value)).collect();
    assert_eq!(found, [(0, Some(1), Some(10_000.0)), (1, Some(4), Some(40_000.0))]);
    assert_eq!(iops.decisive, Some(0));
    for line in [
        "accepted: iops >= 10k (worst 10,000 IOPS at QD 1)\n",
        "accepted: errors == 0 (worst 0 at QD 1)\n",
        "accepted: steady\n",
    ] {
        assert!(outcome.stdout.contains(line), "`{line}` is missing in {}", outcome.stdout);
    }
    // The job keeps what the flags added, and its text is valid as a job.
    assert_eq!(result.job["accept"], serde_json::json!(passed));
}

#[test]
fn what_does_not_hold_ends_with_1_and_is_told_everywhere() {
    let outcome = run("accept = ['iops >= 20k', 'iops <= 1M']", &[]).ends_with(1);
    let result = outcome.result();
    let (bad, good) = ("NOT accepted: iops >= 20k (worst 10,000 IOPS at QD 1)", "accepted: iops <= 1M (worst 40,000");
    let summary = rigel::report::text::summary(&result);
    let page = html::page(&[html::Source { label: "x".to_owned(), result: &result, series: None }]);
    for text in [&outcome.stdout, &summary, &page.replace("&lt;", "<").replace("&gt;", ">")] {
        assert!(
            text.contains(bad) && text.contains(&format!("\n{good}")) | text.contains(&format!(">{good}")),
            "{text}"
        );
    }
    assert!(
        page.contains("li class=\"bad\"") && page.contains("li class=\"good\"") && page.contains("id=\"acceptance\"")
    );
    assert!(page.find("id=\"acceptance\"") < page.find("id=\"figures\""), "near the top");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let prometheus = text(export::prometheus(&result));
    for sample in ["rigel_accepted{accept=\"iops >= 20k\"} 0\n", "rigel_accepted{accept=\"iops <= 1M\"} 1\n"] {
        assert!(prometheus.contains(sample), "{prometheus}");
    }
    let suites = export::checks(&result);
    let of = |suite: usize, name: &str| &suites[suite].checks.iter().find(|check| check.name == name).unwrap().outcome;
    assert_eq!(suites.len(), 2);
    assert_eq!(of(0, "accept: iops >= 20k"), &export::Outcome::Failed("found 10,000 IOPS".to_owned()));
    assert_eq!(of(1, "accept: iops >= 20k"), &export::Outcome::Passed);
    assert_eq!(of(0, "accept: iops <= 1M"), &export::Outcome::Passed);
    // Nothing is lost on the way through the file.
    assert_eq!(from_json(&text(json::render(&result))).unwrap().acceptances, result.acceptances);
}

#[test]
fn one_point_is_enough_for_any_and_a_load_picks_its_points() {
    let accept = "[[accept]]\nthat = 'iops >= 40k'\nat = 'any'\n[[accept]]\nthat = 'iops <= 10k'\nat = 1\n\
                  [[accept]]\nthat = 'errors == 0'\nat = 'all'\n";
    let outcome = run(accept, &[]).ends_with(0);
    assert!(outcome.stdout.contains("accepted: iops >= 40k at any (best 40,000 IOPS at QD 4)\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("accepted: iops <= 10k at 1 (10,000 IOPS at QD 1)\n"), "{}", outcome.stdout);
    let result = outcome.result();
    assert_eq!(result.acceptances[1].points.len(), 1);
    let kept = serde_json::json!([
        {"that": "iops >= 40k", "at": "any"}, {"that": "iops <= 10k", "at": 1}, "errors == 0"
    ]);
    assert_eq!(result.job["accept"], kept);
    let suites = export::checks(&result);
    assert_eq!((suites.len(), suites[2].name.as_str(), suites[2].checks.len()), (3, "run", 1));

    run("", &["--accept", "iops >= 50k at any"]).ends_with(1);
    run("", &["--accept", "iops >= 40k at 4"]).ends_with(0);
    run("accept = ['iops <= 10k at 4']", &[]).ends_with(1);
    // Texts and tables beside each other; what is said twice is judged once.
    let outcome = run("accept = ['errors == 0', {that = 'iops > 39k', at = 4}]", &["--accept", "errors == 0"]);
    assert_eq!(outcome.ends_with(0).result().acceptances.len(), 2);
}

#[test]
fn what_cannot_be_judged_is_not_accepted() {
    let outcome = run("accept = ['steady']", &["--interval", "500ms"]).ends_with(1);
    let told = "NOT accepted: steady (not judged, QD 1: steady state was not judged: ";
    assert!(outcome.stdout.contains(told), "{}", outcome.stdout);
    assert_eq!(outcome.result().acceptances[0].outcome, Accepted::NotJudged);
    // Virtual time tells nothing of processors.
    let outcome = run("accept = ['cpu <= 100']", &[]).ends_with(1);
    assert!(outcome.stdout.contains("the use of processors is not known"), "{}", outcome.stdout);
    let quiet = run("accept = ['cpu <= 100']", &["--json"]).ends_with(1);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), (quiet.result_text().as_str(), ""));
}

#[test]
fn points_that_an_interruption_left_out_are_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let job = format!("accept = ['iops >= 1', 'errors == 0 at 4', 'iops >= 1 at any']\n{JOB}").replace("500ms", "1h");
    fs::write(folder.path().join("job.toml"), job).unwrap();
    let mut running = Running::start_in(folder, "run job.toml");
    running.wait_for(" window: ");
    running.signal(nix::sys::signal::Signal::SIGINT);
    let outcome = running.wait().ends_with(5);
    let result = outcome.result();
    assert!(result.acceptances.iter().all(|acceptance| acceptance.outcome == Accepted::NotJudged), "{result:?}");
    assert_eq!(result.acceptances[0].points.len(), 2);
    assert!(outcome.stdout.contains("NOT accepted: iops >= 1 (not judged, QD 1: it ended early"), "{}", outcome.stdout);
    let told = "NOT accepted: errors == 0 at 4 (not judged, QD 4: it was not run)";
    assert!(outcome.stdout.contains(told), "{}", outcome.stdout);
    let suites = export::checks(&result);
    assert_eq!(
        suites.iter().map(|suite| suite.name.as_str()).collect::<Vec<_>>(),
        ["point 1 (QD 1)", "point 2 (QD 4)", "run"]
    );
    let not_run = &suites[1].checks[1];
    assert_eq!(not_run.outcome, export::Outcome::Failed("not judged: it was not run".to_owned()));
}

#[test]
fn reads_and_writes_each_have_to_keep_to_a_latency_that_names_neither() {
    let target = ["-t", "sim://?service=100us&write_service=300us", "--read-percent", "50"];
    let outcome = run("accept = ['p50 <= 200us at 4']", &target).ends_with(1);
    let told = "NOT accepted: p50 <= 200us at 4 (300.0 µs of writes at QD 4)";
    assert!(outcome.stdout.contains(told), "{}", outcome.stdout);
    run("accept = ['p50 read <= 200us']", &target).ends_with(0);
}

#[test]
fn what_could_never_be_judged_is_refused_with_its_place_and_remedy() {
    for (accept, says) in [
        ("accept = ['iops => 5']", &["job.toml:1:11: `accept`: ", "`=>` is no relation; write <=, >="][..]),
        ("accept = ['errors == 0',\n 'iops >= 500us']", &["job.toml:2:2: ", "`500us` is not a rate"]),
        ("accept = ['p99 read <= 200k']", &["job.toml:1:11: ", "`200k` is not a duration", "500us"]),
        ("accept = ['MB/s >= 5k']", &["is no bandwidth", "800 MB/s"]),
        ("accept = ['errors <= 1.5']", &["write a whole number"]),
        ("accept = ['cpu <= 200']", &["0 to 100"]),
        ("accept = ['iops == 5']", &["only errors can be held to equality"]),
        ("accept = 'steady'", &["job.toml:1:10: ", "expected a list of what must hold", "found"]),
        ("accept = [5]", &["job.toml:1:11: ", "as a text such as \"iops >= 200k\" or a table"]),
        ("[[accept]]\nthat = 'stedy'", &["job.toml:2:8: `that`: ", "did you mean `steady`"]),
        ("[[accept]]\nat = 1", &["job.toml:1:1: ", "missing field `that`; write such as that = \"iops >= 200k\""]),
        ("[[accept]]\nthat = 'steady'\nwhere = 1", &["job.toml:3:1: ", "unknown field `where`", "that, at"]),
        ("[[accept]]\nthat = 'steady'\nat = 'most'", &["job.toml:3:6: ", "write all, any, or the load"]),
        ("[[accept]]\nthat = 'steady'\nat = 0", &["job.toml:3:6: `at`: expected", "found integer `0`"]),
        ("[[accept]]\nthat = 'steady'\nat = 64", &["job.toml:3:6: ", "no point has the load 64; there are: 1, 4"]),
        ("accept = ['steady at 64']", &["job.toml:1:11: ", "write one of these, all or any"]),
        ("accept = ['oltp/iops >= 5']", &["no workload is named `oltp`; there are: workload-1"]),
        ("accept = ['workload-2/iops >= 5']", &["did you mean `workload-1`?"]),
        ("accept = ['p99 write <= 1ms']", &["no workload writes (`read_percent` is 100); lower", "leave `write` out"]),
        ("accept = ['workload-1/iops write >= 1']", &["`workload-1` never writes", "--read-percent"]),
        ("accept = ['p99 response <= 1ms']", &["a closed loop has no response latency", "--rate"]),
    ] {
        run(accept, &[]).refuses(2, says);
    }
    for (flags, says) in [
        (&["--accept", "iops >= 5ms"][..], "rigel: --accept: `accept`: `iops >= 5ms`: `5ms` is not a rate"),
        (&["--accept", "steady", "--accept", "steady at 8"], "rigel: --accept: `steady at 8`: no point has the load 8"),
        (&["--accept", "p99 read <= 1ms", "--read-percent", "0"], "no workload reads (`read_percent` is 0); raise"),
    ] {
        run("accept = ['errors == 0']", flags).refuses(2, &[says]);
    }
    // A flag that takes away what the job speaks of is the one to name.
    run("accept = ['steady at 4']", &["-q", "1,2", "--time", "1s"]).refuses(2, &["--queue-depth: ", "there are: 1, 2"]);
}

#[test]
fn an_open_loop_is_judged_by_its_rate_and_its_response() {
    let flags = ["--rate", "10k,20k", "--arrivals", "constant", "--accept", "p99 response read <= 101us"];
    run("", &flags).ends_with(0);
    run("", &[&flags[..], &["--accept", "iops >= 19k at 20k"]].concat()).ends_with(0);
}
