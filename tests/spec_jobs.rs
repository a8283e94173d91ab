//! Job files and the flags over them: what is read, what is printed back, and what is refused where.

use std::time::Duration;

use proptest::prelude::*;
use rigel::spec::{
    Accept, Access, Arrivals, Band, Job, Load, Op, Overrides, RATE_MAX, RegionSpec, SizeMix, Target, TargetRef,
    ThinkSpread, ThinkTime, Workload, parse,
};
use rigel::units::Bytes;

const OLTP: &str = r#"# rising load on one volume
name = "OLTP 8k 70/30"
[[target]]
uri = "nvme-tcp://127.0.0.1:4420/nqn.2026-11.io.rigel:demo?ns=1"
[[workload]]
name = "oltp"
block_size = "8k"
read_percent = 70
access = "random"
queue_depth = 32
[run]
ramp = "5s"
time = "30s"
interval = "1s"
cores = "1-3"
[sweep]
queue_depth = [1, 2, 4, 8, 16, 32, 64]
"#;

fn error(text: &str) -> String {
    parse(text, "job.toml").unwrap_err().to_string()
}

fn with(overrides: Overrides) -> Job {
    let mut job = parse(OLTP, "oltp.toml").unwrap();
    job.apply(overrides).unwrap_or_else(|error| panic!("{error}"));
    job
}

fn flag_error(overrides: Overrides) -> String {
    let mut job = parse(OLTP, "oltp.toml").unwrap();
    let before = job.clone();
    let error = job.apply(overrides).unwrap_err().to_string();
    assert_eq!(job, before, "a refused option changed the job");
    error
}

fn set(assignments: &[&str]) -> Overrides {
    Overrides { set: assignments.iter().map(|s| (*s).to_owned()).collect(), ..Overrides::default() }
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let job = parse(OLTP, "oltp.toml").unwrap();
    let workload = &job.workload[0];
    assert_eq!(job.target[0].uri.scheme(), "nvme-tcp");
    assert_eq!(
        (workload.block_size(), workload.read_percent(), workload.access()),
        (Bytes(8192), 70.0, Access::Random)
    );
    assert_eq!((job.run.ramp(), job.run.time()), (Duration::from_secs(5), Duration::from_secs(30)));
    assert_eq!(job.run.cores.as_ref().unwrap().numbers(), [1, 2, 3]);
    let loads: Vec<_> = job.points().into_iter().flatten().collect();
    assert_eq!(loads, [1, 2, 4, 8, 16, 32, 64].map(Load::QueueDepth));
}

#[test]
fn an_empty_job_is_a_4k_random_read_at_queue_depth_32() {
    let job = parse("", "job.toml").unwrap();
    let workloads = job.workloads();
    assert_eq!(job.workload_names(), ["workload-1"]);
    assert_eq!((workloads[0].block_size(), workloads[0].read_percent()), (Bytes(4096), 100.0));
    assert_eq!((workloads[0].access(), workloads[0].region()), (Access::Random, RegionSpec::Whole));
    assert_eq!(job.points(), [[Load::QueueDepth(32)]]);
    assert_eq!((job.run.ramp().as_secs(), job.run.time().as_secs(), job.run.interval().as_secs()), (2, 10, 1));
}

#[test]
fn the_default_interval_fits_into_a_short_run() {
    let job = parse("run.time = \"300ms\"", "job.toml").unwrap();
    assert_eq!(job.run.interval(), Duration::from_millis(300));
}

#[test]
fn a_job_prints_as_it_was_written() {
    let job = parse(OLTP, "oltp.toml").unwrap();
    let printed = toml::to_string(&job).unwrap();
    let written: Vec<&str> = OLTP.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let printed_lines: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(printed_lines, written);
}

#[test]
fn one_identity_or_a_list_may_be_typed() {
    assert_eq!(parse("destroy = \"S1\"", "j").unwrap().destroy, ["S1"]);
    assert_eq!(parse("destroy = [\"S1\", \"iqn.x:0\"]", "j").unwrap().destroy, ["S1", "iqn.x:0"]);
    assert!(error("destroy = \"\"").contains("none of them empty"));
    assert!(error("destroy = [\"S1\", \" \"]").starts_with("job.toml:1:18: "));
}

#[test]
fn workloads_refer_to_targets_by_name_and_by_number() {
    let targets = "[[target]]\nuri = \"null://1g\"\nname = \"a\"\n[[target]]\nuri = \"null://2g\"\n";
    let job = parse(&format!("{targets}[[workload]]\ntargets = [1, \"a\"]\n"), "j").unwrap();
    assert_eq!(job.targets_of(&job.workload[0]), Ok(vec![0, 1]));
    let refused = |refs: &str| error(&format!("{targets}[[workload]]\ntargets = {refs}\n"));
    assert_eq!(refused("[2]"), "job.toml:7:11: the job has no target 2; it has 2, and they are counted from 0");
    assert!(refused("[\"b\"]").contains("no target is named `b`"));
    assert!(refused("[0, \"a\"]").contains("listed twice"));
    assert!(refused("[]").contains("the list is empty"));
    assert!(refused("[-1]").contains("a target's name, or its number from 0"));
}

