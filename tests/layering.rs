//! The rules of the source tree that a compiler does not check: imports go one way, `unsafe`, printing and exiting have
//! one place each, and every file says what it owns and stays short.
//!
//! Works on the text of the files with comments and literals blanked out; each breach is told as `file:line`.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers in order; a module names only modules to its left.
const LAYERS: [&str; 19] = [
    "units", "clock", "facts", "stats", "spec", "import", "plan", "workload", "driver", "engine", "fill", "result",
    "campaign", "archive", "report", "compare", "cluster", "cli", "main",
];
/// Layers that are pure functions of their input.
const PURE: [&str; 9] = ["stats", "spec", "import", "plan", "workload", "result", "campaign", "report", "compare"];
/// The only file of the crate with `unsafe`; all else that needs it lives in `spdk-wrapper`.
const UNSAFE_FILE: &str = "driver/uring.rs";
/// Most lines of a file.
const MOST_LINES: usize = 400;

#[test]
fn the_source_tree_keeps_its_rules() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&src, &mut files);
    assert!(files.len() > 10, "found only {} source files under {}", files.len(), src.display());
    let breaches: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let name = file.strip_prefix(&src).unwrap().to_str().unwrap();
            breaches(name, &fs::read_to_string(file).unwrap())
        })
        .collect();
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

/// All breaches in the file `name` (relative to `src`).
fn breaches(name: &str, text: &str) -> Vec<String> {
    let code = blank(text);
    let layer = name.split(['/', '.']).next().unwrap_or_default();
    let mut found: Vec<(usize, String)> = Vec::new();
    if !text.starts_with("//!") {
        found.push((0, "starts without a `//!` header that says what the file owns".to_owned()));
    }
    if text.lines().count() > MOST_LINES {
        found.push((text.len() - 1, format!("is longer than {MOST_LINES} lines: split it by subject")));
    }
    imports(name, layer, &code, &mut found);
    let mut ban = |word: &str, allowed: bool, why: &str| {
        if !allowed {
            found.extend(words(&code, word).into_iter().map(|at| (at, format!("`{word}`: {why}"))));
        }
    };
    ban("unsafe", name == UNSAFE_FILE, "lives in spdk-wrapper and driver/uring.rs only");
    for print in ["println!", "eprintln!", "print!", "eprint!", "dbg!"] {
        ban(print, layer == "cli" || layer == "main", "only cli prints");
    }
    ban("process::exit", layer == "main", "only main exits");
    for io in ["std::fs", "std::process", "std::thread", "TcpStream", "UdpSocket", "UnixStream"] {
        ban(io, !PURE.contains(&layer), "this layer does no I/O");
    }
    found.sort();
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    found.into_iter().map(|(at, what)| format!("src/{name}:{}: {what}", line(at))).collect()
}

/// Adds a breach for each module that is named and is not to the left of `layer`.
fn imports(name: &str, layer: &str, code: &str, found: &mut Vec<(usize, String)>) {
    // The root names all layers since it declares them.
    if layer == "lib" {
        return;
    }
    let Some(place) = LAYERS.iter().position(|l| *l == layer) else {
        found.push((0, format!("`{layer}` is not a layer: put the file into one, or the layer into the order")));
        return;
    };
    for (at, named) in named_layers(name, code) {
        match LAYERS.iter().position(|l| *l == named) {
            Some(other) if other <= place => {}
            Some(_) => found.push((at, format!("`{layer}` names `{named}`, which lies above it"))),
            None => found.push((at, format!("`{named}` is not a layer: name the module itself"))),
        }
    }
}

/// The first segment of each path from the root of the crate, and where it stands.
fn named_layers(name: &str, code: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for root in ["crate", "rigel"] {
        for at in words(code, root) {
            // `pub(crate)` and a crate's own name as an ordinary word are no paths.
            if let Some(rest) = after_separator(code, at + root.len()) {
                out.extend(first_segments(code, rest));
            }
        }
    }
    let depth_of_file = name.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").count();
    for at in words(code, "super") {
        // Later ones of a chain are counted with its first.
        if code[..at].trim_end().ends_with("super::") {
            continue;
        }
        let mut depth = depth_of_file + inline_modules(&code[..at]);
        let mut position = at;
        while code[position..].starts_with("super") {
            depth = depth.saturating_sub(1);
            match after_separator(code, position + "super".len()) {
                Some(rest) => position = rest,
                None => break,
            }
        }
        if depth == 0 {
            out.extend(first_segments(code, position));
        }
    }
    out
}

/// The position behind `::` at `at`, blanks skipped.
fn after_separator(code: &str, at: usize) -> Option<usize> {
    let blanks = |at: usize| at + code[at..].len() - code[at..].trim_start().len();
    let separator = blanks(at);
    code[separator..].starts_with("::").then(|| blanks(separator + 2))
}

