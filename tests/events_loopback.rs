//! An event that stops a real target: SPDK's on loopback, for 200 ms.

#![cfg(feature = "spdk")]

#[path = "common/array.rs"]
mod array;
#[path = "common/cli.rs"]
mod cli;

use std::fs;

use array::Array;
use cli::Running;
use rigel::result::EventFigures;
use rigel::result::series::{self, SeriesPhase};

const INTERVAL_S: f64 = 0.1;

#[test]
fn a_target_stopped_for_200_ms_is_marked_at_its_time_and_the_figures_around_it_are_those_of_the_series() {
    let array = Array::tcp(&["backing=null"]);
    let pid = array.pid();
    let job = format!(
        "[[target]]\nuri = \"{}\"\n[[workload]]\nqueue_depth = 4\n[run]\nramp = \"300ms\"\ntime = \"2s\"\ninterval = \"100ms\"\n\
         [[event]]\nat = \"1200ms\"\nlabel = \"the target stands still\"\n\
         run = \"kill -STOP {pid}; sleep 0.2; kill -CONT {pid}\"\n",
        array.uri()
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), job).unwrap();
    let outcome = Running::start_in(folder, "run job.toml --out out --no-archive").wait().ends_with(0);
    let read = |name: &str| fs::read_to_string(outcome.folder().join("out").join(name)).unwrap();
    let result = rigel::result::from_json(&read("result.json")).unwrap();
    let event = &result.points[0].events[0];
    let (start_s, end_s) = (event.outcome.start_s.unwrap(), event.outcome.end_s.unwrap());
    assert!((1.2..1.2 + INTERVAL_S).contains(&start_s), "marked at {start_s}");
    let longest_ms =
        |part: &Option<EventFigures>| part.as_ref().unwrap().figures.read.service.as_ref().unwrap().max_ns as f64 / 1e6;
    assert!(longest_ms(&event.during) >= 190.0, "the stall of 200 ms took {} ms", longest_ms(&event.during));
    assert!(longest_ms(&event.before) < 190.0 && longest_ms(&event.after) < 190.0);
    // The same sums from the series, by the rule that the method states.
    let series = series::read(read("series.jsonl").as_bytes()).unwrap();
    let mut sums = [0u64; 3];
    for interval in series.intervals().filter(|interval| interval.phase == SeriesPhase::Window) {
        let part = match () {
            () if interval.end_s <= start_s => 0,
            () if interval.start_s > end_s => 2,
            () => 1,
        };
        sums[part] += interval.workloads[0].read.completions;
    }
    let told = [&event.before, &event.during, &event.after].map(|part| part.as_ref().unwrap().figures.completions);
    assert_eq!(told, sums);
    assert_eq!(told.iter().sum::<u64>(), result.points[0].total.completions);
    let iops = |part: &Option<EventFigures>| part.as_ref().unwrap().figures.iops;
    assert!(iops(&event.during) < iops(&event.before), "{} {}", iops(&event.during), iops(&event.before));
    let marks = read("report.html").matches("the target stands still</text>").count();
    assert!(marks >= 3, "{marks} marks on the charts over time");
}
