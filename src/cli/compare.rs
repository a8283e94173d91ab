//! `rigel compare`: results in, a comparison out. Owns which results are meant, where the outcome goes, and the exit code
//! that follows from limits.

use std::path::Path;

use super::args::{ArchiveArg, CompareArgs, JudgingArgs};
use super::exit::{Exit, Failure};
use super::find::{self, Found};
use super::live::warn;
use super::out::to_stdout;
use super::run::style;
use super::save::put;
use crate::compare::{self, Comparison, Limit, Rules, Run, Side};
use crate::report::export::junit;
use crate::report::html::{Source, page_led_by};
use crate::report::text::Style;
use crate::result::series::Series;

/// Compares the results named.
pub(super) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let limits = limits(&args.judging)?;
    let rules =
        Rules { resolution: resolution(&args.judging)?, spread: share("--spread", &args.spread)?, ..Rules::default() };
    let mut sets = Vec::new();
    for typed in std::iter::once(&args.base).chain(&args.new) {
        sets.push(Set::find(typed, &args.archive)?);
    }
    tell_apart(&mut sets);
    let sides: Vec<Side<'_>> = sets.iter().map(Set::side).collect();
    let comparison = compare::compare(&sides[0], &sides[1..], &limits, &rules)?;
    show(&comparison, &sides, args.json, args.out.as_deref())?;
    if let Some(folder) = args.out.as_ref().filter(|_| !args.json) {
        to_stdout(format!("Comparison: {}\n", folder.display()))?;
    }
    Ok(exit(&comparison, args.judging.strict))
}

/// Results that were named together.
struct Set {
    label: String,
    names: Vec<String>,
    found: Vec<Found>,
    series: Vec<Option<Series>>,
}

impl Set {
    fn find(typed: &str, archive: &ArchiveArg) -> Result<Self, Failure> {
        // A path may hold commas.
        let names: Vec<&str> = if Path::new(typed).exists() { vec![typed] } else { typed.split(',').collect() };
        let found = names.iter().map(|name| find::result(name.trim(), archive)).collect::<Result<Vec<_>, _>>()?;
        let series = found.iter().map(|found| found.series_or_warn("what moved within it is in no interval")).collect();
        Ok(Self {
            label: find::label(&found[0].result),
            names: names.into_iter().map(|name| name.trim().to_owned()).collect(),
            found,
            series,
        })
    }

    fn side(&self) -> Side<'_> {
        let sources = self.found.iter().zip(&self.series);
        let runs = sources.map(|(found, series)| Run { result: &found.result, series: series.as_ref() });
        Side { label: self.label.clone(), runs: runs.collect() }
    }
}

/// Sets of one job are called as they were typed.
fn tell_apart(sets: &mut [Set]) {
    let labels: Vec<String> = sets.iter().map(|set| set.label.clone()).collect();
    for set in sets.iter_mut() {
        if labels.iter().filter(|label| **label == set.label).count() > 1 {
            let first = set.names[0].trim_end_matches('/');
            set.label = match set.names.len() {
                1 => first.to_owned(),
                more => format!("{first} +{}", more - 1),
            };
        }
    }
    let labels: Vec<String> = sets.iter().map(|set| set.label.clone()).collect();
    for (index, set) in sets.iter_mut().enumerate() {
        if labels.iter().filter(|label| **label == set.label).count() > 1 {
            set.label = format!("{} [{}]", set.label, index + 1);
        }
    }
}

/// Prints a comparison, and writes it to a folder if there is one.
pub(super) fn show(
    comparison: &Comparison,
    sides: &[Side<'_>],
    json: bool,
    folder: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(folder) = folder {
        write(comparison, sides, folder)?;
    }
    to_stdout(if json { comparison.json() } else { compare::text(comparison, style()) })?;
    if json {
        comparison.notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    for limit in comparison.limits.iter().filter(|limit| limit.word == compare::LimitWord::CannotTell) {
        warn(&format!("limit {} at {}: it cannot be told whether it is kept", limit.limit, limit.load));
    }
    Ok(())
}

fn write(comparison: &Comparison, sides: &[Side<'_>], folder: &Path) -> Result<(), Failure> {
    let labels: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
    let title = format!("{} against {}", labels[1..].join(", "), labels[0]);
    let sources: Vec<Source<'_>> = sides.iter().map(representative).collect();
    let page = page_led_by(Some((&title, compare::html(comparison))), &sources);
    let started_at = comparison.base.started_at.first().map_or("", String::as_str);
    std::fs::create_dir_all(folder).map_err(|error| Failure::write(folder, error))?;
    for (name, bytes) in [
        ("comparison.json", comparison.json().into_bytes()),
        ("comparison.txt", compare::text(comparison, Style::plain()).into_bytes()),
        ("junit.xml", junit(&compare::suites(comparison), started_at)),
        ("report.html", page.into_bytes()),
    ] {
        put(folder, name, &bytes).map_err(|error| Failure::write(&folder.join(name), error))?;
    }
    Ok(())
}

/// The run of a side whose IOPS are in the middle: the charts show one of each.
fn representative<'a>(side: &Side<'a>) -> Source<'a> {
    let iops = |run: &Run<'_>| run.result.points.iter().map(|point| point.total.iops).sum::<f64>();
    let mut order: Vec<usize> = (0..side.runs.len()).collect();
    order.sort_by(|&a, &b| iops(&side.runs[a]).total_cmp(&iops(&side.runs[b])));
    let number = order[order.len() / 2];
    let run = side.runs[number];
    let label = match side.runs.len() {
        1 => side.label.clone(),
        _ => format!("{}, run {}", side.label, number + 1),
    };
    Source { label, result: run.result, series: run.series }
}

/// What follows from the limits.
pub(super) fn exit(comparison: &Comparison, strict: bool) -> Exit {
    if comparison.is_breached() || (strict && comparison.is_in_doubt()) { Exit::NotAccepted } else { Exit::Done }
}

pub(super) fn limits(args: &JudgingArgs) -> Result<Vec<Limit>, Failure> {
    let parse = |text: &String| text.parse().map_err(|reason| Failure::Flag { flag: "--limit", reason });
    args.limit.iter().map(parse).collect()
}

pub(super) fn resolution(args: &JudgingArgs) -> Result<f64, Failure> {
    share("--resolution", &args.resolution)
}

/// A share in per cent, above 0 and up to 50.
fn share(flag: &'static str, text: &str) -> Result<f64, Failure> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
    let share = number.filter(|per_cent| *per_cent > 0.0 && *per_cent <= 50.0).map(|per_cent| per_cent / 100.0);
    share.ok_or_else(|| Failure::Flag {
        flag,
        reason: format!("`{text}` is no share; write per cent above 0 and up to 50, such as 2.5%"),
    })
}
