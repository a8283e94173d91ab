//! The job files of `examples/`: each is understood as it stands, and those that need no device run through the program.

#[cfg(feature = "spdk")]
#[path = "common/array.rs"]
mod array;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rigel::spec::{Job, Uri, parse};

/// What makes an example end soon.
const SHORT: [&str; 7] = ["--time", "200ms", "--ramp", "10ms", "--interval", "100ms", "--quiet"];

/// Every example, by file name, in order.
fn examples() -> Vec<(PathBuf, Job)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 8, "{paths:?}");
    let read = |path: PathBuf| {
        assert_eq!(path.extension().unwrap(), "toml", "{}", path.display());
        let job = parse(&fs::read_to_string(&path).unwrap(), &path.display().to_string());
        (path, job.unwrap_or_else(|error| panic!("{error}")))
    };
    paths.into_iter().map(read).collect()
}

/// Whether every target is made for the run, by this build.
fn runs_anywhere(job: &Job) -> bool {
    let everywhere = |uri: &Uri| matches!(uri, Uri::Sim(_) | Uri::Null { .. });
    let with_spdk = |uri: &Uri| cfg!(feature = "spdk") && matches!(uri, Uri::Malloc(_));
    job.target.iter().all(|target| everywhere(&target.uri) || with_spdk(&target.uri))
}

#[test]
fn every_example_is_a_job_that_says_what_it_is() {
    for (path, job) in examples() {
        let place = path.display();
        assert!(fs::read_to_string(&path).unwrap().starts_with("# "), "{place}: begins with what it shows");
        assert!(!job.target.is_empty() && !job.workload.is_empty(), "{place}");
        let template = ["iscsi.toml", "pcie.toml"].iter().any(|name| path.ends_with(name));
        let says_so = job.name.expect("a name").starts_with("EDIT ME");
        assert_eq!(says_so, template, "{place}: a template says so in its name, and so in every report");
        assert!(job.destroy.is_empty(), "{place}: no example destroys anything");
    }
}

#[test]
fn the_examples_on_simulated_and_made_up_targets_run() {
    let mut ran = 0;
    for (path, job) in examples().iter().filter(|(_, job)| runs_anywhere(job)) {
        let folder = tempfile::tempdir().unwrap();
        let mut rigel = Command::new(env!("CARGO_BIN_EXE_rigel"));
        rigel.arg("run").arg(path).args(SHORT).arg("--out");
        let output = rigel.arg(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", path.display());
        let result: serde_json::Value =
            serde_json::from_slice(&fs::read(folder.path().join("result.json")).unwrap()).unwrap();
        let points = result["points"].as_array().unwrap().len();
        match &job.search {
            Some(search) => assert!((3..=search.tries() as usize).contains(&points), "{}: {points}", path.display()),
            None => assert_eq!(points, job.points().len(), "{}", path.display()),
        }
        assert_eq!(result["job"]["name"].as_str(), job.name.as_deref());
        ran += 1;
    }
    assert!(ran >= 3, "{ran}");
}

#[test]
fn the_quick_start_drives_the_array_that_the_script_makes() {
    let (_, job) = examples().into_iter().find(|(path, _)| path.ends_with("quickstart.toml")).unwrap();
    let Uri::NvmeTcp(target) = &job.target[0].uri else { panic!("{}", job.target[0].uri) };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/loopback-array.sh");
    let script = fs::read_to_string(script).unwrap();
    assert!(script.contains(&format!("\nnqn={}\n", target.nqn)));
    assert_eq!((target.host.as_str(), target.port, target.ns), ("127.0.0.1", 4420, 1));
}

#[cfg(feature = "spdk")]
#[test]
fn the_examples_of_workloads_run_on_the_loopback_array() {
    let array = array::Array::tcp(&["backing=malloc", "size_mib=64"]);
    let of_one = |job: &Job| matches!(&job.target[..], [target] if matches!(target.uri, Uri::NvmeTcp(_)));
    assert!(run_on(&array, of_one) >= 12);
}

#[cfg(feature = "spdk")]
#[test]
fn the_examples_of_several_volumes_run_on_the_loopback_array() {
    let array = array::Array::tcp(&["backing=null", "namespaces=8"]);
    let of_eight = |job: &Job| job.target.len() == 8 && matches!(job.target[0].uri, Uri::NvmeTcp(_));
    assert!(run_on(&array, of_eight) >= 1);
}

/// Runs the examples that `wanted` says on an array; returns how many there are.
#[cfg(feature = "spdk")]
fn run_on(array: &array::Array, wanted: impl Fn(&Job) -> bool) -> usize {
    let mut ran = 0;
    for (path, job) in examples().into_iter().filter(|(_, job)| wanted(job)) {
        let folder = tempfile::tempdir().unwrap();
        let mut rigel = Command::new(env!("CARGO_BIN_EXE_rigel"));
        rigel.arg("run").arg(&path).args(SHORT).arg("--out").arg(folder.path());
        rigel.args(["--no-archive", "--destroy", "RIGEL-LOOPBACK-1"]);
        for uri in &array.uris[..job.target.len()] {
            rigel.args(["--target", uri]);
        }
        let output = rigel.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", path.display());
        ran += 1;
    }
    ran
}
