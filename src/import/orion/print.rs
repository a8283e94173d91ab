//! Writing options as ORION's command line.
//!
//! Owns the order of the words. What it writes is read back as the same options.

use super::options::Options;
use super::parse::NAMES;

impl Options {
    /// The words of the command line, without a program's name; only what was written.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        NAMES.iter().filter_map(|name| self.written(name).map(|value| (name, value))).fold(
            Vec::new(),
            |mut words, (name, value)| {
                words.push(format!("-{name}"));
                words.extend(value);
                words
            },
        )
    }

    /// The words with a blank between them, as ORION's summary shows them.
    #[must_use]
    pub fn command_line(&self) -> String {
        self.words().join(" ")
    }

    /// The value of an option that was written; `Some(None)` for one that has no value.
    fn written(&self, name: &str) -> Option<Option<String>> {
        let number = |value: Option<u32>| value.map(|value| Some(value.to_string()));
        let word = |value: Option<&str>| value.map(|value| Some(value.to_owned()));
        match name {
            "run" => word(Some(self.run.word())),
            "testname" => word(self.testname.as_deref()),
            "num_disks" => number(self.num_disks),
            "size_small" => number(self.size_small),
            "size_large" => number(self.size_large),
            "type" => word(self.large_type.map(|value| value.word())),
            "num_streamIO" => number(self.num_stream_io),
            "simulate" => word(self.simulate.map(|value| value.word())),
            "stripe" => number(self.stripe),
            "write" => number(self.write),
            "cache_size" => number(self.cache_size),
            "duration" => number(self.duration),
            "matrix" => word(self.matrix.map(|value| value.word())),
            "num_small" => number(self.num_small),
            "num_large" => number(self.num_large),
            "storax" => word(self.storax.map(|value| value.word())),
            "hugenotneeded" => self.huge_not_needed.then_some(None),
            "verbose" => self.verbose.then_some(None),
            _ => None,
        }
    }
}
