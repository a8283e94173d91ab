//! `rigel schema`: the schemas of job and result hold for every file there is, and refuse what the parser refuses.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/figures.rs"]
mod figures;
#[path = "common/kept.rs"]
mod kept;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use cli::rigel;
use jsonschema::Validator;
use proptest::prelude::*;
use rigel::report::{json, schema};
use rigel::spec;
use serde_json::Value;

fn validator(schema: &[u8]) -> Validator {
    let schema: Value = serde_json::from_slice(schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::draft202012::new(&schema).unwrap()
}

/// A job's TOML as JSON, as any converter gives it.
fn as_json(job: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(job).unwrap()).unwrap()
}

#[track_caller]
fn assert_valid(validator: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {}", errors.join("; "));
}

#[test]
fn every_example_is_valid() {
    let schema = validator(&schema::job());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_valid(&schema, &as_json(&fs::read_to_string(&path).unwrap()), &path.display().to_string());
        seen += 1;
    }
    assert!(seen >= 7);
}

#[test]
fn every_result_is_valid_and_so_is_the_job_in_it() {
    let (result_schema, job_schema) = (validator(&schema::result()), validator(&schema::job()));
    let made = [figures::read_sweep(), figures::mixed(), figures::troubled()];
    let texts = made.iter().map(|result| String::from_utf8(json::render(result)).unwrap());
    for text in texts.chain([kept::OPEN, kept::CLOSED].map(kept::text)) {
        let result: Value = serde_json::from_str(&text).unwrap();
        assert_valid(&result_schema, &result, "result");
        assert_valid(&job_schema, &result["job"], "its job");
    }
}

#[test]
fn a_result_with_a_field_missing_or_of_a_wrong_kind_is_not_valid() {
    let schema = validator(&schema::result());
    let result = |change: fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&kept::text(kept::CLOSED)).unwrap();
        change(&mut value);
        value
    };
    assert!(schema.is_valid(&result(|_| {})));
    assert!(schema.is_valid(&result(|value| value["added_later"] = 1.into())));
    assert!(!schema.is_valid(&result(|value| value["schema"] = "1".into())));
    assert!(!schema.is_valid(&result(|value| value["points"][0]["window_s"] = Value::Null)));
    assert!(!schema.is_valid(&result(|value| value["points"][0]["total"]["read"]["completions"] = (-1).into())));
    assert!(!schema.is_valid(&result(|value| drop(value.as_object_mut().unwrap().remove("plan")))));
}

/// The job as the program reads it.
fn parsed(job: &str) -> bool {
    spec::parse(job, "job.toml").is_ok()
}

#[test]
fn what_the_parser_refuses_of_one_value_is_not_valid_either() {
    let schema = validator(&schema::job());
    for job in [
        "nmae = 'x'",
        "target = 5",
        "[[target]]\nname = 'x'",
        "[[target]]\nuri = 'nvme://x'",
        "[[target]]\nuri = 'x'",
        "[[workload]]\nblock_size = 0",
        "[[workload]]\nblock_size = '8x'",
        "[[workload]]\nblock_size = 8.5",
        "[[workload]]\nblock_size = 67108865",
        "[[workload]]\nread_percent = 101",
        "[precondition]\npasses = 0",
        "[precondition]\norder = 'backwards'",
        "[precondition]\npases = 1",
        "[precondition]\nuntil = 'dawn'",
        "[precondition]\nmax_rounds = 4",
        "[[workload]]\naccess = 'zipf-ish'",
        "[[workload]]\naccess = { pattern = 'random', theta = 1 }",
        "[[workload]]\naccess = { pattern = 'zipf' }",
        "[[workload]]\naccess = { pattern = 'zipf', theta = 0 }",
        "[[workload]]\naccess = { pattern = 'pareto', share = 0.5 }",
        "[[workload]]\naccess = { pattern = 'bands', bands = [] }",
        "[[workload]]\naccess = { theta = 1 }",
        "[[workload]]\nblock_size = '4k:60,'",
        "[[workload]]\nblock_size = []",
        "[[workload]]\nblock_size = [{ size = '4k' }]",
        "[[workload]]\nblock_size = '4k'\nread_block_size = '4k'",
        "[[workload]]\nalign = 0",
        "[[workload]]\naccess = 'sequential'\nstart = 101",
        "[[workload]]\nqueue_depth = 0",
        "[[workload]]\nqueue_depth = 1\noutstanding = 2",
        "[[workload]]\nqueue_depth = 1\nrate = 2",
        "[[workload]]\nthink_time = '5'",
        "[[workload]]\nthink_time = { spread = 'exponential' }",
        "[[workload]]\nthink_time = '1ms'\nrate = 2",
        "[[workload]]\nrate = 2\narrivals = 'bursts'",
        "[[workload]]\nrate = 2\narrivals = { pattern = 'bursts', size = 0 }",
        "[[workload]]\nrate = 0",
        "[[workload]]\nrate = '5kk'",
        "[[workload]]\nregion = 'half'",
        "[[workload]]\nread_percent = 0\npayload = 'zeros'",
        "[[workload]]\nread_percent = 0\npayload = { compression = 0.5 }",
        "[[workload]]\nread_percent = 0\npayload = { dedupe = 101 }",
        "[[workload]]\nread_percent = 0\npayload = { unit = 4000 }",
        "[[workload]]\nread_percent = 0\npayload = { scope = 'all' }",
        "[[workload]]\nread_percent = 0\npayload = { ratio = 2 }",
        "[[workload]]\ntargets = []",
        "[[workload]]\ntargets = [-1]",
        "[run]\ntime = 5",
        "[run]\ntime = '5'",
        "[run]\ntime = '5 weeks'",
        "[run]\ncores = 3",
        "[run]\ncores = '1..3'",
        "[run]\nseed = -1",
        "[run]\noverload = 'panic'",
        "[sweep]",
        "[sweep]\nqueue_depth = []",
        "[sweep]\nqueue_depth = [0]",
        "[sweep]\nqueue_depth = [1]\nrate = [1]",
        "destroy = ['']",
        "accept = 'steady'",
        "accept = ['fast']",
        "accept = ['iops >= many']",
        "accept = [5]",
        "accept = [{at = 5}]",
        "accept = [{that = 'steady', at = 0}]",
        "accept = [{that = 'steady', at = 'some'}]",
        "accept = [{that = 'steady', where = 'all'}]",
    ] {
        assert!(!parsed(job), "the parser takes {job:?}");
        assert!(!schema.is_valid(&as_json(job)), "the schema takes {job:?}");
    }
}

