//! The archive: what is put in is found again, by whoever wrote at the same time, and after a crash.
#![cfg(feature = "archive")]

#[path = "common/figures.rs"]
mod figures;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;
use rigel::archive::{Archive, ArchiveError, Filter, Reference};
use rigel::report::json;
use rigel::result::RunResult;

/// A result that began at second `n` and is called `name`.
fn result(n: u32, name: &str) -> RunResult {
    let mut result = figures::mixed();
    result.started_at = format!("2026-11-30T{:02}:{:02}:{:02}Z", n / 3600 % 24, n / 60 % 60, n % 60);
    result.job = serde_json::json!({ "name": name });
    result
}

fn add(archive: &mut Archive, result: &RunResult) -> i64 {
    archive.add(result, &json::render(result), "/results/x").expect("kept")
}

fn rigel(archive: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("rigel").expect("built");
    let output = command.args(args).env("RIGEL_ARCHIVE", archive).output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_is_put_in_is_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep/er/archive.sqlite");
    let mut archive = Archive::open(&path).expect("made");
    let (one, two) = (result(1, "nightly"), result(2, "Weekly long"));
    let ids = [add(&mut archive, &one), add(&mut archive, &two)];
    assert_eq!(add(&mut archive, &one), ids[0], "the same result is kept once");
    assert_eq!(archive.entry(Reference::Latest(0)).unwrap().id, ids[1]);
    assert_eq!(archive.entry(Reference::Latest(1)).unwrap().id, ids[0]);
    let (back, _) = archive.result(ids[0]).expect("reads");
    assert_eq!(back, one, "with every histogram");

    archive.tag(ids[0], "gold").unwrap();
    archive.tag(ids[0], "gold").unwrap();
    archive.note(ids[0], "2026-12-01T00:00:00Z", "after the firmware update").unwrap();
    let listed = |filter: Filter| archive.list(&filter).unwrap().iter().map(|entry| entry.id).collect::<Vec<_>>();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(listed(Filter::default()), [ids[1], ids[0]], "the latest first");
    assert_eq!(listed(Filter { name: some("week"), ..Filter::default() }), [ids[1]]);
    assert_eq!(listed(Filter { tag: some("gold"), ..Filter::default() }), [ids[0]]);
    assert_eq!(listed(Filter { target: some("SN-13"), ..Filter::default() }).len(), 2);
    assert_eq!(listed(Filter { target: some("SN-99"), ..Filter::default() }), [] as [i64; 0]);
    assert_eq!(listed(Filter { since: some("2026-11-30T00:00:02"), ..Filter::default() }), [ids[1]]);
    assert_eq!(listed(Filter { until: some("2026-11-30T00:00:01"), ..Filter::default() }), [ids[0]]);
    assert_eq!(listed(Filter { until: some("2026-11-29"), ..Filter::default() }), [] as [i64; 0]);
    assert!(archive.untag(ids[0], "gold").unwrap());
    assert!(!archive.untag(ids[0], "gold").unwrap());
    let missing = archive.entry(Reference::Id(77)).unwrap_err().to_string();
    assert!(missing.contains("no result `77` (it holds 2); see `rigel list`"), "{missing}");
}

#[test]
fn a_later_layout_and_a_foreign_file_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sqlite");
    drop(Archive::open(&path).unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Archive::open(&path), Err(ArchiveError::Newer { found: 99, .. })));
    let foreign = folder.path().join("foreign");
    std::fs::write(&foreign, "not a database, whatever its name, and long enough to have a header").unwrap();
    let error = Archive::open_existing(&foreign).unwrap_err().to_string();
    assert!(error.contains("not a database") && error.contains("--archive"), "{error}");
    assert!(matches!(Archive::open_existing(&folder.path().join("none")), Err(ArchiveError::None { .. })));
}