#[test]
fn misspelt_fields_name_the_nearest_with_line_and_column() {
    for (text, start, part) in [
        (
            "[[workload]]\n  quue_depth = 4\n",
            "job.toml:2:3: ",
            "unknown field `quue_depth` (did you mean `queue_depth`?)",
        ),
        ("[[workload]]\nqueue_depth = 4\nblocksize = \"4k\"\n", "job.toml:3:1: ", "(did you mean `block_size`?)"),
        ("[run]\ntiem = \"5s\"\n", "job.toml:2:1: ", "(did you mean `time`?)"),
        ("[[target]]\nurl = \"null://1g\"\n", "job.toml:2:1: ", "(did you mean `uri`?)"),
        ("name = \"x\"\n\n[sweeep]\n", "job.toml:3:2: ", "(did you mean `sweep`?)"),
        ("[sweep]\ndepth = [1]\n", "job.toml:2:1: ", "(did you mean `queue_depth`?)"),
        (
            "run = { frequency = 1 }\n",
            "job.toml:1:9: ",
            "fields known here: ramp, time, interval, cores, seed, overload, out",
        ),
    ] {
        let error = error(text);
        assert!(error.starts_with(start) && error.contains(part), "{text}: {error}");
    }
}

#[test]
fn wrong_values_are_refused_in_plain_words_with_line_and_column() {
    for (text, start, part) in [
        ("[run]\ntime = \"5 weeks\"", "job.toml:2:8: `time`: ", "write a number with its unit, such as 500us"),
        ("[run]\ntime = 5", "job.toml:2:8: `time`: ", "expected a duration with its unit, such as \"30s\""),
        ("[run]\ntime = \"0s\"", "job.toml:2:8: ", "nothing would be measured"),
        ("[run]\ntime = \"31d\"", "job.toml:2:8: `time`: ", "30 days"),
        ("[run]\ntime = \"2s\"\ninterval = \"3s\"", "job.toml:3:12: ", "`interval` (3s) is longer than `time` (2s)"),
        ("[run]\ninterval = \"0s\"", "job.toml:2:12: ", "less than 1ms"),
        ("[run]\ncores = \"3-1\"", "job.toml:2:9: `cores`: ", "write 1-3"),
        ("[run]\ncores = 2", "job.toml:2:9: `cores`: ", "such as \"1-3\""),
        ("[run]\nseed = -1", "job.toml:2:8: `seed`: ", "a whole number of 0 to"),
        ("run = 5", "job.toml:1:7: `run`: ", "expected a table of fields"),
        ("name = 5", "job.toml:1:8: `name`: ", "expected a text in quotes"),
        (
            "[[workload]]\nqueue_depth = \"many\"",
            "job.toml:2:15: `queue_depth`: ",
            "1 to 65535, such as 32; found string \"many\"",
        ),
        ("[[workload]]\nqueue_depth = 0", "job.toml:2:15: `queue_depth`: ", "found integer `0`"),
        ("[[workload]]\nqueue_depth = 65536", "job.toml:2:15: `queue_depth`: ", "1 to 65535"),
        ("[[workload]]\nqueue_depth = 4.0", "job.toml:2:15: `queue_depth`: ", "floating point"),
        ("[[workload]]\noutstanding = 0", "job.toml:2:15: `outstanding`: ", "1 to 1048576"),
        ("[[workload]]\nread_percent = 101", "job.toml:2:16: `read_percent`: ", "0 to 100, such as 70"),
        ("[[workload]]\nread_percent = -0.5", "job.toml:2:16: `read_percent`: ", "0 to 100, such as 70"),
        ("[[workload]]\nread_percent = nan", "job.toml:2:16: `read_percent`: ", "0 to 100, such as 70"),
        ("[[workload]]\naccess = \"rndom\"", "job.toml:2:10: `access`: ", "(did you mean `random`?)"),
        ("[[workload]]\nblock_size = \"8x\"", "job.toml:2:14: `block_size`: ", "such as 512, 8k, 1m"),
        ("[[workload]]\nblock_size = 0", "job.toml:2:14: `block_size`: ", "1 byte to 64m"),
        ("[[workload]]\nblock_size = \"65m\"", "job.toml:2:14: `block_size`: ", "1 byte to 64m"),
        ("[[workload]]\nregion = \"2g-1g\"", "job.toml:2:10: `region`: ", "is empty"),
        ("[workload]\nqueue_depth = 1", "job.toml:1:1: `workload`: ", "double brackets, such as [[workload]]"),
        ("[[target]]\nname = \"a\"", "job.toml:1:1: ", "missing field `uri`"),
        ("[[target]]\nuri = \"nvme-tpc://h/nqn\"", "job.toml:2:7: `uri`: ", "(did you mean `nvme-tcp`?)"),
        ("[[target]]\nuri = 4420", "job.toml:2:7: `uri`: ", "expected a target URI, such as"),
        ("[sweep]\nqueue_depth = []", "job.toml:2:15: `queue_depth`: ", "the sweep is empty"),
        ("[sweep]\nqueue_depth = 4", "job.toml:2:15: `queue_depth`: ", "a list of queue depths, such as [1, 2, 4, 8]"),
        ("[sweep]\nqueue_depth = [1,\n 0]", "job.toml:3:2: `queue_depth`: ", "found integer `0`"),
        ("[sweep]\n", "job.toml:1:1: ", "steps through nothing"),
        ("[sweep]\nrate = [\"1k\", \"5x\"]", "job.toml:2:15: `rate`: ", "not a rate; write whole I/Os a second"),
        ("[[workload]]\nrate = 0", "job.toml:2:8: `rate`: ", "a rate of 1 to 1000000000 I/Os a second"),
        ("[[workload]]\nrate = -5", "job.toml:2:8: `rate`: ", "a rate of 1 to 1000000000 I/Os a second"),
        ("[[workload]]\nrate = \"2000M\"", "job.toml:2:8: `rate`: ", "a rate of 1 to 1000000000 I/Os a second"),
        ("[[workload]]\nrate = \"0.5\"", "job.toml:2:8: `rate`: ", "whole I/Os a second"),
        ("[[workload]]\nrate = 1.5", "job.toml:2:8: `rate`: ", "a rate of 1 to 1000000000 I/Os a second"),
        ("[[workload]]\nrate = 5\narrivals = \"poison\"", "job.toml:3:12: `arrivals`: ", "(did you mean `poisson`?)"),
        ("[[workload]]\nrate = 5\nmax_outstanding = 0", "job.toml:3:19: `max_outstanding`: ", "found integer `0`"),
        ("[run]\noverload = \"halt\"", "job.toml:2:12: `overload`: ", "\"stop\" or \"continue\""),
        ("[run]\ntrust_clock = \"yes\"", "job.toml:2:15: `trust_clock`: ", "true or false"),
        ("name = \"é\" x", "job.toml:1:12: ", "not valid TOML"),
        ("a = 1\na = 2", "job.toml:2:1: ", "duplicate key"),
        ("name = \"x", "job.toml:1:10: ", "not valid TOML"),
    ] {
        let error = error(text);
        assert!(error.starts_with(start) && error.contains(part), "{text}: {error}");
    }
}

