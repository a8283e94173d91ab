//! Every report of fixed figures, byte for byte. After a wanted change: `INSTA_UPDATE=always cargo test --test
//! report_snapshots`, and read the difference before committing it.

#[path = "common/figures.rs"]
mod figures;

use std::time::Duration;

use rigel::clock::Clock;
use rigel::engine::record::{ArrivalFigures, IntervalFigures, Phase};
use rigel::plan::Plan;
use rigel::report::json;
use rigel::report::live::View;
use rigel::report::text::{Style, summary, table};
use rigel::result::{RunResult, from_json};
use rigel::stats::TickHistogram;
use rigel::units::Ticks;

#[test]
fn table_of_a_sweep() {
    insta::assert_snapshot!(table(&figures::read_sweep(), Style::plain()));
}

#[test]
fn table_of_a_mix() {
    insta::assert_snapshot!(table(&figures::mixed(), Style { unicode: true, ..Style::plain() }));
}

#[test]
fn table_of_a_troubled_run() {
    insta::assert_snapshot!(table(&figures::troubled(), Style::plain()));
}

#[test]
fn table_of_an_open_loop() {
    let table = table(&figures::open_loop(), Style { width: Some(100), ..Style::plain() });
    let columns = table.lines().filter(|line| !line.starts_with("note: ")).map(|line| line.chars().count());
    assert!(columns.max() <= Some(100), "{table}");
    insta::assert_snapshot!(table);
}

#[test]
fn summary_of_an_open_loop() {
    insta::assert_snapshot!(summary(&figures::open_loop()));
}

