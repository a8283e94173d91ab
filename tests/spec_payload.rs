//! The payload in a job and by its flag: what is read, what is printed back, and what is refused where.

use rigel::facts::DeviceFacts;
use rigel::plan::{PayloadPlan, ReductionPlan, Scope, resolve};
use rigel::spec::{Job, Overrides, PayloadSpec, parse};
use rigel::units::Bytes;

fn job(workload: &str) -> String {
    format!("[[target]]\nuri = \"null://1g\"\n[[workload]]\nread_percent = 0\n{workload}\n")
}

fn with_flag(workload: &str, payload: &str) -> Result<Job, String> {
    let mut job = parse(&job(workload), "job.toml").unwrap();
    let overrides = Overrides { payload: Some(payload.to_owned()), ..Overrides::default() };
    job.apply(overrides).map(|()| job).map_err(|error| error.to_string())
}

/// The payload that the plan makes of a job.
fn planned(job: &Job) -> Option<PayloadPlan> {
    let target = DeviceFacts {
        uri: "null://1g".into(),
        driver: "null".into(),
        model: String::new(),
        serial: String::new(),
        firmware: String::new(),
        identities: Vec::new(),
        block_size: 512,
        blocks: 1 << 21,
        max_io_bytes: 0,
        max_queue_depth: 0,
        queue_pair_depth: 0,
        volatile: true,
        supports: rigel::facts::Supports::ALL,
    };
    resolve(job, &[target], &[0, 1]).unwrap().workloads[0].payload
}

fn made(compression: f64, dedupe: f64, unit: u64, scope: Scope) -> Option<PayloadPlan> {
    Some(PayloadPlan::Made(ReductionPlan { compression, dedupe, unit: Bytes(unit), scope }))
}

#[test]
fn what_is_left_out_is_incompressible_and_unique() {
    let of = |workload: &str| planned(&parse(&job(workload), "job.toml").unwrap());
    assert_eq!(of(""), made(1.0, 1.0, 4096, Scope::Global));
    assert_eq!(of("block_size = 2048"), made(1.0, 1.0, 2048, Scope::Global));
    assert_eq!(of("block_size = \"64k\"\npayload = { dedupe = 2 }"), made(1.0, 2.0, 4096, Scope::Global));
    let all = "block_size = \"16k\"\npayload = { compression = 2.5, dedupe = 1.5, unit = \"8k\", scope = \"target\" }";
    assert_eq!(of(all), made(2.5, 1.5, 8192, Scope::Target));
    assert_eq!(of("payload = \"zeroes\""), Some(PayloadPlan::Zeroes));
    let reads = parse(&job("").replace("read_percent = 0", ""), "job.toml").unwrap();
    assert_eq!(planned(&reads), None);
}

#[test]
fn the_flag_says_the_same_as_the_field() {
    let flag = with_flag("block_size = \"8k\"", "compression=2, dedupe=1.5,unit=8k").unwrap();
    let field = job("block_size = \"8k\"\npayload = { compression = 2, dedupe = 1.5, unit = \"8k\" }");
    assert_eq!(flag.workload, parse(&field, "job.toml").unwrap().workload);
    let zeroes = with_flag("payload = { dedupe = 2 }", "zeroes").unwrap();
    assert_eq!(zeroes.workload[0].payload, Some(PayloadSpec::Zeroes));
    let mut set = parse(&job(""), "job.toml").unwrap();
    set.apply(Overrides { set: vec!["workload.0.payload.dedupe=3".into()], ..Overrides::default() }).unwrap();
    assert_eq!(planned(&set), made(1.0, 3.0, 4096, Scope::Global));
}

#[test]
fn a_printed_payload_reads_back() {
    for payload in ["\"zeroes\"", "{ compression = 2.5 }", "{ dedupe = 4.0, unit = \"4KiB\", scope = \"target\" }"] {
        let read = parse(&job(&format!("payload = {payload}")), "job.toml").unwrap();
        assert_eq!(parse(&toml::to_string(&read).unwrap(), "again.toml").unwrap(), read);
    }
}

#[test]
fn what_cannot_be_is_refused_with_place_and_remedy() {
    for (payload, says) in [
        ("{ compression = 0.5 }", "`compression`: expected a ratio N:1 of 1 to 100, such as 2.5"),
        ("{ compression = nan }", "a ratio N:1 of 1 to 100"),
        ("{ dedupe = inf }", "`dedupe`: expected a ratio N:1 of 1 to 100"),
        ("{ dedupe = 101 }", "`dedupe`: expected a ratio N:1 of 1 to 100"),
        ("{ dedupe = \"2:1\" }", "a ratio N:1 of 1 to 100"),
        ("{ unit = 4000 }", "`unit`: 4000 is not a multiple of 512 bytes; write one, such as \"4k\""),
        ("{ unit = \"8k\" }", "`unit` 8k does not divide the block size, 4k"),
        ("{ unit = 3072 }", "such as \"4k\""),
        ("{ compresion = 2 }", "unknown field `compresion` (did you mean `compression`?)"),
        ("{ scope = \"globl\" }", "did you mean `global`?"),
        ("\"zeros\"", "`payload`: expected \"zeroes\", or ratios such as { compression = 2.0"),
        ("2", "`payload`: expected \"zeroes\", or ratios"),
    ] {
        let error = parse(&job(&format!("payload = {payload}")), "job.toml").unwrap_err().to_string();
        assert!(error.contains(says) && error.starts_with("job.toml:5:"), "{payload}: {error}");
    }
}

#[test]
fn a_payload_of_a_job_that_only_reads_is_refused() {
    let reads = job("payload = { dedupe = 2 }").replace("read_percent = 0", "read_percent = 100");
    let error = parse(&reads, "job.toml").unwrap_err().to_string();
    assert!(error.contains("this job writes nothing") && error.contains("--read-percent"), "{error}");
}

#[test]
fn faults_of_the_flag_name_the_flag() {
    for (payload, says) in [
        ("compression=0.9", "a ratio N:1 of 1 to 100"),
        ("compression=2,dedupe", "`dedupe` is no KEY=VALUE"),
        ("dedupe=2,dedupe=3", "`dedupe` is given twice"),
        ("ratio=2", "unknown field `ratio`"),
        ("unit=3k", "does not divide the block size"),
        ("ones", "\"zeroes\", or ratios"),
    ] {
        let error = with_flag("", payload).unwrap_err();
        assert!(error.starts_with("--payload: ") && error.contains(says), "{payload}: {error}");
    }
}
