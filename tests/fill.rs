//! `rigel fill`: every block of the region exactly so many times, whatever interrupts it, and nothing beside the region.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/counting.rs"]
mod counting;

use std::fs;
use std::time::Duration;

use cli::{Running, rigel};
use counting::CountingBackend;
use nix::sys::signal::Signal;
use rigel::driver::Backend;
use rigel::engine;
use rigel::fill::{FillError, Filling, Outcome, State, Told};
use rigel::plan::PlanError;
use rigel::spec::{self, Job};
use serde_json::Value;

/// A job that fills all targets as `precondition` says, with some more fields of `[run]`.
fn job(targets: usize, precondition: &str, run: &str) -> Job {
    let targets = "[[target]]\nuri = \"null://1t\"\n".repeat(targets);
    let text = format!("{targets}[run]\n{run}\n[precondition]\n{precondition}\n");
    spec::parse(&text, "test").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn filling(backend: &CountingBackend, precondition: &str, run: &str) -> Result<Filling, FillError> {
    let job = job(backend.facts.len(), precondition, run);
    Filling::of(&job, &backend.facts, &[0, 1, 2, 3, 4])
}

/// Runs what `state` has left.
fn go_on(backend: &CountingBackend, filling: &Filling, state: &mut State) -> Outcome {
    let clock = backend.clock().unwrap();
    let mut drive = |plan: &_, control: &_, tell: &mut dyn FnMut(engine::Event<'_>)| {
        engine::run(backend, plan, &clock, control, tell)
    };
    filling.run(state, (&clock, true), backend.control(), &mut drive, &mut |_| {}).unwrap()
}

/// Fills to the end and checks that the blocks of each span, and no other, were written `passes` times.
#[track_caller]
fn assert_fills(blocks: &[u64], precondition: &str, run: &str, passes: u32, spans: &[(u64, u64)]) {
    let backend = CountingBackend::new(blocks);
    let filling = filling(&backend, precondition, run).unwrap_or_else(|error| panic!("{precondition}: {error}"));
    let filling = filling.in_slices_of(Duration::from_micros(700));
    let mut state = State::new(filling.what().clone());
    assert_eq!(go_on(&backend, &filling, &mut state), Outcome::Done, "{precondition}");
    assert!(state.is_done());
    let expected: u64 = spans.iter().map(|(first, end)| (end - first) * 512 * u64::from(passes)).sum();
    assert_eq!((state.bytes, filling.bytes_per_pass() * u64::from(passes)), (expected, expected), "{precondition}");
    for (target, &(first, end)) in spans.iter().enumerate() {
        assert_written(&backend, target, &(first..end), passes, precondition);
    }
}

#[track_caller]
fn assert_written(backend: &CountingBackend, target: usize, span: &std::ops::Range<u64>, passes: u32, what: &str) {
    for (block, &count) in (0u64..).zip(&backend.written(target)) {
        let expected = if span.contains(&block) { passes } else { 0 };
        assert_eq!(count, expected, "block {block} of target {target}: {what}");
    }
}

#[test]
fn every_block_is_written_so_many_times_on_any_number_of_cores() {
    for order in ["sequential", "random"] {
        for cores in ["0", "0-1", "0-4"] {
            for (passes, depth) in [(1, 32), (3, 5)] {
                let precondition = format!(
                    "order = \"{order}\"\npasses = {passes}\nqueue_depth = {depth}\nblock_size = \"4k\"\nregion = \"whole\""
                );
                let run = format!("cores = \"{cores}\"");
                assert_fills(&[8 * 1_500], &precondition, &run, passes, &[(0, 8 * 1_500)]);
                assert_fills(&[8 * 300, 8 * 77], &precondition, &run, passes, &[(0, 8 * 300), (0, 8 * 77)]);
            }
        }
    }
}

#[test]
fn a_permutation_too_large_to_shuffle_is_exact_too() {
    let precondition = "order = \"random\"\nblock_size = \"512\"\npasses = 2";
    assert_fills(&[20_011], precondition, "cores = \"0-2\"", 2, &[(0, 20_011)]);
}

#[test]
fn the_ends_of_an_odd_region_are_written_and_nothing_beside_it() {
    for order in ["sequential", "random"] {
        for (blocks, region, span) in [
            (1_001, "whole", (0, 1_001)),
            (1_001, "10%-90%", (101, 900)),
            (1_000, "1536-200k", (3, 400)),
            // Less than a block, within one and across two.
            (1_000, "512-2k", (1, 4)),
            (1_000, "3584-5k", (7, 10)),
            (1_000, "4k-8k", (8, 16)),
            (5, "whole", (0, 5)),
            (8, "whole", (0, 8)),
            (9, "whole", (0, 9)),
        ] {
            let precondition = format!("order = \"{order}\"\nregion = \"{region}\"\nblock_size = \"4k\"\npasses = 2");
            assert_fills(&[blocks], &precondition, "cores = \"0-3\"", 2, &[span]);
        }
    }
    let precondition = "block_size = \"4k\"\nregion = \"10%-90%\"\npayload = { compression = 2, unit = \"4k\" }";
    assert_fills(&[1_001, 33], precondition, "cores = \"0-1\"", 1, &[(101, 900), (4, 29)]);
}

#[test]
fn an_interrupted_fill_goes_on_where_it_stopped() {
    for (number, order) in ["sequential", "random"].into_iter().cycle().take(6).enumerate() {
        let backend = CountingBackend::new(&[8 * 9_000 + 3]);
        let precondition = format!("order = \"{order}\"\npasses = 2\nqueue_depth = 4\nblock_size = \"4k\"");
        let run = ["cores = \"0\"", "cores = \"0-2\""][number / 2 % 2];
        let filling = filling(&backend, &precondition, run).unwrap();
        let mut state = State::new(filling.what().clone());
        let mut interruptions = 0;
        for round in 1.. {
            backend.interrupt_after(1_000 + 777 * (round + number as u64) % 2_500);
            // A process of its own knows no more than the file.
            state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
            state.continues(filling.what()).unwrap();
            match go_on(&backend, &filling, &mut state) {
                Outcome::Done => break,
                Outcome::Interrupted => interruptions += 1,
                failed @ Outcome::Failed(_) => panic!("{failed:?}"),
            }
            let written: u64 = backend.written(0).iter().map(|count| u64::from(*count)).sum();
            assert_eq!(state.bytes, written * 512, "what is recorded is what was written");
        }
        assert!(interruptions > 1, "{interruptions} interruptions");
        assert_written(&backend, 0, &(0..8 * 9_000 + 3), 2, &precondition);
    }
}

#[test]
fn a_killed_fill_writes_the_slice_in_hand_again_and_misses_nothing() {
    let backend = CountingBackend::new(&[8 * 3_000]);
    let filling = filling(&backend, "block_size = \"4k\"\norder = \"random\"\npasses = 2", "cores = \"0-1\"").unwrap();
    let filling = filling.in_slices_of(Duration::from_micros(300));
    let (clock, mut state, mut kept) = (backend.clock().unwrap(), State::new(filling.what().clone()), None);
    let mut drive = |plan: &_, control: &_, tell: &mut dyn FnMut(engine::Event<'_>)| {
        engine::run(&backend, plan, &clock, control, tell)
    };
    backend.interrupt_after(4_000);
    let control = backend.control();
    let mut keep = |told: Told<'_>| match told {
        // The file is one slice behind when the process is killed.
        Told::Slice(state) if state.bytes < (8 * 3_000 * 512) / 2 => kept = Some(state.clone()),
        _ => {}
    };
    let _ = filling.run(&mut state, (&clock, true), control, &mut drive, &mut keep).unwrap();
    let mut kept: State = kept.expect("a slice");
    assert!(kept.bytes > 0 && kept.bytes < state.bytes, "{kept:?}");
    let repeated = (state.bytes - kept.bytes) / 512;
    assert_eq!(go_on(&backend, &filling, &mut kept), Outcome::Done);
    let written = backend.written(0);
    assert!(written.iter().all(|count| *count >= 2), "every block in both passes");
    assert_eq!(written.iter().map(|count| u64::from(*count)).sum::<u64>(), 2 * 8 * 3_000 + repeated);
}

