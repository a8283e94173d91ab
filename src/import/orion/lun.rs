//! The `.lun` file: the name it is opened by, and its targets.
//!
//! Owns the grammar of the file. Opens nothing: its caller reads the file named here and passes the text on.

use super::error::OrionError;
use crate::spec::Uri;

/// The file that belongs to a test's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LunFile {
    /// The file to open.
    pub file: String,
    /// The prefix of the output files: the test's name without the extension.
    pub testname: String,
    /// What the user should know, if the name was not as ORION wants it.
    pub note: Option<String>,
}

/// The file to open for the name of a test: `x.lun` for `x`, and for `x.lun` too, which ORION would look for as
/// `x.lun.lun`.
#[must_use]
pub fn lun_file(testname: &str) -> LunFile {
    let stem = testname.strip_suffix(".lun").filter(|stem| !stem.is_empty() && !stem.ends_with('/'));
    let note = stem.map(|stem| {
        format!("`-testname {testname}` names the file; the test is called `{stem}` and its volumes are in {testname}")
    });
    let testname = stem.unwrap_or(testname);
    LunFile { file: format!("{testname}.lun"), testname: testname.to_owned(), note }
}

/// Reads the text of a `.lun` file: a path or a target URI a line, blank lines between them; `file` serves the errors.
///
/// # Errors
/// A line that is no target, a target that stands there twice, and a file without any.
pub fn parse_luns(text: &str, file: &str) -> Result<Vec<Uri>, OrionError> {
    let mut found: Vec<(usize, Uri)> = Vec::new();
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (number, line) = (at + 1, line.trim());
        if line.is_empty() {
            continue;
        }
        let fault = |message: String| OrionError::new(format!("{file}:{number}"), message);
        if line.starts_with('#') {
            return Err(fault("a .lun file has no comments; delete the line".to_owned()));
        }
        let uri: Uri = line.parse().map_err(fault)?;
        if let Some((first, _)) = found.iter().find(|(_, other)| *other == uri) {
            return Err(fault(format!("{uri} stands in line {first} already; list each volume once")));
        }
        found.push((number, uri));
    }
    if found.is_empty() {
        return Err(OrionError::new(
            file,
            "lists no volume; write one a line, such as /dev/sdb or nvme-tcp://127.0.0.1:4420/NQN?ns=1",
        ));
    }
    Ok(found.into_iter().map(|(_, uri)| uri).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_found_with_and_without_its_extension() {
        let plain = lun_file("mytest");
        assert_eq!((plain.file.as_str(), plain.testname.as_str(), plain.note), ("mytest.lun", "mytest", None));
        let extended = lun_file("runs/mytest.lun");
        assert_eq!((extended.file.as_str(), extended.testname.as_str()), ("runs/mytest.lun", "runs/mytest"));
        assert!(extended.note.unwrap().contains("`runs/mytest`"));
        assert_eq!(lun_file(".lun").file, ".lun.lun");
    }

    #[test]
    fn paths_and_uris_are_targets_and_blank_lines_are_none() {
        let luns = parse_luns("/dev/sdb\r\n\n  sim://powermax-read-miss \n\nnull://1t", "x.lun").unwrap();
        let schemes: Vec<&str> = luns.iter().map(Uri::scheme).collect();
        assert_eq!(schemes, ["file", "sim", "null"]);
    }

    #[test]
    fn a_bad_line_is_refused_by_its_number() {
        for (text, says) in [
            ("/dev/sdb\n\n/dev/sdb\n", "x.lun:3: file:///dev/sdb stands in line 1 already; list each volume once"),
            ("/dev/sdb\nsdc\n", "x.lun:2: a target is SCHEME://"),
            ("# volumes\n/dev/sdb", "x.lun:1: a .lun file has no comments; delete the line"),
            ("\n \n", "x.lun: lists no volume; write one a line"),
            ("iscsi://u%s3cret@/iqn.2001-05.com.example:a/0", "x.lun:1: iscsi:"),
        ] {
            let error = parse_luns(text, "x.lun").unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
