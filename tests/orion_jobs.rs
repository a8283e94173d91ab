//! The job that an ORION test stands for: it is a job that Rigel reads, and it says what the format cannot hold.

use rigel::import::orion::{Cell, Command, Dialect, OrionRun, parse, parse_luns};
use rigel::spec::{self, Access, Job, Load, RegionSpec, TargetRef, Volume};
use rigel::units::Bytes;

fn run(line: &str) -> OrionRun {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Ok(Command::Run(options)) = parse(&words, Dialect::V11_2) else { panic!("{line}") };
    OrionRun::new(*options, parse_luns("/dev/sdb\nsim://powermax-read-miss\n", "x.lun").unwrap()).unwrap()
}

/// The jobs of a text: what it is as it stands, and each part that it shows as comments.
fn jobs(text: &str) -> Vec<Job> {
    let mut parts = text.split("# ---- another job: take this line and the leading `# ` below away ----\n");
    let first = parts.next().map(str::to_owned);
    let uncommented = |part: &str| part.lines().map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
    // The first line of a part says what it is and stays a comment.
    let rest = parts.map(|part| uncommented(part.split_once('\n').unwrap().1));
    first.into_iter().chain(rest).map(|part: String| spec::parse(&part, "orion.toml").unwrap()).collect()
}

#[test]
fn an_oltp_test_is_a_sweep_of_small_io() {
    let text = run("-run oltp -testname t -num_disks 2 -duration 30 -write 25").job_toml();
    let [job] = jobs(&text).try_into().unwrap();
    assert_eq!((job.target.len(), job.workload.len()), (2, 1));
    let small = &job.workload[0];
    assert_eq!((small.name.as_deref(), small.block_size()), (Some("small"), Bytes(8192)));
    assert_eq!((small.read_percent(), small.access(), small.region()), (75.0, Access::Random, RegionSpec::Whole));
    assert_eq!((job.run.time().as_secs(), job.run.ramp().as_secs()), (30, 2));
    let points = job.points();
    assert_eq!((points.len(), points[0][0], points[19][0]), (20, Load::Outstanding(2), Load::Outstanding(40)));
    assert!(text.contains("`destroy`"), "{text}");
}

#[test]
fn a_dss_test_is_a_sweep_of_large_io() {
    let [job] = jobs(&run("-run dss -num_disks 3").job_toml()).try_into().unwrap();
    assert_eq!((job.workload[0].name.as_deref(), job.workload[0].block_size()), (Some("large"), Bytes(1 << 20)));
    assert_eq!(job.points(), (1..=6).map(|total| vec![Load::Outstanding(total)]).collect::<Vec<_>>());
}

#[test]
fn a_simple_test_is_two_jobs_and_a_normal_one_three() {
    let simple = jobs(&run("-run simple -num_disks 8").job_toml());
    assert_eq!(simple.iter().map(|job| job.points().len()).collect::<Vec<_>>(), [21, 16]);
    let normal = jobs(&run("-run normal -num_disks 1").job_toml());
    let names: Vec<Vec<String>> = normal.iter().map(Job::workload_names).collect();
    assert_eq!(names, [vec!["small"], vec!["large"], vec!["small", "large"]]);
    let steps = normal[2].steps().unwrap();
    assert_eq!(steps.len(), 10);
    let loads = |at: usize| steps[at].job.points();
    assert_eq!(loads(1), [[Load::Outstanding(2), Load::Outstanding(1)]]);
    assert_eq!(loads(9), [[Load::Outstanding(5), Load::Outstanding(2)]]);
}

#[test]
fn streams_are_sequential_and_their_ios_add_up() {
    let line = "-run advanced -type seq -num_streamIO 8 -matrix point -num_small 3 -num_large 2";
    let striped = run(&format!("{line} -simulate raid0")).job_toml();
    let [job] = jobs(&striped).try_into().unwrap();
    assert_eq!(job.workload_names(), ["small", "large-1", "large-2"]);
    assert_eq!(job.points(), [[Load::Outstanding(3), Load::Outstanding(8), Load::Outstanding(8)]]);
    for workload in &job.workload {
        assert_eq!(workload.volume, Some(Volume::Stripe(Bytes(1 << 20))));
    }
    assert_eq!((job.workload[0].access(), job.workload[1].access()), (Access::Random, Access::Sequential));
    assert!(striped.contains("random I/O for 2m"), "{striped}");
    // Volumes that are joined end to end have a stream each.
    let [job] = jobs(&run(line).job_toml()).try_into().unwrap();
    assert_eq!(job.workload[0].volume, Some(Volume::Concat));
    let targets: Vec<_> = job.workload[1..].iter().map(|stream| stream.targets.clone().unwrap()).collect();
    assert_eq!(targets, [[TargetRef::Index(0)], [TargetRef::Index(1)]]);
}

#[test]
fn the_cache_is_warmed_before_points_with_streams_alone() {
    let of = |line: &str, large: u32| run(line).warm_up_job(Cell { small: 1, large });
    let (job, amount) = of("-run advanced -type seq -cache_size 64", 2).unwrap();
    assert_eq!(
        (amount, job.workload[0].access(), job.workload[0].outstanding),
        (Some(Bytes(64 << 20)), Access::Random, Some(8))
    );
    let (job, amount) = of("-run advanced -type seq -write 40", 1).unwrap();
    assert_eq!((amount, job.run.time().as_secs(), job.workload[0].read_percent()), (None, 120, 60.0));
    for line in ["-run advanced -type seq -cache_size 0", "-run simple", "-run advanced -cache_size 64"] {
        assert_eq!(of(line, 1), None, "{line}");
    }
    assert_eq!(of("-run advanced -type seq", 0), None);
}

#[test]
fn a_point_is_a_job_with_the_workloads_it_has() {
    let run = run("-run normal");
    for (cell, names) in [
        (Cell { small: 2, large: 0 }, vec!["small"]),
        (Cell { small: 0, large: 2 }, vec!["large"]),
        (Cell { small: 2, large: 1 }, vec!["small", "large"]),
    ] {
        assert_eq!(run.cell_job(cell).workload_names(), names);
    }
}

#[test]
fn every_level_and_shape_is_a_job() {
    for line in [
        "-run simple",
        "-run normal -num_disks 50",
        "-run oltp -num_disks 50 -testname a\"b\\c",
        "-run advanced -matrix detailed -type seq -cache_size 0",
        "-run advanced -matrix col -num_small 0 -type seq -cache_size 100",
        "-run advanced -matrix row -num_large 4 -size_small 16",
        "-run advanced -matrix max -num_small 300 -num_large 1",
    ] {
        assert!(!jobs(&run(line).job_toml()).is_empty(), "{line}");
    }
}

#[test]
fn a_secret_is_not_shown() {
    let luns = parse_luns("iscsi://u%s3cret@192.0.2.1/iqn.2001-05.com.example:a/0", "x.lun").unwrap();
    let Ok(Command::Run(options)) = parse(&["-run", "oltp"], Dialect::V11_2) else { panic!() };
    let text = OrionRun::new(*options, luns).unwrap().job_toml();
    assert!(!text.contains("s3cret") && text.contains("Secrets are not shown"), "{text}");
    jobs(&text);
}