#[test]
fn fields_that_contradict_each_other_are_refused_at_one_of_them() {
    for (text, start, part) in [
        ("[[workload]]\nqueue_depth = 1\noutstanding = 2", "job.toml:3:15: ", "exclude each other"),
        ("[[workload]]\nname = \"a\"\n[[workload]]\nname = \"a\"", "job.toml:4:8: ", "has the name `a` of workload 0"),
        ("[[workload]]\n[[workload]]\nname = \"workload-1\"", "job.toml:3:8: ", "its own name"),
        ("[[workload]]\nname = \"\"", "job.toml:2:8: ", "the name is empty"),
        ("[sweep]\nqueue_depth = [1]\noutstanding = [2]", "job.toml:3:15: ", "exclude each other"),
        ("[[workload]]\noutstanding = 2\n[sweep]\nqueue_depth = [1]", "job.toml:4:15: ", "given as `outstanding`"),
        (
            "[[workload]]\nqueue_depth = 2\nrate = 5",
            "job.toml:3:8: ",
            "`rate` (arrivals a second, whatever the target does) and `queue_depth`",
        ),
        (
            "[[workload]]\nrate = 5\noutstanding = 2",
            "job.toml:2:8: ",
            "to limit what an open loop has outstanding, write `max_outstanding`",
        ),
        ("[[workload]]\narrivals = \"poisson\"", "job.toml:2:12: ", "there is no rate; write `rate` (--rate)"),
        ("[[workload]]\nmax_outstanding = 9", "job.toml:2:19: ", "there is no rate"),
        ("[[workload]]\nqueue_depth = 2\n[sweep]\nrate = [1]", "job.toml:4:8: ", "given as `queue_depth`"),
        ("[sweep]\nqueue_depth = [1]\nrate = [2]", "job.toml:3:8: ", "exclude each other"),
        ("[[workload]]\nqueue_depth = 2\n[sweep]\noutstanding = [1]", "job.toml:4:15: ", "given as `queue_depth`"),
    ] {
        let error = error(text);
        assert!(error.starts_with(start) && error.contains(part), "{text}: {error}");
    }
    let twice = "[[target]]\nuri = \"null://1g\"\nname = \"v\"\n".repeat(2);
    assert!(error(&twice).starts_with("job.toml:6:8: target 1 has the name `v` of target 0"));
}

