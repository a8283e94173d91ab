//! `rigel list` with its pins, `show`, `note`, `tag` and `import`: what the archive holds. Owns how it is shown.

use std::time::SystemTime;

use super::args::{ImportArgs, ListArgs, NoteArgs, ShowArgs, TagArgs};
use super::exit::{Exit, Failure};
use super::find;
use super::out::to_stdout;
use super::save::timestamp;
use crate::archive::{Archive, Entry, Filter, Reference};
use crate::report::text;
use crate::units::format_count;

/// Prints the results that the filters let through, or changes a pin.
pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    if let [name, result] = &args.pin[..] {
        return pin(args, name, result);
    }
    if let Some(name) = &args.unpin {
        let id = find::open(&args.archive)?.unpin(name)?;
        to_stdout(format!("{name}: removed from {id}\n"))?;
        return Ok(Exit::Done);
    }
    let filter = Filter {
        name: args.name.clone(),
        target: args.target.clone(),
        since: args.since.clone(),
        until: args.until.clone(),
        tag: args.tag.clone(),
    };
    let entries = find::open(&args.archive)?.list(&filter)?;
    if args.json {
        let mut json = serde_json::to_string_pretty(&entries).unwrap_or_default();
        json.push('\n');
        to_stdout(json)?;
    } else if entries.is_empty() {
        to_stdout("no result of the archive fits\n")?;
    } else {
        to_stdout(table(&entries))?;
    }
    Ok(Exit::Done)
}

/// Pins a result, and says where the pin was.
fn pin(args: &ListArgs, name: &str, result: &str) -> Result<Exit, Failure> {
    let mut archive = find::open(&args.archive)?;
    let id = number(&archive, result)?;
    to_stdout(match archive.pin(name, id)? {
        None => format!("{name}: {id}\n"),
        Some(before) if before == id => format!("{name}: {id}, as before\n"),
        Some(before) => format!("{name}: {id}, moved from {before}\n"),
    })?;
    Ok(Exit::Done)
}

/// Prints one result, with its tags and notes.
pub(super) fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let found = find::result(&args.result, &args.archive)?;
    if args.json {
        to_stdout(found.json)?;
        return Ok(Exit::Done);
    }
    let mut shown = text::summary(&found.result);
    if let (true, Some(reference)) = (found.archived, Reference::parse(&args.result)) {
        let entry = find::open(&args.archive)?.entry(reference)?;
        shown.push_str(&format!("\nArchive\n  number {}, files were in {}\n", entry.id, entry.folder));
        if !entry.pins.is_empty() {
            shown.push_str(&format!("  pinned as {}\n", entry.pins.join(", ")));
        }
        if !entry.tags.is_empty() {
            shown.push_str(&format!("  tags: {}\n", entry.tags.join(", ")));
        }
        for (at, note) in &entry.notes {
            shown.push_str(&format!("  note of {at}: {note}\n"));
        }
    }
    to_stdout(shown)?;
    Ok(Exit::Done)
}

/// Adds a note.
pub(super) fn note(args: &NoteArgs) -> Result<Exit, Failure> {
    let archive = find::open(&args.archive)?;
    let id = number(&archive, &args.result)?;
    archive.note(id, &timestamp(SystemTime::now()), &args.text)?;
    to_stdout(format!("noted on {id}\n"))?;
    Ok(Exit::Done)
}

/// Puts tags on, or takes them off.
pub(super) fn tag(args: &TagArgs) -> Result<Exit, Failure> {
    let archive = find::open(&args.archive)?;
    let id = number(&archive, &args.result)?;
    for tag in &args.tags {
        if args.remove && !archive.untag(id, tag)? {
            let reason = format!("has no tag `{tag}`; see `rigel show {id}`");
            return Err(Failure::Kept { path: args.result.clone(), reason });
        }
        if !args.remove {
            archive.tag(id, tag)?;
        }
    }
    to_stdout(format!("{id}: {}\n", archive.entry(Reference::Id(id))?.tags.join(", ")))?;
    Ok(Exit::Done)
}

/// Brings results in.
pub(super) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let mut archive = Archive::open(&find::path(&args.archive))?;
    for path in &args.results {
        let found = find::at(path)?;
        let folder = found.folder.unwrap_or_default();
        let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
        let id = archive.add(&found.result, found.json.as_bytes(), &folder.display().to_string())?;
        to_stdout(format!("{}: {id}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

fn number(archive: &Archive, name: &str) -> Result<i64, Failure> {
    let Some(reference) = Reference::parse(name) else {
        let reason = "not a place of the archive; write a number or pin of `rigel list`, latest or latest~1".to_owned();
        return Err(Failure::Kept { path: name.to_owned(), reason });
    };
    Ok(archive.entry(reference)?.id)
}

fn table(entries: &[Entry]) -> String {
    let row = |entry: &Entry| {
        let target = match entry.targets.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            [first, more @ ..] => format!("{first} and {} more", more.len()),
        };
        let best = format!("{} at {}", format_count(entry.best_iops.round() as u64), entry.best_load);
        let mut marks = entry.tags.clone();
        if entry.verdicts > 0 {
            marks.push(format!("{} remark(s)", entry.verdicts));
        }
        if !entry.notes.is_empty() {
            marks.push(format!("{} note(s)", entry.notes.len()));
        }
        let time = entry.started_at.trim_end_matches('Z').replace('T', " ");
        [entry.id.to_string(), time, entry.name.clone(), target, best, entry.pins.join(", "), marks.join(", ")]
    };
    let head = ["id", "begun (UTC)", "name", "target", "most IOPS", "pins", ""].map(str::to_owned);
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(entries.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