#[test]
fn a_slice_with_a_failed_write_does_not_count() {
    let backend = CountingBackend::new(&[8 * 2_000]);
    let filling = filling(&backend, "block_size = \"4k\"", "").unwrap().in_slices_of(Duration::from_micros(500));
    let mut state = State::new(filling.what().clone());
    backend.fail_after(1_700);
    let Outcome::Failed(why) = go_on(&backend, &filling, &mut state) else { panic!("it must not pass") };
    assert!(why.contains("did not end well"), "{why}");
    assert!(state.bytes < 1_700 * 4096 && !state.is_done(), "{state:?}");
    assert_eq!(go_on(&backend, &filling, &mut state), Outcome::Done);
    assert!(backend.written(0).iter().all(|count| *count >= 1));
}

#[test]
fn the_state_of_another_fill_is_refused_with_the_difference() {
    let backend = CountingBackend::new(&[8 * 100]);
    let base = filling(&backend, "block_size = \"4k\"", "").unwrap();
    let state = State::new(base.what().clone());
    state.continues(base.what()).unwrap();
    for (precondition, run, named) in [
        ("block_size = \"8k\"", "", "`block_size` was"),
        ("block_size = \"4k\"\npasses = 2", "", "`passes` was 1 and is 2"),
        ("block_size = \"4k\"\norder = \"random\"", "", "`order` was \"sequential\" and is \"random\""),
        ("block_size = \"4k\"\nregion = \"50%\"", "", "`region` was \"whole\" and is \"0%-50%\""),
        ("block_size = \"4k\"\npayload = \"zeroes\"", "", "`payload` was"),
        ("block_size = \"4k\"", "seed = 2", "`seed` was 1 and is 2"),
        ("block_size = \"4k\"", "cores = \"0-1\"", "(they follow from --cores"),
    ] {
        let other = filling(&backend, precondition, run).unwrap();
        let error = state.continues(other.what()).unwrap_err().to_string();
        assert!(error.contains(named) && error.contains("another fill"), "{precondition} {run}: {error}");
    }
    let other = filling(&CountingBackend::new(&[8 * 101]), "block_size = \"4k\"", "").unwrap();
    assert!(state.continues(other.what()).unwrap_err().to_string().contains("`targets` was"));
}

