//! Pins: names for results of the archive, wherever one can be named; and archives of the layout that had none.
#![cfg(feature = "archive")]

#[path = "common/figures.rs"]
mod figures;

use std::path::Path;
use std::process::Command;

use rigel::archive::{Archive, ArchiveError, Filter, Reference};
use rigel::report::json;
use rigel::result::RunResult;
use rusqlite::{Connection, params};

/// The tables of layout 1, as they were made.
const LAYOUT_1: &str = "
CREATE TABLE run(
    id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL UNIQUE, started_at TEXT NOT NULL, name TEXT NOT NULL,
    host TEXT NOT NULL, points INTEGER NOT NULL, best_iops REAL NOT NULL, best_load TEXT NOT NULL,
    verdicts INTEGER NOT NULL, folder TEXT NOT NULL, result BLOB NOT NULL);
CREATE INDEX run_by_time ON run(started_at);
CREATE TABLE target(run INTEGER NOT NULL REFERENCES run(id), uri TEXT NOT NULL, model TEXT NOT NULL, serial TEXT NOT NULL);
CREATE INDEX target_by_serial ON target(serial);
CREATE TABLE tag(run INTEGER NOT NULL REFERENCES run(id), tag TEXT NOT NULL, UNIQUE(run, tag));
CREATE TABLE note(run INTEGER NOT NULL REFERENCES run(id), at TEXT NOT NULL, text TEXT NOT NULL);
PRAGMA user_version = 1;
";

/// A result that began at minute `n`.
fn result(n: u32) -> RunResult {
    let mut result = figures::read_sweep();
    result.started_at = format!("2026-11-30T00:{n:02}:00Z");
    result.job = serde_json::json!({ "name": format!("run {n}") });
    result
}

fn add(archive: &mut Archive, n: u32) -> i64 {
    archive.add(&result(n), &json::render(&result(n)), "/results/x").expect("kept")
}

fn rigel(archive: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args(args).env("RIGEL_ARCHIVE", archive).current_dir(archive.parent().unwrap());
    let output = command.output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// An archive of layout 1 with one result, a tag and a note.
fn old_archive(path: &Path) {
    let old = Connection::open(path).unwrap();
    old.execute_batch(LAYOUT_1).unwrap();
    old.execute(
        "INSERT INTO run(digest, started_at, name, host, points, best_iops, best_load, verdicts, folder, result)
         VALUES ('d', '2026-11-30T00:00:00Z', 'old', 'h', 3, 5.0, 'QD 32', 0, '/x', ?1)",
        params![json::render(&result(0))],
    )
    .unwrap();
    old.execute_batch(
        "INSERT INTO target VALUES (1, 'sim://old', 'm', 's'); INSERT INTO tag VALUES (1, 'gold');
         INSERT INTO note VALUES (1, '2026-12-01T00:00:00Z', 'kept');",
    )
    .unwrap();
}

fn layout(path: &Path) -> i64 {
    Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn a_pin_leads_to_its_result_until_it_is_moved_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(&folder.path().join("a.sqlite")).unwrap();
    let ids = [add(&mut archive, 1), add(&mut archive, 2)];
    let nightly = || Reference::parse("nightly").unwrap();
    let missing = archive.entry(nightly()).unwrap_err().to_string();
    assert_eq!(missing, "the archive has no pin `nightly`; there is none; `rigel list --pin NAME RESULT` makes one");
    assert_eq!(archive.pin("nightly", ids[0]).unwrap(), None);
    assert_eq!(archive.pin("base", ids[0]).unwrap(), None);
    assert_eq!(archive.entry(nightly()).unwrap().id, ids[0]);
    assert_eq!(archive.entry(Reference::Id(ids[0])).unwrap().pins, ["base", "nightly"]);
    assert_eq!(archive.pin("nightly", ids[1]).unwrap(), Some(ids[0]), "where it was");
    assert_eq!(archive.entry(nightly()).unwrap().id, ids[1]);
    assert_eq!(archive.pins().unwrap(), [("base".to_owned(), ids[0]), ("nightly".to_owned(), ids[1])]);
    assert_eq!(archive.unpin("nightly").unwrap(), ids[1]);
    assert!(archive.unpin("nightly").unwrap_err().to_string().contains("no pin `nightly`; pins: base"));
    assert_eq!(archive.list(&Filter::default()).unwrap().len(), 2, "the result stays");
    for name in ["", "17", "latest", "latest~1", "a/b", "-x", "é"] {
        let error = archive.pin(name, ids[0]).unwrap_err();
        assert!(matches!(&error, ArchiveError::PinName { .. }), "{name}: {error}");
        assert!(error.to_string().contains("write a letter, then letters, digits"), "{error}");
    }
    assert!(matches!(archive.pin("nowhere", 77), Err(ArchiveError::Use { .. })), "a pin leads to a result");
}

#[test]
fn a_pin_is_named_wherever_a_result_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!([1, 2].map(|n| add(&mut archive, n)), [1, 2]);
    drop(archive);
    let told = |args: &[&str]| {
        let (code, out, error) = rigel(&path, args);
        assert_eq!(code, 0, "{args:?}: {error}");
        out
    };
    assert_eq!(told(&["list", "--pin", "nightly", "1"]), "nightly: 1\n");
    assert_eq!(told(&["list", "--pin", "nightly", "1"]), "nightly: 1, as before\n");
    assert_eq!(told(&["list", "--pin", "nightly", "latest"]), "nightly: 2, moved from 1\n");
    assert_eq!(told(&["list", "--pin", "base", "latest~1"]), "base: 1\n");
    assert_eq!(told(&["list", "--pin", "golden", "base"]), "golden: 1\n", "another pin is a result too");

    let list = told(&["list"]);
    let line = |text: &str| list.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{list}"));
    assert!(line("begun (UTC)").ends_with("pins"), "{list}");
    assert!(line("run 1").contains("  base, golden") && line("run 2").contains("  nightly"), "{list}");
    let list: serde_json::Value = serde_json::from_str(&told(&["list", "--json"])).unwrap();
    assert_eq!(
        (&list[0]["pins"], &list[1]["pins"]),
        (&serde_json::json!(["nightly"]), &serde_json::json!(["base", "golden"]))
    );

    assert!(told(&["show", "base"]).contains("number 1, files were in /results/x\n  pinned as base, golden\n"));
    assert_eq!(told(&["show", "nightly", "--json"]).as_bytes(), json::render(&result(2)));
    assert_eq!(told(&["note", "base", "first"]), "noted on 1\n");
    assert_eq!(told(&["tag", "base", "gold"]), "1: gold\n");
    told(&["report", "base", "latest", "-o", "both.html"]);
    told(&["export", "nightly", "-f", "csv", "-o", "out"]);
    assert!(folder.path().join("out/points.csv").exists());

    assert_eq!(told(&["list", "--unpin", "golden"]), "golden: removed from 1\n");
    // A path that is there is meant, whatever pins there are.
    std::fs::write(folder.path().join("nightly"), json::render(&result(9))).unwrap();
    assert!(told(&["show", "nightly"]).contains("run 9"));

    for (args, says) in [
        (&["list", "--unpin", "golden"][..], "rigel: the archive has no pin `golden`; pins: base, nightly"),
        (
            &["list", "--pin", "9lives", "1"],
            "a pin cannot be named `9lives`; write a letter, then letters, digits, `.`",
        ),
        (&["list", "--pin", "latest", "1"], "and not latest"),
        (&["list", "--pin", "x", "77"], "the archive has no result `77`"),
        (&["list", "--pin", "x", "golden"], "no pin `golden`; pins: base, nightly"),
        (&["show", "golden"], "golden: no such folder or file; name a run's folder"),
        (&["report", "base", "golden"], "or latest; the archive has no pin `golden`; pins: base, nightly"),
        (&["export", "golden"], "pins: base, nightly"),
        (&["note", "golden", "x"], "the archive has no pin `golden`; pins: base, nightly"),
        (&["tag", "golden", "x"], "pins: base, nightly"),
        (&["list", "--pin", "x"], "2 values required"),
        (&["list", "--pin", "x", "1", "--pin", "y", "2"], "cannot be used multiple times"),
        (&["list", "--pin", "x", "1", "--unpin", "x"], "cannot be used with"),
        (&["list", "--pin", "x", "1", "--json"], "cannot be used with"),
        (&["list", "--unpin", "x", "--tag", "x"], "cannot be used with"),
    ] {
        let (code, _, error) = rigel(&path, args);
        assert!(code == 2 && error.contains(says), "{args:?}: {code} {error}");
    }
    // Without an archive a word can only be a file.
    let (code, _, error) = rigel(&folder.path().join("none.sqlite"), &["show", "resutl.json"]);
    assert!(code == 2 && error.contains("no such folder or file; name a run's folder"), "{error}");
}

