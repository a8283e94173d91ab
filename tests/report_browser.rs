//! The report in a real browser (Debian's chromium, headless): it renders, complains of nothing, asks nobody for anything,
//! fits a desk and a phone, light and dark, and prints on a few pages. Left out, with a word, where there is no chromium.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with the report of a run of three points, reads and writes.
fn report() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut rigel = Command::new(env!("CARGO_BIN_EXE_rigel"));
    rigel.args(["run", "-t", "sim://?service=lognormal:200us:0.5&servers=8&stall=2s:100ms", "--read-percent", "70"]);
    rigel.args([
        "-q",
        "1,4,16",
        "--time",
        "4s",
        "--ramp",
        "500ms",
        "--interval",
        "50ms",
        "--quiet",
        "--no-archive",
        "-o",
    ]);
    let done = rigel.arg(&out).stdout(Stdio::null()).status().expect("runs");
    assert!(done.success());
    folder
}

/// The browser; none where there is none.
fn chromium() -> Option<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(there);
    if found.is_none() {
        println!("left out: no chromium here (apt-get install chromium)");
    }
    found
}

fn browse(chromium: &str, folder: &Path, page: &Path, args: &[&str]) -> Output {
    let profile = folder.join("profile");
    let mut command = Command::new(chromium);
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--hide-scrollbars"]);
    // Whatever is asked of the network fails, and is told.
    command.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--virtual-time-budget=3000"]);
    command.arg(format!("--user-data-dir={}", profile.display())).args(args);
    let output = command.arg(format!("file://{}", page.display())).output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The page with a script at its end, whose answer becomes the text of an element that `--dump-dom` shows.
fn asked(chromium: &str, folder: &Path, page: &str, args: &[&str], question: &str) -> String {
    let path = folder.join("asked.html");
    let script = format!(
        "<pre id=answer></pre><script>document.getElementById('answer').textContent = '<<' + ({question}) + '>>'</script>"
    );
    std::fs::write(&path, format!("{page}{script}")).expect("written");
    let output = browse(chromium, folder, &path, &[args, &["--dump-dom"]].concat());
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = dom.split("&lt;&lt;").nth(1).and_then(|rest| rest.split("&gt;&gt;").next());
    answer.unwrap_or_else(|| panic!("no answer in {} bytes of DOM", dom.len())).to_owned()
}

#[test]
fn the_report_is_right_in_a_browser() {
    let Some(chromium) = chromium() else { return };
    let folder = report();
    assert_right(chromium, &folder, &folder.path().join("out/report.html"), 10);
}

#[test]
fn a_comparison_is_right_in_a_browser() {
    let Some(chromium) = chromium() else { return };
    let folder = report();
    let mut rigel = Command::new(env!("CARGO_BIN_EXE_rigel"));
    rigel.args(["compare", "out", "out", "--limit", "iops=-2%", "-o", "comparison"]).current_dir(folder.path());
    assert!(rigel.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("compares").success());
    assert_right(chromium, &folder, &folder.path().join("comparison/report.html"), 8);
}

/// Checks a page over three points with at least so many charts.
#[track_caller]
fn assert_right(chromium: &str, folder: &TempDir, page_path: &Path, charts_min: usize) {
    let page = std::fs::read_to_string(page_path).expect("the page");

    // Renders, on a desk and on a phone, light and dark; keeps the pictures where one can look at them.
    let keep = std::env::var("RIGEL_KEEP_SCREENSHOTS").map_or_else(|_| folder.path().to_owned(), PathBuf::from);
    let mut sizes = Vec::new();
    for (name, size, dark) in [("desk", "1280,2000", false), ("dark", "1280,2000", true), ("phone", "390,2000", false)]
    {
        let shot = keep.join(format!("{name}.png"));
        let (window, picture) = (format!("--window-size={size}"), format!("--screenshot={}", shot.display()));
        let scheme =
            if dark { "--blink-settings=preferredColorScheme=0" } else { "--blink-settings=preferredColorScheme=1" };
        let output = browse(chromium, folder.path(), page_path, &[&window, &picture, scheme]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!told.contains("CONSOLE"), "{told}");
        sizes.push(std::fs::read(&shot).expect("a picture"));
    }
    assert!(sizes.iter().all(|picture| picture.len() > 20_000), "an empty page is smaller");
    assert_ne!(sizes[0], sizes[1], "dark differs from light");

    // Nothing is fetched; every chart has marks within its frame; nothing sticks out to the side.
    let ask = |args: &[&str], question: &str| asked(chromium, folder.path(), &page, args, question);
    assert_eq!(ask(&[], "performance.getEntriesByType('resource').length"), "0");
    let charts = ask(&[], "document.querySelectorAll('figure').length").parse::<usize>().expect("a number");
    assert!(charts >= charts_min, "{charts} charts");
    let drawn = "[...document.querySelectorAll('figure')].filter(f => [...f.querySelectorAll('path')].some(p => \
                 p.getTotalLength() > 10)).length";
    assert_eq!(ask(&[], drawn), charts.to_string(), "every chart has data");
    for width in ["1280", "390"] {
        let sticks_out = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(ask(&[&format!("--window-size={width},900")], sticks_out), "0", "at {width} pixels");
    }

    // Prints on a few pages a point.
    let pdf = keep.join("report.pdf");
    let _ = browse(
        chromium,
        folder.path(),
        page_path,
        &["--no-pdf-header-footer", &format!("--print-to-pdf={}", pdf.display())],
    );
    let pdf = std::fs::read(&pdf).expect("a PDF");
    let pages = String::from_utf8_lossy(&pdf).matches("/Type /Page\n").count();
    assert!((1..=12).contains(&pages), "{pages} pages for three points");
}