#[test]
fn as_many_streams_in_another_order_are_another_fill() {
    let backend = CountingBackend::new(&[8 * 100, 8 * 100, 8 * 100]);
    let [two, one] =
        ["cores = \"0-1\"", "cores = \"0\""].map(|run| filling(&backend, "block_size = \"4k\"", run).unwrap());
    assert_eq!(two.what().streams.len(), one.what().streams.len());
    let error = State::new(two.what().clone()).continues(one.what()).unwrap_err().to_string();
    assert!(error.contains("`streams` was"), "{error}");
}

#[test]
fn a_target_that_may_hold_data_is_not_filled_unless_told() {
    let mut backend = CountingBackend::new(&[8 * 100, 8 * 100]);
    backend.facts[1].volatile = false;
    let Err(FillError::Plan(PlanError::WriteRefused(text))) = filling(&backend, "", "") else { panic!("refused") };
    assert!(text.contains("counting 1") && text.contains("--destroy C1"), "{text}");
    assert!(!text.contains("--read-percent"), "a fill has no such flag: {text}");
    let mut told = job(2, "", "");
    told.destroy = vec!["C1".to_owned()];
    assert!(Filling::of(&told, &backend.facts, &[0]).is_ok());
}

#[test]
fn workloads_say_what_is_filled_unless_they_differ() {
    let backend = CountingBackend::new(&[8 * 100]);
    let of = |workloads: &str| {
        let text = format!("[[target]]\nuri = \"null://1t\"\n{workloads}");
        Filling::of(&spec::parse(&text, "test").unwrap(), &backend.facts, &[0])
    };
    let one = "[[workload]]\nregion = \"50%\"\nread_percent = 50\npayload = \"zeroes\"\n";
    let filling = of(one).unwrap();
    assert_eq!(filling.what().region, "0%-50%");
    assert_eq!(filling.payload(), Some(rigel::plan::PayloadPlan::Zeroes));
    assert_eq!(of(&format!("{one}[[workload]]\n")).unwrap_err(), FillError::Differ("region"));
    let other = "[[workload]]\nregion = \"50%\"\nread_percent = 0\n";
    assert_eq!(of(&format!("{one}{other}")).unwrap_err(), FillError::Differ("payload"));
}