fn size() -> impl Strategy<Value = String> {
    prop_oneof!["[1-9][0-9]{0,3} ?(k|K|kb|KiB|m|MiB|b|)".prop_map(|text| format!("'{text}'")), "[1-9][0-9]{0,6}"]
}

fn job_field() -> impl Strategy<Value = String> {
    let workload = prop_oneof![
        size().prop_map(|size| format!("block_size = {size}")),
        prop_oneof![
            "(zipf|pareto|normal) ?: ?[0-9]{0,3}\\.?[0-9]{0,2} ?%?",
            "hot:[0-9]{1,3}%?/ ?[0-9]{1,3}%?",
            "strided: ?[0-9]{1,3}k?"
        ]
        .prop_map(|access| format!("access = '{access}'")),
        "[1-9][0-9]{0,2}k ?: ?60 ?%?, ?[1-9]{1,3}m:40".prop_map(|sizes| format!("block_size = '{sizes}'")),
        (
            "[0-9]{1,3}(\\.[0-9])?",
            "'[0-9]{1,3}%'",
            "(theta|share|accesses|space|deviation)",
            "(zipf|pareto|hot|normal)"
        )
            .prop_map(|(number, text, field, pattern)| {
                format!("access = {{ pattern = '{pattern}', {field} = {number}, space = {text} }}")
            }),
        "[0-9]{1,3}(\\.[0-9])?".prop_map(|share| format!("read_percent = {share}")),
        prop_oneof!["[0-9]{1,10}", "'[0-9]{0,4}\\.?[0-9]{0,3} ?[kKmM]?'"].prop_map(|rate| format!("rate = {rate}")),
        "[0-9]{0,3}%?(-[0-9]{1,3}(k|g|%|GiB| %|))?".prop_map(|region| format!("region = '{region}'")),
        "[0-9]{1,6}".prop_map(|depth| format!("queue_depth = {depth}")),
        ("[0-9]{1,3}(\\.[0-9])?", size()).prop_map(|(ratio, unit)| {
            format!("read_percent = 0\npayload = {{ compression = {ratio}, dedupe = {ratio}, unit = {unit} }}")
        }),
    ];
    let run = prop_oneof![
        "[0-9]{0,3}\\.?[0-9]{0,2} ?(ns|us|µs|ms|s|m|min|h|d)".prop_map(|ramp| format!("ramp = '{ramp}'")),
        " ?[0-9]{1,2} ?(- ?[0-9]{1,2})?(, ?[0-9]{1,4})?".prop_map(|cores| format!("cores = '{cores}'")),
        "[0-9]{1,19}".prop_map(|seed| format!("seed = {seed}")),
    ];
    let accept = prop_oneof![
        "(iops|errors|cpu|MB/s|p99|workload-1/mean read|steady) ?(<=|>=|<|>|==|) ?[0-9]{0,3}\\.?[0-9]? ?(k|M|us|%|MiB/s|)( at (all|any|32|5k))?"
            .prop_map(|text| format!("accept = ['{text}']")),
        "(all|any|32|0|5k|)".prop_map(|at| format!("accept = [{{that = ' steady ', at = '{at}'}}]")),
        "[0-9]{1,2}".prop_map(|at| format!("accept = [{{that = 'steady', at = {at}}}]")),
    ];
    prop_oneof![
        accept,
        workload.prop_map(|field| format!("[[workload]]\n{field}\n")),
        run.prop_map(|field| format!("[run]\n{field}\n"))
    ]
}

proptest! {
    /// The schema is never stricter than the parser.
    #[test]
    fn whatever_the_parser_takes_is_valid(job in job_field()) {
        if parsed(&job) {
            static SCHEMA: LazyLock<Validator> = LazyLock::new(|| validator(&schema::job()));
            assert_valid(&SCHEMA, &as_json(&job), &job);
        }
    }
}

#[test]
fn the_command_prints_the_schema_and_nothing_else() {
    for (of, schema) in [("job", schema::job()), ("result", schema::result())] {
        let outcome = rigel(&format!("schema {of}")).ends_with(0);
        assert_eq!((outcome.stdout.as_bytes(), outcome.stderr.as_str()), (schema.as_slice(), ""));
        assert!(!outcome.stdout.contains("[`"), "links to the source mean nothing to a reader of the schema");
    }
    rigel("schema plan").refuses_usage(&["plan", "job", "result"]);
}