#[test]
fn a_sweep_has_a_limit_to_its_points() {
    let sweep = |points: usize| format!("sweep.queue_depth = [{}]", "1,".repeat(points));
    assert_eq!(parse(&sweep(10_000), "j").unwrap().points().len(), 10_000);
    assert!(error(&sweep(10_001)).contains("more than 10000 points"));
}

#[test]
fn no_form_of_a_job_and_no_error_shows_a_secret() {
    let text = "[[target]]\nuri = \"iscsi://me%s3cret@h/iqn.x/0\"\n";
    let job = parse(text, "j").unwrap();
    let mut changed = job.clone();
    changed.apply(set(&["run.time=5s"])).unwrap();
    assert_eq!(changed.target, job.target, "the secret got lost on the way");
    for shown in [toml::to_string(&job).unwrap(), serde_json::to_string(&job).unwrap(), format!("{changed:?}")] {
        assert!(shown.contains("me") && !shown.contains("s3cret"), "{shown}");
    }
    for text in [
        "target = \"iscsi://me%s3cret@h/iqn.x/0\"",
        "[[target]]\nuri = \"iscsi://me%s3cret@h/iqn.x/zero\"",
        "[[target]]\nuri = \"iscsi://me%s3cret\"",
        "[[target]]\nuri = [\"iscsi://me%s3cret@h\"]",
        "name = \"x\"\ntarget = \"iscsi://me%s3cret\"",
    ] {
        assert!(!error(text).contains("s3cret"), "{}", error(text));
    }
    let target = vec!["iscsi://me%s3cret@h/iqn.x".to_owned()];
    assert!(!flag_error(Overrides { target, ..Overrides::default() }).contains("s3cret"));
    assert!(!flag_error(set(&["target=iscsi://me%s3cret@h"])).contains("s3cret"));
    assert!(!flag_error(set(&["target.0.url=iscsi://me%s3cret@h"])).contains("s3cret"));
    assert!(!flag_error(set(&["target.0.uri:iscsi://me%s3cret@h/iqn.x/0?sessions=1"])).contains("s3cret"));
}

#[test]
fn flags_override_fields_of_every_workload() {
    let text = "[[workload]]\nname = \"a\"\nblock_size = \"8k\"\n[[workload]]\nname = \"b\"\noutstanding = 4\n";
    let mut job = parse(text, "j").unwrap();
    let some = |text: &str| Some(text.to_owned());
    job.apply(Overrides {
        target: vec!["null://1g".into(), "null://2g".into()],
        block_size: some("16k"),
        read_percent: some("50"),
        access: some("sequential"),
        queue_depth: some("7"),
        region: some("10%-20%"),
        ramp: some("0s"),
        time: some("3s"),
        interval: some("500ms"),
        cores: some("0,2"),
        seed: some("9"),
        out: some("results/7"),
        destroy: vec!["S1".into()],
        ..Overrides::default()
    })
    .unwrap();
    assert_eq!(job.target.len(), 2);
    for workload in &job.workload {
        assert_eq!((workload.block_size(), workload.read_percent()), (Bytes(16384), 50.0));
        assert_eq!((workload.access(), workload.load()), (Access::Sequential, Load::QueueDepth(7)));
        assert_eq!(workload.region(), RegionSpec::Percent { first: 10.0, end: 20.0 });
    }
    assert_eq!((job.run.ramp(), job.run.time()), (Duration::ZERO, Duration::from_secs(3)));
    assert_eq!((job.run.interval(), job.run.seed()), (Duration::from_millis(500), 9));
    assert_eq!(job.run.cores.as_ref().unwrap().numbers(), [0, 2]);
    assert_eq!((job.run.out.as_deref(), &job.destroy[..]), (Some("results/7"), &["S1".to_owned()][..]));
}

#[test]
fn flags_alone_make_a_job() {
    let mut job = Job::default();
    let target = vec!["sim://powermax-read-miss".to_owned()];
    job.apply(Overrides { target, block_size: Some("8k".into()), ..Overrides::default() }).unwrap();
    assert_eq!((job.target.len(), job.workloads().len()), (1, 1));
    assert_eq!(job.workloads()[0].block_size(), Bytes(8192));
    job.apply(set(&["workload.0.read_percent=30"])).unwrap();
    assert_eq!(job.workloads()[0].read_percent(), 30.0);
}