#[test]
fn bad_input_is_refused_with_field_and_remedy() {
    for (flags, parts) in [
        ("", &["rigel: ", "--target"][..]),
        ("-t null://1g --passes 0", &["--passes", "1 to 1000"]),
        ("-t null://1g --passes some", &["--passes", "number of passes"]),
        ("-t null://1g --order randm", &["--order", "did you mean `random`", "sequential"]),
        ("-t null://1g --region 2g", &["--region", "ends beyond", "1g"]),
        ("-t null://1g --region 90%-10%", &["--region", "empty"]),
        ("-t null://1g --block-size 1000", &["block", "512"]),
        ("-t null://1g --block-size 4k:60,8k:40", &["--block-size"]),
        ("-t null://1g --queue-depth 0", &["--queue-depth"]),
        ("-t null://1g --payload half", &["--payload", "zeroes"]),
        ("-t null://1g -b 4k --payload unit=8k", &["`unit` 8k", "--block-size"]),
        ("-t null://1g --cores 99999", &["--cores"]),
        ("-t null://1g --state missing/state", &["missing/state", "--state"]),
    ] {
        rigel(&format!("fill {flags}")).refuses(2, parts);
    }
    rigel("fill -t null://1g --again").refuses_usage(&["--state"]);
}

#[test]
fn a_finished_fill_says_so_and_is_not_repeated_unless_told() {
    let line = "fill -t sim://constant-100us?size=1g -t sim://constant-100us?size=64m --passes 2 --order random -b 1m --state state.json --quiet";
    let outcome = Running::start(line).wait().ends_with(0);
    assert!(outcome.stdout.starts_with("done: 2 of 2 passes done, 2.3 GB written in "), "{}", outcome.stdout);
    let state: Value = serde_json::from_str(&fs::read_to_string(outcome.folder().join("state.json")).unwrap()).unwrap();
    assert_eq!((&state["passes_done"], &state["bytes"]), (&2.into(), &(2u64 * (1088 << 20)).into()));
    let again = |flags: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(outcome.folder().join("state.json"), folder.path().join("state.json")).unwrap();
        Running::start_in(folder, &format!("{line} {flags}")).wait()
    };
    let repeated = again("").ends_with(0);
    assert!(repeated.stdout.starts_with("done: done already"), "{}", repeated.stdout);
    assert!(again("--again").ends_with(0).stdout.starts_with("done: 2 of 2"));
    again("--seed 2").refuses(2, &["`seed` was 1 and is 2", "another fill"]);
    let json = again("--json --again").ends_with(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["outcome"], &json["already"], &json["passes_done"]), (&"done".into(), &false.into(), &2.into()));
}

#[test]
fn an_interruption_ends_with_its_code_and_the_same_command_goes_on() {
    let line = "fill -t null://900t --payload zeroes --trust-clock --state state.json";
    let mut running = Running::start(line);
    running.wait_for("filled ");
    running.signal(Signal::SIGINT);
    let first = running.wait().ends_with(5);
    assert!(
        first.stdout.contains("interrupted: 0 of 1 pass done") && first.stdout.contains("goes on"),
        "{}",
        first.stdout
    );
    let state = fs::read_to_string(first.folder().join("state.json")).unwrap();
    let bytes = |state: &str| serde_json::from_str::<Value>(state).unwrap()["bytes"].as_u64().unwrap();
    assert!(bytes(&state) > 0);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("state.json"), &state).unwrap();
    let mut running = Running::start_in(folder, line);
    running.wait_for("going on: ");
    running.wait_for("filled ");
    running.signal(Signal::SIGINT);
    let second = running.wait().ends_with(5);
    assert!(bytes(&fs::read_to_string(second.folder().join("state.json")).unwrap()) > bytes(&state));
}

#[test]
fn what_was_done_before_a_kill_stands_in_the_state() {
    let line = "fill -t null://900t --payload zeroes --trust-clock --state state.json";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    let mut running = Running::start_in(folder, line);
    let bytes =
        || serde_json::from_str::<Value>(&fs::read_to_string(&path).unwrap()).unwrap()["bytes"].as_u64().unwrap();
    running.wait_for("filled ");
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while bytes() == 0 {
        assert!(std::time::Instant::now() < end, "no slice was kept");
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal(Signal::SIGKILL);
    assert!(bytes() > 0);
}

#[test]
fn a_run_fills_its_targets_first_and_keeps_what_was_done() {
    let job = "[[target]]\nuri = \"sim://constant-100us?size=1g\"\n[run]\ntime = \"100ms\"\nramp = \"0s\"\n\
               [precondition]\npasses = 2\norder = \"random\"\nregion = \"50%\"\nblock_size = \"1m\"\n";
    let run = |flags: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("job.toml"), job).unwrap();
        Running::start_in(folder, &format!("run job.toml --no-archive {flags}")).wait()
    };
    let outcome = run("").ends_with(0);
    assert!(outcome.stderr.contains("filling the targets first: 1.1 GB in all, 2 times"), "{}", outcome.stderr);
    let result = outcome.result();
    let done = result.precondition.as_ref().unwrap();
    assert_eq!((done.passes, done.passes_done, done.bytes, done.region.as_str()), (2, 2, 1 << 30, "0%-50%"));
    assert!(done.seconds > 0.0 && (done.bytes_per_s * done.seconds / done.bytes as f64 - 1.0).abs() < 1e-9);
    assert_eq!(result.points.len(), 1);
    assert!(!result.verdicts.iter().any(|verdict| verdict.contains("filled")), "{:?}", result.verdicts);
    run("--set precondition.passes=0").refuses(2, &["precondition.passes", "1 to 1000"]);
    run("--set precondition.pases=2").refuses(2, &["pases", "did you mean `passes`"]);
}