#[test]
fn summary_of_a_mix() {
    let text = summary(&figures::mixed());
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn summary_of_a_troubled_run() {
    insta::assert_snapshot!(summary(&figures::troubled()));
}

#[test]
fn json_of_a_mix() {
    let bytes = json::render(&figures::mixed());
    assert!(bytes.ends_with(b"}\n"));
    // The compressed histograms depend on the compressor's version; that they decode is tested elsewhere.
    let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    shorten(&mut value);
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
}

/// Replaces every `hdr` by a word.
fn shorten(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                if name == "hdr" {
                    *field = "(histogram)".into();
                } else {
                    shorten(field);
                }
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// Half a second of the second point of a mix, from the middle of a window of 10 s.
fn interval(result: &RunResult) -> IntervalFigures {
    let point = figures::drive(&result.plan, 1);
    let (start, end) = (Ticks(4_020_000_000), Ticks(4_520_000_000));
    IntervalFigures { start, end, phase: Phase::Window, cells: point.cells, arrivals: vec![None], backlog: vec![0] }
}

/// The same of an open loop that is a little late.
fn open_interval(result: &RunResult) -> IntervalFigures {
    let mut interval = interval(result);
    for cell in &mut interval.cells {
        let response = cell.response.insert(TickHistogram::new());
        cell.service.buckets().for_each(|(low, _, n)| (0..n).for_each(|_| response.record(low + 1_000_000)));
    }
    interval.arrivals = vec![Some(ArrivalFigures { offered: 150_000, sent: 149_000, ..ArrivalFigures::default() })];
    interval.backlog = vec![1_234];
    interval
}

/// A run of two points, 10 s each, at its second.
fn second_point(result: &RunResult) -> View {
    let plan = Plan { time: Duration::from_secs(10), ..result.plan.clone() };
    let mut view = View::new(&plan, &Clock::virtual_ns());
    view.point_started(0);
    view.point_done();
    view.point_started(1);
    view
}

#[test]
fn live_lines() {
    let result = figures::mixed();
    let mut view = second_point(&result);
    let mut say = |interval: &IntervalFigures| {
        view.take(interval);
        view.line()
    };
    let mut interval = interval(&result);
    let good = say(&interval);
    interval.cells[0].errors = 3;
    let failed = say(&interval);
    let open = say(&open_interval(&result));
    interval.cells.iter_mut().for_each(|cell| cell.clear());
    interval.phase = Phase::Ramp;
    (interval.start, interval.end) = (Ticks(0), Ticks(10_000_000));
    let silent = say(&interval);
    insta::assert_snapshot!([good, failed, open, silent].join("\n"));
}

#[test]
fn a_live_line_holds_all_since_the_one_before() {
    let result = figures::mixed();
    let mut view = second_point(&result);
    let mut interval = interval(&result);
    interval.cells[0].errors = 3;
    view.take(&interval);
    let once = view.line();
    for _ in 0..2 {
        view.take(&interval);
    }
    let twice = view.line();
    assert!(once.contains(" 294,600 IOPS") && once.ends_with("3 errors"), "{once}");
    assert!(twice.contains(" 294,600 IOPS") && twice.ends_with("6 errors"), "{twice}");
}

#[test]
fn live_frames() {
    let result = figures::mixed();
    let plan = Plan { time: Duration::from_secs(10), ..result.plan.clone() };
    let mut view = View::new(&plan, &Clock::virtual_ns());
    let frame = |view: &View| view.frame(Duration::from_millis(300), 200);
    let mut frames = vec![frame(&view)];
    view.point_started(0);
    frames.push(frame(&view));
    let step = |interval: &mut IntervalFigures| {
        interval.start = interval.end;
        interval.end = interval.end.plus(Ticks(500_000_000));
    };
    let mut interval = interval(&result);
    (interval.start, interval.end) = (Ticks(0), Ticks(20_000_000));
    for n in 0..8 {
        step(&mut interval);
        interval.cells.iter_mut().for_each(|cell| cell.service.record(n));
        view.take(&interval);
    }
    let _ = view.line();
    frames.push(frame(&view));
    view.point_done();
    frames.push(frame(&view));
    view.point_started(1);
    let mut open = open_interval(&result);
    open.cells[0].errors = 3;
    view.take(&open);
    let _ = view.line();
    frames.push(frame(&view));
    view.point_done();
    frames.push(frame(&view));
    insta::assert_snapshot!(frames.join("\n\n"));
}

#[test]
fn a_live_frame_is_never_wider_than_the_terminal() {
    let result = figures::mixed();
    let mut view = second_point(&result);
    view.take(&interval(&result));
    let _ = view.line();
    for width in [0, 1, 40, 80] {
        let frame = view.frame(Duration::ZERO, width);
        assert!(frame.lines().all(|line| line.chars().count() <= width), "{width}:\n{frame}");
    }
}

#[test]
fn a_narrow_terminal_loses_what_is_told_twice() {
    let result = figures::read_sweep();
    let wide = table(&result, Style { width: Some(200), ..Style::plain() });
    let narrow = table(&result, Style { width: Some(90), ..Style::plain() });
    assert!(wide.contains("MiB/s") && !narrow.contains("MiB/s"), "{narrow}");
    assert!(narrow.contains("MB/s") && narrow.contains("p99.99") && narrow.contains("max"), "{narrow}");
}

#[test]
fn colour_is_only_used_when_allowed() {
    let result = figures::troubled();
    assert!(!table(&result, Style { unicode: true, colour: false, width: None }).contains('\u{1b}'));
    assert!(table(&result, Style::terminal(200)).contains('\u{1b}'));
}

#[test]
fn a_result_reads_back_equal() {
    for result in [figures::read_sweep(), figures::mixed(), figures::troubled(), figures::open_loop()] {
        let text = String::from_utf8(json::render(&result)).unwrap();
        assert_eq!(from_json(&text).unwrap(), result);
    }
}

#[test]
fn a_result_cut_off_anywhere_says_so() {
    let text = String::from_utf8(json::render(&figures::read_sweep())).unwrap();
    let body = text.trim_end();
    for end in (1..body.len()).step_by(997).chain([body.len() - 1]) {
        let message = from_json(&body[..end]).unwrap_err().to_string();
        assert!(message.contains("cut off at line"), "after {end} bytes: {message}");
    }
}

#[test]
fn what_stands_against_a_point_stands_in_every_output() {
    let result = figures::open_loop();
    let [follows, unsteady] = &result.verdicts[..] else { panic!("{:?}", result.verdicts) };
    assert!(follows.contains("the targets did not follow") && unsteady.contains("unsteady"), "{:?}", result.verdicts);
    let (table, summary) = (table(&result, Style::plain()), summary(&result));
    let json: serde_json::Value = serde_json::from_slice(&json::render(&result)).unwrap();
    for (n, verdict) in result.verdicts.iter().enumerate() {
        assert!(table.contains(verdict) && summary.contains(verdict));
        assert_eq!(json["verdicts"][n], **verdict);
    }
    assert_eq!(json["points"][1]["checks"]["steady_state"]["judgement"], "unsteady");
    assert_eq!(json["points"][1]["checks"]["arrivals"][0]["judgement"], "off");
    for text in [&table, &summary] {
        assert!(text.contains(" 6,000/s  ") && text.contains(" 9,800/s !  "), "{text}");
    }
    assert!(summary.contains("steady state UNSTEADY") && summary.contains("targets followed: OFF"), "{summary}");
}

#[test]
fn sound_figures_raise_no_verdict() {
    for result in [figures::read_sweep(), figures::mixed()] {
        assert_eq!(result.verdicts, Vec::<String>::new());
    }
}