/// The name at `at`, or each of the group `{…}` that starts there.
fn first_segments(code: &str, at: usize) -> Vec<(usize, String)> {
    let name_at = |at: usize| {
        let name: String = code[at..].chars().take_while(|c| is_word(*c)).collect();
        let name = if name.is_empty() { code[at..].chars().take(1).collect() } else { name };
        (at, name)
    };
    if !code[at..].starts_with('{') {
        return vec![name_at(at)];
    }
    let (mut out, mut depth, mut expected) = (Vec::new(), 0, false);
    for (offset, c) in code[at..].char_indices() {
        match c {
            '{' => (depth, expected) = (depth + 1, depth == 0),
            '}' => depth -= 1,
            ',' if depth == 1 => expected = true,
            c if expected && !c.is_whitespace() => {
                out.push(name_at(at + offset));
                expected = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    out
}

/// How many inline modules (`mod tests {`) are open at the end of `code`.
fn inline_modules(code: &str) -> usize {
    let mut open: Vec<bool> = Vec::new();
    for (at, c) in code.char_indices() {
        match c {
            '{' => {
                let head = code[..at].trim_end();
                let name_at = head.rfind(|c| !is_word(c)).map_or(0, |p| p + 1);
                open.push(
                    words(&head[..name_at], "mod").last().is_some_and(|p| head[p + 3..name_at].trim().is_empty()),
                );
            }
            '}' => {
                open.pop();
            }
            _ => {}
        }
    }
    open.into_iter().filter(|module| *module).count()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where `word` stands in `code` as a word of its own.
fn words(code: &str, word: &str) -> Vec<usize> {
    let bounded = |at: &usize| {
        let (before, after) = (code[..*at].chars().next_back(), code[at + word.len()..].chars().next());
        let goes_on = word.ends_with(is_word) && after.is_some_and(is_word);
        !(goes_on || before.is_some_and(is_word))
    };
    code.match_indices(word).map(|(at, _)| at).filter(bounded).collect()
}

/// `text` with comments and the insides of literals replaced by blanks of the same length, lines kept.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let word_before = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if rest.starts_with('"') {
            quoted(rest, 1, '"')
        } else if !word_before && (rest.starts_with("r\"") || rest.starts_with("r#") || rest.starts_with("br")) {
            raw_string(rest)
        } else if rest.starts_with('\'') {
            character(rest)
        } else {
            0
        };
        out[at..at + length].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at += if length > 0 { length } else { rest.chars().next().map_or(1, char::len_utf8) };
    }
    String::from_utf8(out).expect("whole characters were replaced")
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a literal that ends with `end`, escapes respected.
fn quoted(rest: &str, start: usize, end: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip_while(|(at, _)| *at < start) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == end => return at + end.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Length of `r"…"`, `r#"…"#`; 0 when it is a raw identifier or an ordinary word.
fn raw_string(rest: &str) -> usize {
    let prefix = if rest.starts_with("br") { 2 } else { 1 };
    let hashes = rest[prefix..].chars().take_while(|c| *c == '#').count();
    let start = prefix + hashes;
    if !rest[start..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    rest[start + 1..].find(&end).map_or(rest.len(), |at| start + 1 + at + end.len())
}

/// Length of a character literal; 0 when the quote starts a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => quoted(rest, 1, '\''),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// The breaches in a made-up file, without their place.
fn told(name: &str, text: &str) -> String {
    breaches(name, &format!("//! Header.\n{text}\n")).join("\n")
}

#[test]
fn an_import_from_above_is_a_breach_however_it_is_written() {
    for text in [
        "use crate::engine::record::Phase;",
        "use crate::{units::Ticks, engine::record};",
        "use crate::{\n    units::{Bytes, Ticks},\n    engine,\n};",
        "fn f() { crate :: engine::run(); }",
        "use super::super::engine::launch;",
        "use super::super::{plan::Plan, engine};",
        "mod tests { use super::super::super::engine; }",
        "fn f() { rigel::engine::run(); }",
    ] {
        let breaches = told("driver/sim.rs", text);
        assert!(breaches.contains("`driver` names `engine`"), "{text}: {breaches}");
    }
    assert_eq!(
        told("stats/mod.rs", "\nuse super::plan;"),
        "src/stats/mod.rs:3: `stats` names `plan`, which lies above it"
    );
}

#[test]
fn imports_from_below_and_within_are_in_order() {
    for text in [
        "use crate::plan::Plan;",
        "use crate::driver::Driver;",
        "use super::Driver;",
        "use super::engine_of_this_driver;",
        "mod tests { use super::*; use super::super::null; }",
        "pub(crate) fn f() {} pub(super) fn g() {}",
        "// use crate::engine;\n/* crate::cli */ const S: &str = \"crate::cli\"; const R: &str = r#\"\" crate::cli\"#;",
        "fn f<'a>(c: &'a str) -> char { '\\'' } // crate::cli",
    ] {
        assert_eq!(told("driver/sim.rs", text), "", "{text}");
    }
}

#[test]
fn what_hides_the_module_is_a_breach() {
    for text in ["use crate::*;", "use crate::{self, units};", "use crate::Helper;"] {
        assert!(told("driver/sim.rs", text).contains("is not a layer"), "{text}");
    }
    assert!(told("helpers/mod.rs", "").contains("`helpers` is not a layer"));
}

#[test]
fn unsafe_printing_exiting_and_io_have_their_places() {
    for (name, text, says) in [
        ("engine/launch.rs", "fn f() { unsafe { g() } }", "spdk-wrapper"),
        ("engine/launch.rs", "fn f() { eprintln!(\"x\") }", "only cli prints"),
        ("cli/run.rs", "fn f() { std::process::exit(1) }", "only main exits"),
        ("report/json.rs", "use std::fs;", "no I/O"),
    ] {
        assert!(told(name, text).contains(says), "{name}: {}", told(name, text));
    }
    for (name, text) in [
        ("driver/uring.rs", "fn f() { unsafe { g() } }"),
        ("lib.rs", "#![deny(unsafe_code)]\npub mod cli;"),
        ("cli/run.rs", "fn f() { println!(\"x\") }"),
        ("main.rs", "fn main() { std::process::exit(rigel::cli::main()) }"),
        ("cli/host.rs", "use std::fs;"),
    ] {
        assert_eq!(told(name, text), "", "{name}");
    }
}

#[test]
fn a_file_has_a_header_and_an_end() {
    assert_eq!(breaches("units.rs", "use std::fmt;\n").len(), 1);
    assert!(told("units.rs", &"\n".repeat(MOST_LINES)).contains("longer than 400 lines"));
}