#[test]
fn load_flags_replace_load_and_sweep_and_a_list_makes_a_sweep() {
    let one = with(Overrides { queue_depth: Some("4".into()), ..Overrides::default() });
    assert_eq!(one.points(), [[Load::QueueDepth(4)]]);
    let many = with(Overrides { queue_depth: Some("1,2, 4".into()), ..Overrides::default() });
    assert_eq!(many.points(), [1, 2, 4].map(|depth| [Load::QueueDepth(depth)]));
    let total = with(Overrides { outstanding: Some("64".into()), ..Overrides::default() });
    assert_eq!(total.points(), [[Load::Outstanding(64)]]);
    let totals = with(Overrides { outstanding: Some("8,16".into()), ..Overrides::default() });
    assert_eq!(totals.points(), [8, 16].map(|total| [Load::Outstanding(total)]));
}

#[test]
fn set_reaches_fields_by_name_and_by_number() {
    let job = with(set(&[
        "workload.oltp.read_percent=100",
        "workload.0.block_size=16k",
        "run.time=5s",
        "target.0.uri=null://1g",
        "target.0.name=vol",
        "sweep.queue_depth=[3, 5]",
        "name=\"quoted\"",
        "destroy=S1ABC",
    ]));
    assert_eq!((job.workload[0].read_percent(), job.workload[0].block_size()), (100.0, Bytes(16384)));
    assert_eq!((job.run.time(), job.name.as_deref()), (Duration::from_secs(5), Some("quoted")));
    assert_eq!((job.target[0].uri.scheme(), job.target[0].name.as_deref()), ("null", Some("vol")));
    assert_eq!(job.points(), [[Load::QueueDepth(3)], [Load::QueueDepth(5)]]);
    assert_eq!(job.destroy, ["S1ABC"]);
}

#[test]
fn a_name_with_dots_can_be_set() {
    let mut job = parse("[[workload]]\nname = \"a\"\n[[workload]]\nname = \"a.b\"\n", "j").unwrap();
    job.apply(set(&["workload.a.b.queue_depth=5"])).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(job.points(), [[Load::QueueDepth(32), Load::QueueDepth(5)]]);
}

#[test]
fn faults_of_flags_name_the_flag() {
    let some = |text: &str| Some(text.to_owned());
    let none = Overrides::default;
    for (overrides, start, part) in [
        (Overrides { block_size: some("8x"), ..none() }, "--block-size: ", "not a size"),
        (Overrides { read_percent: some("seventy"), ..none() }, "--read-percent: ", "0 to 100, such as 70"),
        (Overrides { access: some("seq"), ..none() }, "--access: ", "\"random\", \"sequential\""),
        (Overrides { queue_depth: some("0"), ..none() }, "--queue-depth: ", "1 to 65535"),
        (Overrides { queue_depth: some("1,x"), ..none() }, "--queue-depth: ", "found string \"x\""),
        (Overrides { queue_depth: some("1,"), ..none() }, "--queue-depth: ", "1 to 65535"),
        (Overrides { outstanding: some("many"), ..none() }, "--outstanding: ", "1 to 1048576"),
        (Overrides { queue_depth: some("1"), outstanding: some("1"), ..none() }, "--outstanding: ", "--queue-depth"),
        (Overrides { region: some("half"), ..none() }, "--region: ", "not a region"),
        (Overrides { time: some("5"), ..none() }, "--time: ", "not a duration"),
        (Overrides { time: some("500ms"), ..none() }, "--time: ", "`interval` (1s) is longer than `time` (500ms)"),
        (Overrides { interval: some("1h"), ..none() }, "--interval: ", "is longer than `time`"),
        (Overrides { cores: some("a"), ..none() }, "--cores: ", "\"1-3\""),
        (Overrides { seed: some("x"), ..none() }, "--seed: ", "whole number"),
        (Overrides { target: vec!["icsi://h/x/0".into()], ..none() }, "--target: ", "did you mean `iscsi`?"),
        (Overrides { destroy: vec![String::new()], ..none() }, "--destroy: ", "none of them empty"),
        (set(&["run.tiem=5s"]), "--set run.tiem: ", "did you mean `time`?"),
        (set(&["rnu.time=5s"]), "--set rnu.time: ", "did you mean `run`?"),
        (set(&["workload.olpt.read_percent=1"]), "--set workload.olpt.read_percent: ", "did you mean `oltp`?"),
        (set(&["workload.1.read_percent=1"]), "--set workload.1.read_percent: ", "no workload `1`"),
        (set(&["workload.oltp=1"]), "--set workload.oltp: ", "name the field"),
        (set(&["workload.oltp.queue_depth=1"]), "--set workload.oltp.queue_depth: ", "the sweep replaces"),
        (set(&["workload.oltp.read_percent=200"]), "--set workload.oltp.read_percent: ", "0 to 100"),
        (set(&["run.time.unit=s"]), "--set run.time.unit: ", "`time` holds no fields"),
        (set(&["run.time"]), "--set run.time: ", "write PATH=VALUE"),
        (set(&["=5"]), "--set : ", "write PATH=VALUE"),
        (set(&["sweep.outstanding=[1]"]), "--set sweep.outstanding: ", "exclude each other"),
        (set(&["target.0=x"]), "--set target.0: ", "name the field"),
    ] {
        let error = flag_error(overrides);
        assert!(error.starts_with(start) && error.contains(part), "{error}");
    }
}