#[test]
fn an_archive_of_layout_1_is_brought_up_to_date_with_all_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.sqlite");
    old_archive(&path);
    let (code, list, error) = rigel(&path, &["list"]);
    assert_eq!(code, 0, "{error}");
    assert!(list.contains("old") && list.contains("sim://old") && list.contains("gold, 1 note(s)"), "{list}");
    assert_eq!(layout(&path), 2);
    let mut archive = Archive::open_existing(&path).unwrap();
    assert_eq!(archive.result(1).unwrap().0, result(0));
    assert_eq!(archive.pin("first", 1).unwrap(), None);
    assert_eq!(add(&mut archive, 1), 2, "numbers go on");
}

#[test]
fn openers_of_an_old_archive_wait_for_each_other() {
    for round in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("old-{round}.sqlite"));
        old_archive(&path);
        let processes: Vec<_> = (0..3)
            .map(|_| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
                command.args(["tag", "1", "lab"]).env("RIGEL_ARCHIVE", &path).stdout(std::process::Stdio::null());
                command.spawn().expect("starts")
            })
            .collect();
        let openers: Vec<_> = (0..5)
            .map(|n| {
                let path = path.clone();
                std::thread::spawn(move || Archive::open(&path)?.pin(&format!("pin-{n}"), 1))
            })
            .collect();
        for opener in openers {
            opener.join().expect("no panic").expect("opens and pins");
        }
        for mut process in processes {
            assert!(process.wait().expect("ends").success());
        }
        let archive = Archive::open(&path).unwrap();
        let entry = archive.entry(Reference::Latest(0)).unwrap();
        assert_eq!((layout(&path), entry.pins.len(), entry.tags.join(" ")), (2, 5, "gold lab".to_owned()));
    }
}

#[test]
fn an_archive_that_cannot_be_brought_up_to_date_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.sqlite");
    old_archive(&path);
    // The last step of the change finds its name taken.
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE pin_by_run(x)").unwrap();
    let error = Archive::open(&path).unwrap_err().to_string();
    assert!(error.contains("cannot open the archive") && error.contains("pin_by_run"), "{error}");
    let file = Connection::open(&path).unwrap();
    let pins: i64 =
        file.query_row("SELECT count(*) FROM sqlite_master WHERE name = 'pin'", [], |row| row.get(0)).unwrap();
    assert_eq!((layout(&path), pins), (1, 0));
}