/// Adds results from second `from` on until `count` are in or it is killed; run as a process of its own.
#[test]
fn writer() {
    let Ok(job) = std::env::var("RIGEL_TEST_WRITER") else { return };
    let mut parts = job.split(',');
    let path = parts.next().expect("a path").to_owned();
    let [from, count]: [u32; 2] = [(); 2].map(|()| parts.next().expect("a number").parse().expect("a number"));
    let mut archive = Archive::open(Path::new(&path)).expect("opens");
    let mut one = result(0, "w");
    for n in from..from + count {
        one.seed_name(n);
        add(&mut archive, &one);
    }
}

/// Makes a result differ from all others.
trait SeedName {
    fn seed_name(&mut self, n: u32);
}

impl SeedName for RunResult {
    fn seed_name(&mut self, n: u32) {
        self.job = serde_json::json!({ "name": format!("run {n}") });
    }
}

fn start_writer(path: &Path, from: u32, count: u32) -> std::process::Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["writer", "--exact", "--quiet"])
        .env("RIGEL_TEST_WRITER", format!("{},{from},{count}", path.display()))
        .stdout(Stdio::null())
        .spawn()
        .expect("starts")
}

#[test]
fn two_writers_lose_no_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sqlite");
    let writers = [start_writer(&path, 0, 1_000), start_writer(&path, 1_000, 1_000)];
    for mut writer in writers {
        assert!(writer.wait().expect("ends").success());
    }
    // Nor do those that all find no archive and make it.
    for round in 0..20 {
        let path = folder.path().join(format!("fresh-{round}.sqlite"));
        let openers: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || Archive::open(&path).map(drop))
            })
            .collect();
        for opener in openers {
            opener.join().expect("no panic").expect("opens");
        }
    }
    let archive = Archive::open(&path).expect("opens");
    let mut names: Vec<_> = archive.list(&Filter::default()).unwrap().into_iter().map(|entry| entry.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 2_000);
}

#[test]
fn a_killed_writer_leaves_a_readable_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sqlite");
    for round in 0..5 {
        let mut writer = start_writer(&path, round * 100_000, 100_000);
        // In the middle of its work, at another moment each time.
        let before = rows(&path);
        while rows(&path) < before + 3 {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(u64::from(round) * 7));
        writer.kill().expect("killed");
        writer.wait().expect("ended");
        let mut archive = Archive::open(&path).expect("opens");
        let entries = archive.list(&Filter::default()).expect("lists");
        for entry in &entries {
            assert!(!entry.targets.is_empty(), "rows are whole or not there");
        }
        if let Some(entry) = entries.first() {
            archive.result(entry.id).expect("reads");
        }
        add(&mut archive, &result(round, "after"));
    }
    assert!(rows(&path) >= 20);
}

fn rows(path: &Path) -> usize {
    Archive::open(path).expect("opens").list(&Filter::default()).expect("lists").len()
}