#[test]
fn the_last_flag_for_a_field_is_the_one_named() {
    let both = Overrides { time: Some("5s".into()), ..set(&["run.time=0s"]) };
    assert!(flag_error(both).starts_with("--set run.time: "));
}

/// The access of a job with these fields of its one workload.
fn access(fields: &str) -> Result<Access, String> {
    let job = parse(&format!("[[workload]]\n{fields}"), "job.toml").map_err(|error| error.to_string())?;
    Ok(job.workload[0].access())
}

#[test]
fn a_pattern_is_written_as_text_or_as_a_table() {
    for (text, table) in [
        ("\"strided:64k\"", "{ pattern = \"strided\", stride = \"64k\" }"),
        ("\"zipf:0.99\"", "{ pattern = \"zipf\", theta = 0.99 }"),
        ("\"pareto:0.2\"", "{ pattern = \"pareto\", share = \"20%\" }"),
        ("\"normal:10%\"", "{ pattern = \"normal\", deviation = \"10%\" }"),
        ("\"hot:80/20\"", "{ pattern = \"hot\", accesses = \"80%\", space = 20 }"),
        ("\"random\"", "{ pattern = \"random\" }"),
    ] {
        let one = access(&format!("access = {text}")).unwrap();
        assert_eq!(Ok(one), access(&format!("access = {table}")), "{text}");
    }
    assert_eq!(access("no_repeat = true"), Ok(Access::Permutation));
    assert_eq!(access("access = \"random\"\nno_repeat = false"), Ok(Access::Random));
}

#[test]
fn fields_that_do_not_belong_to_a_pattern_are_refused_with_field_and_remedy() {
    let table = |fields: &str| access(&format!("access = {{ {fields} }}")).unwrap_err();
    for (fields, words) in [
        (
            "pattern = \"random\", stride = \"64k\"",
            &["`stride` belongs to the pattern strided", "leave `stride` out"][..],
        ),
        ("pattern = \"sequential\", theta = 1", &["`theta` belongs to the pattern zipf"]),
        ("pattern = \"zipf\"", &["needs `theta`", "theta = 0.99"]),
        ("pattern = \"zipf\", theta = 0", &["`theta` is 0", "above 0"]),
        ("pattern = \"zipf\", thteta = 1.1", &["unknown field `thteta`", "did you mean `theta`"]),
        ("pattern = \"pareto\", share = \"60%\"", &["`share` is 0.6", "below 0.5"]),
        ("pattern = \"hot\", accesses = \"80%\"", &["needs `space`"]),
        ("pattern = \"hot\", accesses = 80, space = \"120%\"", &["`space`", "120%"]),
        ("pattern = \"normal\", deviation = \"10%\", moves = \"1s\"", &["`moves` belongs to the pattern hot"]),
        ("theta = 0.99", &["lacks `pattern`"]),
        (
            "pattern = \"bands\", bands = [{ accesses = 50, region = \"0%-5%\" }, { accesses = 40, region = \"5%-9%\" }]",
            &["add up to 90 %", "100 %"],
        ),
        (
            "pattern = \"bands\", bands = [{ accesses = 50, region = \"0%-5%\" }, { accesses = 50, region = \"4%-9%\" }]",
            &["bands 0 and 1 overlap"],
        ),
        ("pattern = \"bands\", bands = [{ accesses = 100, region = \"1g\" }]", &["band 0", "\"0%-5%\""]),
    ] {
        let text = table(fields);
        words.iter().for_each(|word| assert!(text.contains(word), "{word:?} is not in {text:?}"));
    }
    for (fields, words) in [
        ("access = \"zipf:x\"", &["`x`", "not a number"][..]),
        ("access = \"random:5\"", &["`random` takes no `:5`"]),
        ("access = \"hot:80\"", &["hot:80/20"]),
        ("access = \"zpif\"", &["did you mean `zipf`"]),
        ("access = \"sequential\"\nno_repeat = true", &["`no_repeat` belongs to random access"]),
        ("start = \"50%\"", &["`start` belongs to sequential"]),
        ("access = \"sequential\"\nstart = \"100%\"", &["below 100 %"]),
        ("block_size = \"4k\"\nwrite_block_size = \"8k\"", &["exclude each other", "--block-size replaces"]),
    ] {
        let text = access(fields).unwrap_err();
        words.iter().for_each(|word| assert!(text.contains(word), "{word:?} is not in {text:?}"));
    }
}

