//! The exports as programs of other people read them: HdrHistogram of another language, Prometheus' own parser and
//! promtool, a JUnit reader, fio's tools, a validator of JSON Schema. Each must read the figures of the result.
//!
//! The readers are Python's, in an environment of their own below the target folder that is made once. Where there is no
//! Python or no network to make it, the tests are skipped and say why.

#[path = "common/cli.rs"]
mod cli;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use cli::Running;

/// Two tests must not make one environment at once.
static ENVIRONMENT: Mutex<()> = Mutex::new(());

fn readers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers")
}

/// The interpreter of an environment that has all readers; an error says why there is none.
fn python() -> Result<PathBuf, String> {
    let _one = ENVIRONMENT.lock();
    let wanted = fs::read_to_string(readers().join("requirements.txt")).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readers");
    let (python, complete) = (folder.join("bin/python"), folder.join("complete"));
    if fs::read_to_string(&complete).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let run = |command: &mut Command| {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.output().map_err(|error| format!("{program}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim().lines().last().unwrap_or_default();
        if output.status.success() { Ok(()) } else { Err(format!("{program}: {last}")) }
    };
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "10"];
    run(Command::new(&python).args(quiet).arg("-r").arg(readers().join("requirements.txt")))?;
    fs::write(complete, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

/// Runs a job, exports its result, and has every reader compare what it reads with the result.
#[track_caller]
fn read_back(job: &str) {
    let python = match python() {
        Ok(python) => python,
        Err(why) => {
            // Past the harness, which shows what a passing test says to nobody.
            let _ = writeln!(std::io::stderr(), "\nSKIPPED: no Python environment with the readers ({why})");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), job).unwrap();
    let ran = Running::start_in(folder, "run job.toml --quiet --out result").wait().ends_with(0);
    let rigel = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_rigel")).args(arguments).current_dir(ran.folder()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    rigel(&["export", "result", "--out", "exports"]);
    fs::write(ran.folder().join("schema.json"), rigel(&["schema", "result"])).unwrap();
    let mut script = Command::new(python);
    script.arg(readers().join("read_back.py")).args(["exports", "result/result.json", "schema.json"]);
    let output = script.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(ran.folder()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.lines().count() >= 10, "{told}");
    println!("{told}");
}

#[test]
fn others_read_the_figures_of_a_closed_loop() {
    read_back(
        r#"
        [[target]]
        uri = "sim://powermax-read-miss"
        [[target]]
        uri = "sim://constant-100us"
        [[workload]]
        name = "mix"
        block_size = "8k"
        read_percent = 70
        [run]
        ramp = "50ms"
        time = "1s"
        interval = "200ms"
        [sweep]
        queue_depth = [1, 8, 32]
        "#,
    );
}

#[test]
fn others_read_the_figures_of_an_open_loop_of_two_workloads() {
    read_back(
        r#"
        [[target]]
        uri = "sim://powermax-read-miss"
        [[workload]]
        name = "oltp, \"main\" 100%"
        block_size = "8k"
        read_percent = 70
        [[workload]]
        name = "log\\writer"
        block_size = "16k"
        read_percent = 30
        [run]
        ramp = "50ms"
        time = "1s"
        interval = "200ms"
        [sweep]
        rate = ["2k", "10k"]
        "#,
    );
}
