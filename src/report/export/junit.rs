//! A JUnit report of checks, as CI systems read it.
//!
//! Owns the XML. Takes any suites of checks; knows no result.

use std::borrow::Cow;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::checks::{Check, Outcome, Suite};

/// The report; `started_at` is the start of the run, in UTC.
#[must_use]
pub fn render(suites: &[Suite], started_at: &str) -> Vec<u8> {
    let all = || suites.iter().flat_map(|suite| &suite.checks);
    let time_s: f64 = suites.iter().map(|suite| suite.time_s).sum();
    let mut xml = Writer::new_with_indent(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_vec(), b' ', 2);
    let root = xml.create_element("testsuites").with_attribute(("name", "rigel"));
    let root = root.with_attributes(counts(all(), time_s).iter().map(|(name, count)| (*name, count.as_str())));
    root.write_inner_content(|xml| suites.iter().try_for_each(|suite| write_suite(xml, suite, started_at)))
        .expect("a Vec takes all");
    let mut bytes = xml.into_inner();
    bytes.push(b'\n');
    bytes
}

fn write_suite(xml: &mut Writer<Vec<u8>>, suite: &Suite, started_at: &str) -> std::io::Result<()> {
    let name = clean(&suite.name);
    let counts = counts(suite.checks.iter(), suite.time_s);
    let element = xml.create_element("testsuite").with_attribute(("name", name.as_ref()));
    let element = element.with_attribute(("timestamp", started_at.trim_end_matches('Z')));
    let element = element.with_attributes(counts.iter().map(|(name, count)| (*name, count.as_str())));
    element.write_inner_content(|xml| suite.checks.iter().try_for_each(|check| write_check(xml, &name, check)))?;
    Ok(())
}

fn write_check(xml: &mut Writer<Vec<u8>>, suite: &str, check: &Check) -> std::io::Result<()> {
    let name = clean(&check.name);
    let case = xml.create_element("testcase");
    let case = case.with_attributes([("classname", suite), ("name", name.as_ref()), ("time", "0")]);
    let (tag, message) = match &check.outcome {
        Outcome::Passed => return case.write_empty().map(|_| ()),
        Outcome::Failed(message) => ("failure", clean(message)),
        Outcome::Skipped(reason) => ("skipped", clean(reason)),
    };
    case.write_inner_content(|xml| {
        let inner = xml.create_element(tag).with_attribute(("message", message.as_ref()));
        let inner = if tag == "failure" { inner.with_attribute(("type", "check")) } else { inner };
        inner.write_text_content(BytesText::new(&message)).map(|_| ())
    })
    .map(|_| ())
}

/// The attributes that count outcomes.
fn counts<'a>(checks: impl Iterator<Item = &'a Check> + Clone, time_s: f64) -> [(&'static str, String); 5] {
    let of = |is: fn(&Outcome) -> bool| checks.clone().filter(|check| is(&check.outcome)).count().to_string();
    [
        ("tests", of(|_| true)),
        ("failures", of(|outcome| matches!(outcome, Outcome::Failed(_)))),
        ("skipped", of(|outcome| matches!(outcome, Outcome::Skipped(_)))),
        ("errors", "0".to_owned()),
        ("time", format!("{time_s:.3}")),
    ]
}

/// The text without the characters that XML cannot hold.
fn clean(text: &str) -> Cow<'_, str> {
    let holds = |c: char| matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}');
    if text.chars().all(holds) { text.into() } else { text.replace(|c| !holds(c), "\u{fffd}").into() }
}
