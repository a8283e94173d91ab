//! Reading ORION's command line.
//!
//! Owns the spelling of the options and of their values, and the range of each by itself. How options bear on each
//! other is in `cross.rs`.

use super::cross::check;
use super::error::OrionError;
use super::options::{Command, Dialect, LargeType, Matrix, Options, RunLevel, Simulate, Storax};
use crate::spec::{OUTSTANDING_MAX, hint};

/// The options as they are documented, in the order they are printed.
pub(super) const NAMES: [&str; 19] = [
    "run",
    "testname",
    "num_disks",
    "size_small",
    "size_large",
    "type",
    "num_streamIO",
    "simulate",
    "stripe",
    "write",
    "cache_size",
    "duration",
    "matrix",
    "num_small",
    "num_large",
    "storax",
    "hugenotneeded",
    "verbose",
    "help",
];
/// Largest I/O, as in a job: 64 MiB.
const SIZE_MAX_KB: u32 = 65_536;
/// Longest point, as in a job: 30 days.
const DURATION_MAX_S: u32 = 30 * 86_400;
/// Most disks for which the greatest load of every run level (20 a disk) is one that a job can hold.
const DISKS_MAX: u32 = OUTSTANDING_MAX / 20;

/// Reads a command line for a release of ORION.
///
/// Names and values may be in upper or lower case, since ORION's own examples mix them (`-simulate RAID0`); the name of
/// the test is kept as it is. The dashes that typesetting makes of `-` are read as one, since command lines are copied
/// from documents.
///
/// # Errors
/// Unknown, repeated and incomplete options, values out of range, and options that contradict each other or the release.
pub fn parse<S: AsRef<str>>(words: &[S], dialect: Dialect) -> Result<Command, OrionError> {
    let mut words = words.iter().map(AsRef::as_ref);
    let mut seen: Vec<&'static str> = Vec::new();
    let mut run = None;
    // The level is filled in at the end; it may stand anywhere.
    let mut options = Options::new(dialect, RunLevel::Simple);
    while let Some(word) = words.next() {
        let name = name(word)?;
        if seen.contains(&name) {
            return Err(OrionError::new(format!("-{name}"), "is given twice; give it once"));
        }
        seen.push(name);
        match name {
            "help" => return Ok(Command::Help),
            "verbose" => options.verbose = true,
            "hugenotneeded" => options.huge_not_needed = true,
            "run" => run = Some(one_of(name, &mut words, RunLevel::ALL, RunLevel::word)?),
            name => set(&mut options, name, &mut words)?,
        }
    }
    options.run = run.ok_or_else(|| {
        OrionError::new("-run", format!("is missing; write -run {}", alternatives(RunLevel::ALL, RunLevel::word)))
    })?;
    check(&options)?;
    Ok(Command::Run(Box::new(options)))
}

fn set<'a>(options: &mut Options, name: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<(), OrionError> {
    match name {
        "testname" => options.testname = Some(testname(value(name, "a name, such as mytest", words)?)?),
        "num_disks" => options.num_disks = Some(number(name, "disks", 1..=DISKS_MAX, words)?),
        "size_small" => options.size_small = Some(number(name, "KB", 1..=SIZE_MAX_KB, words)?),
        "size_large" => options.size_large = Some(number(name, "KB", 1..=SIZE_MAX_KB, words)?),
        "type" => options.large_type = Some(one_of(name, words, LargeType::ALL, LargeType::word)?),
        "num_streamIO" => options.num_stream_io = Some(number(name, "I/Os a stream", 1..=65_535, words)?),
        "simulate" => options.simulate = Some(one_of(name, words, Simulate::ALL, Simulate::word)?),
        "stripe" => options.stripe = Some(number(name, "KB", 1..=1_048_576, words)?),
        "write" => options.write = Some(number(name, "per cent", 0..=100, words)?),
        "cache_size" => options.cache_size = Some(number(name, "MB", 0..=u32::MAX, words)?),
        "duration" => options.duration = Some(number(name, "seconds", 1..=DURATION_MAX_S, words)?),
        "matrix" => options.matrix = Some(one_of(name, words, Matrix::ALL, Matrix::word)?),
        "num_small" => options.num_small = Some(number(name, "I/Os", 0..=OUTSTANDING_MAX, words)?),
        "num_large" => options.num_large = Some(number(name, "I/Os or streams", 0..=OUTSTANDING_MAX, words)?),
        _ => options.storax = Some(one_of(name, words, Storax::ALL, Storax::word)?),
    }
    Ok(())
}

/// A word without its dashes, or `None` if it has none.
fn undashed(word: &str) -> Option<&str> {
    let bare = word.trim_start_matches(['-', '\u{2013}', '\u{2014}', '\u{2212}']);
    (bare.len() < word.len()).then_some(bare)
}

fn name(word: &str) -> Result<&'static str, OrionError> {
    let Some(bare) = undashed(word) else {
        return Err(OrionError::new(
            format!("`{word}`"),
            "is not an option; an option begins with `-` and has at most one value, such as -num_disks 8",
        ));
    };
    if let Some((name, value)) = bare.split_once('=') {
        return Err(OrionError::new(format!("-{name}"), format!("its value is the next word; write -{name} {value}")));
    }
    NAMES.into_iter().find(|name| name.eq_ignore_ascii_case(bare)).ok_or_else(|| {
        let known = NAMES.map(|name| format!("-{name}")).join(", ");
        OrionError::new(format!("-{bare}"), format!("unknown option{}; known: {known}", hint(bare, NAMES)))
    })
}

/// The word behind an option; `such_as` says what belongs there.
fn value<'a>(name: &str, such_as: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<&'a str, OrionError> {
    let value = words.next().filter(|value| {
        // `-5` is a value, if a bad one; `-type` is the next option.
        undashed(value).is_none_or(|bare| bare.starts_with(|c: char| c.is_ascii_digit()))
    });
    value.ok_or_else(|| OrionError::new(format!("-{name}"), format!("has no value; write {such_as} behind it")))
}

fn testname(name: &str) -> Result<String, OrionError> {
    if name.is_empty() || name.ends_with('/') {
        return Err(OrionError::new(
            "-testname",
            format!("`{name}` names no test; write the .lun file's name without its extension, such as mytest"),
        ));
    }
    Ok(name.to_owned())
}

fn number<'a>(
    name: &str,
    unit: &str,
    range: std::ops::RangeInclusive<u32>,
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<u32, OrionError> {
    let what = format!("a whole number of {unit}, {} to {}", range.start(), range.end());
    let text = value(name, &what, words)?;
    // `+5` would be read as a number too, but printed otherwise than it was written.
    let number = text.parse().ok().filter(|number| range.contains(number) && !text.starts_with('+'));
    number.ok_or_else(|| OrionError::new(format!("-{name}"), format!("`{text}` cannot be used; write {what}")))
}

fn one_of<'a, T: Copy>(
    name: &str,
    words: &mut impl Iterator<Item = &'a str>,
    all: &[T],
    word: fn(T) -> &'static str,
) -> Result<T, OrionError> {
    let what = alternatives(all, word);
    let text = value(name, &what, words)?;
    all.iter().copied().find(|value| word(*value).eq_ignore_ascii_case(text)).ok_or_else(|| {
        let hint = hint(text, all.iter().map(|value| word(*value)));
        OrionError::new(format!("-{name}"), format!("unknown value `{text}`{hint}; write {what}"))
    })
}

/// `a, b or c`.
fn alternatives<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> String {
    let words: Vec<&str> = all.iter().map(|value| word(*value)).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