#[test]
fn a_run_is_archived_listed_shown_noted_tagged_reported_and_imported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sqlite");
    let out = folder.path().join("out");
    let out = out.to_str().expect("UTF-8");
    let (code, _, error) = rigel(&path, &["list"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("there is no archive") && error.contains("rigel import FOLDER"), "{error}");
    let sim =
        ["run", "-t", "sim://constant-100us", "-q", "1,2,4", "--time", "200ms", "--ramp", "50ms", "--quiet", "-o", out];
    let (code, _, error) = rigel(&path, &sim);
    assert_eq!(code, 0, "{error}");
    let (_, listed, _) = rigel(&path, &["list"]);
    assert!(listed.contains("sim://constant-100us") && listed.contains("at QD 4"), "{listed}");
    assert_eq!(rigel(&path, &["note", "latest", "a note"]).0, 0);
    assert_eq!(rigel(&path, &["tag", "1", "gold", "lab 3"]).1, "1: gold, lab 3\n");
    assert_eq!(rigel(&path, &["tag", "1", "gold", "--remove"]).1, "1: lab 3\n");
    let (code, _, error) = rigel(&path, &["tag", "1", "gold", "--remove"]);
    assert!(code == 2 && error.contains("has no tag `gold`"), "{error}");
    let (_, shown, _) = rigel(&path, &["show", "latest"]);
    assert!(shown.contains("a note") && shown.contains("tags: lab 3"), "{shown}");
    let (_, json, _) = rigel(&path, &["show", "1", "--json"]);
    assert_eq!(json, std::fs::read_to_string(format!("{out}/result.json")).unwrap(), "byte for byte");

    // The folder may go.
    let moved = folder.path().join("moved.html");
    let moved = moved.to_str().expect("UTF-8");
    assert!(std::fs::read_to_string(format!("{out}/report.html")).unwrap().contains("IOPS against load"));
    std::fs::remove_dir_all(out).unwrap();
    let charts = folder.path().join("charts");
    let (code, told, error) = rigel(&path, &["report", "latest", "-o", moved, "--charts", charts.to_str().unwrap()]);
    assert_eq!(code, 0, "{error}");
    assert!(told.contains("moved.html"), "{told}");
    assert!(std::fs::read_to_string(charts.join("iops.svg")).unwrap().starts_with("<svg"));

    // What is not there is named.
    for (args, says) in [
        (&["report", "latest~7"][..], "no result `latest~7`"),
        (&["report", "/nowhere"], "no such folder or file; name a run's folder"),
        (&["show", out], "no such folder or file"),
        (&["note", "no/number", "x"], "not a place of the archive"),
        (&["note", "no-pin", "x"], "no pin `no-pin`; there is none"),
        (&["import", "/nowhere"], "no such folder or file"),
        (&["report", folder.path().to_str().unwrap()], "no result.json in this folder"),
    ] {
        let (code, _, error) = rigel(&path, args);
        assert!(code == 2 && error.contains(says), "{args:?}: {code} {error}");
    }
    // What is no result, or no archive, is named with the remedy.
    let bad = folder.path().join("bad.json");
    for (text, says) in [
        (json.replacen("\"schema\": 1", "\"schema\": 9", 1), "use rigel"),
        (json[..json.len() / 2].to_owned(), "cut off at line"),
        ("{\"fio version\": \"fio-3.33\"}".to_owned(), "not a Rigel result"),
        (String::new(), "it is empty"),
    ] {
        std::fs::write(&bad, text).unwrap();
        for command in ["report", "show", "import", "export"] {
            let (code, _, error) = rigel(&path, &[command, bad.to_str().unwrap()]);
            assert!(code == 2 && error.contains("bad.json: ") && error.contains(says), "{command}: {code} {error}");
        }
    }
    std::fs::write(&bad, &json).unwrap();
    for command in [&["list"][..], &["show", "latest"], &["report", "latest"], &["note", "1", "x"], &["tag", "1", "x"]]
    {
        let (code, _, error) = rigel(&bad, command);
        assert!(
            code == 3 && error.contains("cannot open the archive") && error.contains("--archive"),
            "{command:?}: {code} {error}"
        );
    }
    // Root may write anywhere but in /proc.
    let (code, _, error) = rigel(Path::new("/proc/rigel/a.sqlite"), &["import", &format!("{}", bad.display())]);
    assert!(code == 3 && error.contains("cannot open the archive /proc/rigel/a.sqlite"), "{code} {error}");
    let run = ["run", "-t", "sim://constant-100us", "--time", "100ms", "--ramp", "0s", "--quiet", "-o", out];
    let (code, _, error) = rigel(Path::new("/proc/rigel/a.sqlite"), &run);
    assert!(code == 0 && error.contains("the result is in its folder, but not in the archive"), "{code} {error}");
    std::fs::remove_dir_all(out).unwrap();
    // A result from elsewhere.
    let json_file = folder.path().join("elsewhere.json");
    std::fs::write(&json_file, &json).unwrap();
    let other = folder.path().join("b.sqlite");
    assert_eq!(rigel(&other, &["import", json_file.to_str().unwrap()]).0, 0);
    assert_eq!(rigel(&other, &["show", "latest", "--json"]).1, json);
    let (code, _, _) = rigel(
        &other,
        &["run", "-t", "sim://constant-100us", "--time", "100ms", "--ramp", "0s", "--no-archive", "--quiet", "-o", out],
    );
    assert_eq!((code, rigel(&other, &["list", "--json"]).1.matches("\"id\"").count()), (0, 1));
}
