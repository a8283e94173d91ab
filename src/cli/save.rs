//! The folder a result is kept in. Owns its files and that a bad folder is found before the run, not after.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::exit::Failure;
use super::find;
use crate::report;
use crate::result::RunResult;

/// The folder of all results whose place nobody has named.
pub(super) const RESULTS: &str = "rigel-results";
/// Where the result stands in its folder.
pub(super) const RESULT: &str = "result.json";
/// Where the series does.
pub(super) const SERIES: &str = "series.jsonl";

/// A folder that was found to be writable. One that was made for a run which then left nothing goes again.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    made: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.made {
            // Fails, as it should, when anything is in it.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

impl Folder {
    /// Makes the folder named, or one named after the time under `rigel-results`. A folder that holds a result already,
    /// or the series of a run that came to no result, is refused: nothing is overwritten.
    pub(super) fn open(asked: Option<&str>, now: SystemTime) -> Result<Self, Failure> {
        let path = match asked {
            Some(asked) => PathBuf::from(asked),
            None => free_name(&Path::new(RESULTS).join(name_of(now))),
        };
        let made = !path.exists();
        fs::create_dir_all(&path).map_err(|error| Failure::write(&path, error))?;
        if path.join(RESULT).exists() {
            return Err(Failure::write(&path, "it holds a result already"));
        }
        if path.join(SERIES).exists() {
            return Err(Failure::write(&path, "it holds the series of a run already, one that came to no result"));
        }
        let probe = path.join(".rigel-write-test");
        fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(|error| Failure::write(&path, error))?;
        Ok(Self { path, made })
    }

    /// The folder of a run that is gone on with.
    pub(super) fn reopen(path: &Path) -> Result<Self, Failure> {
        let probe = path.join(".rigel-write-test");
        fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(|error| Failure::write(path, error))?;
        Ok(Self { path: path.to_owned(), made: false })
    }

    /// Writes the page of a finished run.
    pub(super) fn save_page(&self, result: &RunResult) -> Result<(), Failure> {
        let label = find::label(result);
        self.put(
            "report.html",
            report::html::page(&[report::html::Source {
                label,
                result,
                series: find::series(&self.path).ok().flatten().as_ref(),
            }])
            .as_bytes(),
        )
    }

    /// Writes (or replaces) `result.json` and `summary.txt`, each whole or not at all.
    pub(super) fn save(&self, result: &RunResult) -> Result<(), Failure> {
        self.put(RESULT, &report::json::render(result))?;
        self.put("summary.txt", report::text::summary(result).as_bytes())
    }

    /// Writes what other programs read: `points.csv` and `latency.hlog`.
    pub(super) fn export(&self, result: &RunResult) -> Result<(), Failure> {
        self.put("points.csv", &report::export::points(result))?;
        self.put("latency.hlog", &report::export::hlog(result))
    }

    /// Saves under the system's folder for temporary files, for when the own one has no room; tells where.
    pub(super) fn save_aside(result: &RunResult, now: SystemTime) -> Option<PathBuf> {
        let aside = free_name(&std::env::temp_dir().join(RESULTS).join(name_of(now)));
        let aside = Self::open(aside.to_str(), now).ok()?;
        aside.save(result).ok().map(|()| aside.path.clone())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        put(&self.path, name, bytes).map_err(|error| Failure::write(&self.path.join(name), error))
    }
}

/// Writes (or replaces) a file of `folder`, whole or not at all.
pub(super) fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let (path, fresh) = (folder.join(name), folder.join(format!(".{name}.new")));
    let write = || {
        let mut file = fs::File::create(&fresh)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&fresh, &path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&fresh);
    })
}

/// The name of a run's folder.
pub(super) fn name_of(started: SystemTime) -> String {
    timestamp(started).replace(':', "-").trim_end_matches('Z').to_owned()
}

/// `path`, or with a number behind it the first that does not exist.
pub(super) fn free_name(path: &Path) -> PathBuf {
    let numbered = |n: u32| PathBuf::from(format!("{}-{n}", path.display()));
    std::iter::once(path.to_owned()).chain((2..).map(numbered)).find(|p| !p.exists()).unwrap_or_else(|| path.to_owned())
}

/// UTC in RFC 3339 with seconds: `2026-11-30T16:05:09Z`. Days to a date after H. Hinnant, "chrono-compatible low-level
/// date algorithms".
pub(super) fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 { month_shifted + 3 } else { month_shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::timestamp;

    #[test]
    fn times_are_told_in_utc() {
        let at = |s| timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_796_054_709), "2026-11-30T16:05:09Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