#[test]
fn the_flags_of_sizes_and_access_replace_what_would_contradict_them() {
    let text = "[[workload]]\nread_block_size = \"4k\"\nwrite_block_size = \"64k\"\nno_repeat = true\n";
    let mut job = parse(text, "job.toml").unwrap();
    let flags =
        Overrides { block_size: Some("4k:60,64k:40".into()), access: Some("hot:80/20".into()), ..Overrides::default() };
    job.apply(flags).unwrap();
    let workload = &job.workload[0];
    assert_eq!(workload.sizes(Op::Write).to_string(), "4k:60,64k:40");
    assert_eq!(workload.access(), "hot:80/20".parse().unwrap());
    let wrong = Overrides { access: Some("zipf:-1".into()), ..Overrides::default() };
    assert!(job.apply(wrong).unwrap_err().to_string().starts_with("--access: "));
}

fn any_uri() -> impl Strategy<Value = String> {
    let block_size = prop_oneof![Just("512"), Just("4096")];
    prop_oneof![
        (1u32..9, 0u32..0x100).prop_map(|(ns, bus)| format!("nvme-pcie://0000:{bus:02x}:00.0?ns={ns}")),
        ("[a-z][a-z0-9.]{0,20}", 1u16.., "[a-z0-9:.-]{1,40}", 1u32..99)
            .prop_map(|(host, port, nqn, ns)| format!("nvme-tcp://{host}:{port}/{nqn}?ns={ns}")),
        ("[a-z]{1,8}", 0u32..16_384, 1u32..=64)
            .prop_map(|(iqn, lun, sessions)| format!("iscsi://user@[::1]:3260/{iqn}/{lun}?sessions={sessions}")),
        (1u64..1 << 20, block_size.clone(), 0u64..5000, 0u64..5000).prop_map(|(mib, block_size, read, more)| {
            let p99 = read + more;
            format!("malloc://{mib}m?block_size={block_size}&read_latency={read}us&p99_read_latency={p99}us")
        }),
        (1u64..1 << 20, block_size).prop_map(|(mib, block_size)| format!("null://{mib}m?block_size={block_size}")),
        (1u64..1 << 30, 1u32..5000, 0u32..=1000, 1u64..9999, 1u64..=1 << 40).prop_map(|(ns, servers, hit, at, mib)| {
            let hit = f64::from(hit) / 10.0;
            format!("sim://?service=exp:{ns}ns&servers={servers}&hit={hit}&stall={at}ms:1s&size={mib}m&block_size=4k")
        }),
    ]
}

fn any_workload(targets: usize) -> impl Strategy<Value = Workload> {
    let targets = proptest::option::of(proptest::sample::subsequence((0..targets).collect::<Vec<_>>(), 1..=targets));
    let load = prop_oneof![
        Just(Workload::default()),
        (1u32..=65_535, proptest::option::of((1u64..1 << 46, any::<bool>()))).prop_map(|(depth, think)| {
            let spread = |exponential| if exponential { ThinkSpread::Exponential } else { ThinkSpread::Constant };
            let think_time = think.map(|(ns, exponential)| {
                let mean = Duration::from_nanos(ns);
                ThinkTime { mean, spread: spread(exponential) }
            });
            Workload { queue_depth: Some(depth), think_time, ..Workload::default() }
        }),
        (1u32..=1_048_576).prop_map(|total| Workload { outstanding: Some(total), ..Workload::default() }),
        (1u64..=RATE_MAX, proptest::option::of(0u32..=1_048_576), proptest::option::of(1u32..=1_048_576)).prop_map(
            |(rate, size, max_outstanding)| {
                let arrivals = size.map(|size| match size {
                    0 => Arrivals::Poisson,
                    1 => Arrivals::Constant,
                    size => Arrivals::Bursts { size },
                });
                Workload { rate: Some(rate), arrivals, max_outstanding, ..Workload::default() }
            }
        ),
    ];
    let region = prop_oneof![
        Just(RegionSpec::Whole),
        (0u64..1 << 50, 1u64..1 << 50)
            .prop_map(|(first, size)| RegionSpec::Bytes { first: Bytes(first), end: Bytes(first + size) }),
        (0.0..50.0f64, 50.1..100.0f64).prop_map(|(first, end)| RegionSpec::Percent { first, end }),
    ];
    let percent = || (1u32..1000).prop_map(|tenths| f64::from(tenths) / 10.0);
    let access = prop_oneof![
        Just(Access::Random),
        Just(Access::Sequential),
        Just(Access::Permutation),
        (1u64..1 << 40).prop_map(|stride| Access::Strided { stride: Bytes(stride) }),
        (0.001..20.0f64, any::<bool>()).prop_map(|(theta, scatter)| Access::Zipf { theta, scatter }),
        (0.001..0.499f64, any::<bool>()).prop_map(|(share, scatter)| Access::Pareto { share, scatter }),
        percent().prop_map(|deviation_percent| Access::Normal { deviation_percent }),
        (percent(), percent(), proptest::option::of(1u64..1 << 50)).prop_map(
            |(accesses_percent, space_percent, ns)| {
                Access::Hot { accesses_percent, space_percent, moves: ns.map(Duration::from_nanos) }
            }
        ),
        percent().prop_map(|share| {
            let band =
                |accesses_percent, first_percent, end_percent| Band { accesses_percent, first_percent, end_percent };
            Access::Bands(vec![band(share, 50.0, 62.5), band(100.0 - share, 0.0, 50.0)])
        }),
    ];
    let sizes = prop_oneof![
        (1u64..=64 << 20).prop_map(|size| SizeMix::from(Bytes(size))),
        (1u32..100, 1u64..4096, 4096u64..=64 << 20).prop_map(|(share, small, great)| format!(
            "{small}:{share},{great}:{}",
            100 - share
        )
        .parse()
        .unwrap()),
    ];
    let fields = (
        targets,
        (proptest::option::of(sizes), any::<bool>(), proptest::option::of(1u64..=64 << 20)),
        proptest::option::of((0u32..=1000).prop_map(|tenths| f64::from(tenths) / 10.0)),
        proptest::option::of(access),
        load,
        proptest::option::of(region),
    );
    fields.prop_map(|(targets, (sizes, of_all, align), read_percent, access, load, region)| Workload {
        targets: targets.map(|targets| targets.into_iter().map(TargetRef::Index).collect()),
        block_size: sizes.clone().filter(|_| of_all),
        write_block_size: sizes.filter(|_| !of_all),
        align: align.map(Bytes),
        read_percent,
        start: access.as_ref().filter(|access| access.is_stream()).map(|_| 12.5),
        no_repeat: (access == Some(Access::Random)).then_some(of_all),
        access,
        region,
        ..load
    })
}