#[test]
fn a_run_that_is_interrupted_while_it_fills_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let job = "[[target]]\nuri = \"null://900t\"\n[run]\ntrust_clock = true\n[precondition]\npayload = \"zeroes\"\n";
    fs::write(folder.path().join("job.toml"), job).unwrap();
    let mut running = Running::start_in(folder, "run job.toml --no-archive");
    running.wait_for("filled ");
    running.signal(Signal::SIGINT);
    let result = running.wait().ends_with(5).result();
    assert!(result.points.is_empty() && result.precondition.as_ref().unwrap().bytes > 0);
    let told = "the targets were not filled as asked for: 0 of 1 passes were done";
    assert!(result.verdicts.iter().any(|verdict| verdict == told), "{:?}", result.verdicts);
}

#[test]
fn random_writes_go_on_until_five_rounds_are_steady_or_there_are_enough() {
    let run = |target: &str, more: &str| {
        let folder = tempfile::tempdir().unwrap();
        let job = format!(
            "[[target]]\nuri = \"{target}&size=64m\"\n[run]\ntime = \"10ms\"\nramp = \"0s\"\n[precondition]\n{more}\n"
        );
        fs::write(folder.path().join("job.toml"), job).unwrap();
        Running::start_in(folder, "run job.toml --no-archive").wait()
    };
    let until = "until = \"steady\"\nround_time = \"20ms\"\nqueue_depth = 4";
    let outcome = run("sim://?service=100us&servers=8", until).ends_with(0);
    let steady = outcome.result().precondition.unwrap().steady.unwrap();
    assert!(steady.reached && steady.iops.len() == 5, "{steady:?}");
    assert!(steady.iops.iter().all(|iops| (iops / 40_000.0 - 1.0).abs() < 0.01), "{steady:?}");
    assert!(outcome.stderr.contains("round 5 of at most 25"), "{}", outcome.stderr);
    // Each round is another run of the model, whose speed differs by about half.
    let outcome = run("sim://?service=100us&servers=8&spread=50%", &format!("{until}\nmax_rounds = 6")).ends_with(0);
    let result = outcome.result();
    let steady = result.precondition.as_ref().unwrap().steady.as_ref().unwrap();
    assert!(!steady.reached && steady.iops.len() == 6, "{steady:?}");
    let told = |verdict: &String| verdict.starts_with("the targets were not steady after 6 rounds of random writes (");
    assert!(result.verdicts.iter().any(told), "{:?}", result.verdicts);
    run("sim://?service=100us", "max_rounds = 7").refuses(2, &["`max_rounds`", "until = \"steady\""]);
    run("sim://?service=100us", "until = \"stedy\"").refuses(2, &["stedy", "did you mean `steady`"]);
    run("sim://?service=100us", "until = \"steady\"\nmax_rounds = 4").refuses(2, &["max_rounds", "5 to 1000"]);
}

#[cfg(feature = "spdk")]
#[test]
fn a_target_behind_spdk_is_filled_to_both_ends() {
    let line = "fill -t malloc://16MiB --trust-clock --passes 2 --order random --region 10%-90% --json --quiet";
    let outcome = rigel(line).ends_with(0);
    let done: Value = serde_json::from_str(&outcome.stdout).unwrap();
    // From the first whole block of 512 bytes to the last.
    let (first, end) = ((16u64 << 20) / 10 / 512 + 1, (16u64 << 20) * 9 / 10 / 512);
    assert_eq!((&done["outcome"], &done["bytes"]), (&"done".into(), &(2 * 512 * (end - first)).into()));
}