/// Something that any job may have to fulfil, whatever its workloads.
fn any_accept() -> impl Strategy<Value = Accept> {
    let bound = prop_oneof![
        (1u64..1 << 50).prop_map(|rate| format!("iops >= {rate}")),
        (1u64..1 << 50).prop_map(|ns| format!("p99.99 < {ns}ns")),
        (0u32..1 << 20).prop_map(|mib| format!("MB/s > {mib}.25 MiB/s")),
        (0.0..100.0).prop_map(|share| format!("cpu <= {share}")),
        any::<u32>().prop_map(|errors| format!("errors == {errors}")),
        Just("steady".to_owned()),
    ];
    (bound, proptest::bool::ANY)
        .prop_map(|(bound, any)| format!("{bound}{}", if any { " at any" } else { "" }).parse().unwrap())
}

prop_compose! {
    fn any_job()(uris in proptest::collection::vec(any_uri(), 1..5))(
        workload in proptest::collection::vec(any_workload(uris.len()), 0..4),
        uris in Just(uris),
        name in proptest::option::of(".{0,20}"),
        destroy in proptest::collection::vec("[A-Z0-9]{1,20}", 0..3),
        accept in proptest::collection::vec(any_accept(), 0..4),
        ramp in proptest::option::of(0u64..1 << 40),
        time in proptest::option::of(1_000_000_000u64..1 << 50),
        cores in proptest::option::of(proptest::collection::btree_set(0usize..64, 1..9)),
        seed in proptest::option::of(0..=i64::MAX as u64),
    ) -> Job {
        let mut job = Job { name, destroy, accept, workload, ..Job::default() };
        job.target = uris.iter().map(|uri| Target { uri: uri.parse().unwrap(), name: None }).collect();
        job.target[0].name = Some("first one".to_owned());
        job.run.ramp = ramp.map(Duration::from_nanos);
        job.run.time = time.map(Duration::from_nanos);
        job.run.cores = cores.map(|cores| {
            cores.iter().map(usize::to_string).collect::<Vec<_>>().join(",").parse().unwrap()
        });
        job.run.seed = seed;
        job
    }
}

proptest! {
    #[test]
    fn a_printed_job_reads_back_as_the_same_job(job in any_job()) {
        let printed = toml::to_string(&job).unwrap();
        let read = parse(&printed, "printed.toml");
        prop_assert_eq!(read.as_ref(), Ok(&job), "{}", printed);
        let json = serde_json::to_string(&job).unwrap();
        prop_assert_eq!(serde_json::from_str::<Job>(&json).unwrap(), job);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-z\\[\\]=\" .,0-9\n{}é]{0,60}") {
        let _ = parse(&text, "job.toml").map_err(|error| error.to_string());
    }

    #[test]
    fn applying_no_option_changes_nothing(mut job in any_job()) {
        let before = job.clone();
        job.apply(Overrides::default()).unwrap();
        prop_assert_eq!(job, before);
    }
}
