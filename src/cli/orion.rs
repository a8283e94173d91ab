//! `rigel orion`: ORION's command line and `.lun` file in, its console and files out, beside Rigel's own result.
//!
//! Owns the order of these steps, and where ORION's files go. What the options mean is `import::orion`'s, how the files
//! look `report::orion`'s, how the points are driven `points`'.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::args::{OrionArgs, OrionFlags};
use super::exit::{Exit, Failure};
use super::host;
use super::live::{Connecting, warn};
use super::out::to_stdout;
use super::points::{Before, Outcome, Points};
use super::resume::Resumed;
use super::run;
use super::save::{self, Folder, timestamp};
use crate::campaign::{Campaign, Given, WarmUp};
use crate::driver::select;
use crate::import::orion::{self as import, Command, Dialect, LargeLoad, OrionRun};
use crate::plan;
use crate::report::orion::{self as report, OrionLun, OrionReport, Started};
use crate::result::{Facts, RunResult};
use crate::spec::{CoreList, Job, redact};

/// Runs the test; the exit says how it went.
pub(super) fn run(args: &OrionArgs) -> Result<Exit, Failure> {
    let (flags, words) = match args.split() {
        Ok(split) => split,
        Err(message) => {
            let _ = message.print();
            return Ok(if message.use_stderr() { Exit::Usage } else { Exit::Done });
        }
    };
    let dialect = Dialect::ALL.iter().copied().find(|dialect| dialect.word() == flags.dialect).unwrap_or_default();
    let Command::Run(options) = import::parse(&words, dialect)? else {
        return to_stdout(OrionArgs::help()).map(|()| Exit::Done);
    };
    let test = test(*options, &flags)?;
    for note in &test.notes {
        eprintln!("note: {note}");
    }
    if flags.print_job {
        return to_stdout(test.job_toml()).map(|()| Exit::Done);
    }
    measure(&test, &flags, &words.join(" "))
}

/// The test, with the volumes of its `.lun` file.
fn test(options: import::Options, flags: &OrionFlags) -> Result<OrionRun, Failure> {
    let lun = import::lun_file(options.testname());
    let text = std::fs::read_to_string(&lun.file).map_err(|reason| Failure::Kept {
        reason: format!(
            "the list of the test's volumes cannot be read ({reason}); write one volume a line into it, such as \
             nvme-tcp://127.0.0.1:4420/NQN?ns=1, or name another with -testname"
        ),
        path: lun.file.clone(),
    })?;
    let mut test = OrionRun::new(options, import::parse_luns(&text, &lun.file)?)?;
    test.destroy.clone_from(&flags.destroy);
    let cores = flags.cores.as_deref().map(str::parse::<CoreList>).transpose();
    test.cores = cores.map_err(|reason| Failure::Flag { flag: "--cores", reason })?;
    if test.cores.is_none() && matches!(test.large, LargeLoad::Streams { .. }) {
        // Each core would have its own part of every stream, which were then several.
        test.cores = host::cores().last().and_then(|core| core.to_string().parse().ok());
    }
    Ok(test)
}

fn measure(test: &OrionRun, flags: &OrionFlags, typed: &str) -> Result<Exit, Failure> {
    let resumed = flags.resume.as_deref().map(Resumed::open).transpose()?;
    let now = SystemTime::now();
    let folder = match &resumed {
        Some(resumed) => resumed.folder()?,
        None => Folder::open(flags.out.as_deref(), now)?,
    };
    let given = given(test);
    let jobs = || given.iter().flat_map(|given| [Some(&given.job), given.warm_up.as_ref().map(|warm_up| &warm_up.job)]);
    let depth = jobs().flatten().map(run::greatest_depth).max().unwrap_or(1);
    let job = given.first().map_or_else(Job::default, |given| given.job.clone());
    let connecting = Connecting::show(flags.quiet);
    let backend = select(&test.targets, depth)?;
    let (clock, doubt) = run::clock(&backend, false)?;
    let targets = backend.facts();
    drop(connecting);
    let campaign = Campaign::of_given(given, &targets, &host::cores())?;
    let map = plan::describe(campaign.plan(), &targets);
    let luns: Vec<OrionLun> = targets
        .iter()
        .map(|target| OrionLun { name: target.uri.clone(), size: target.blocks * u64::from(target.block_size) })
        .collect();
    let facts = Facts { host: host::facts(&clock, backend.virtual_time()), targets };
    let command = std::env::args().map(|word| redact(&word)).collect();
    let mut provenance = run::provenance((&job, &campaign), facts, (&clock, doubt), now, command);
    let mut before = Before::default();
    if let Some(resumed) = &resumed {
        before = resumed.before(&provenance.job, campaign.plan(), &provenance.facts)?;
        resumed.keep_beginning(&mut provenance, now);
    }
    let started = local_minute(&provenance.started_at);
    let version = report::version(test.options.dialect);
    let command_line = redact(typed);
    let show = OrionReport { run: test, command_line: &command_line, version, started, luns: &luns, cells: &[] };
    let place = Place::of(&show, resumed.is_some())?;
    to_stdout(banner(&show))?;
    if !flags.quiet {
        run::print_map(&map, true)?;
    }
    let (filling, quiet) = (None, flags.quiet);
    let (events, backend) = (&[][..], &backend);
    let points = Points { campaign: &campaign, events, filling, backend, clock: &clock, folder: &folder, quiet };
    let outcome = points.run(provenance, before)?;
    if outcome.unsaved.is_none() {
        folder.save_page(&outcome.result).unwrap_or_else(|failure| warn(&failure.to_string()));
    }
    run::archive(&outcome.result, flags.no_archive, &flags.archive, &folder);
    let cells = cells(&outcome.result)?;
    let written = place.write(&OrionReport { cells: &cells, ..show }, &folder);
    finish(&outcome, &OrionReport { cells: &cells, ..show }, written, (&folder, now))
}

/// The points of the test, each with what comes before it.
fn given(test: &OrionRun) -> Vec<Given> {
    let of_cell = |cell: &import::Cell| Given {
        settings: OrionRun::settings(*cell),
        job: test.cell_job(*cell),
        warm_up: test.warm_up_job(*cell).map(|(job, amount)| WarmUp { job, amount }),
    };
    test.points.cells.iter().map(of_cell).collect()
}

fn cells(result: &RunResult) -> Result<Vec<report::OrionCell>, Failure> {
    let damaged = |error: crate::result::ResultError| Failure::Kept {
        path: save::RESULT.to_owned(),
        reason: format!("{error}; a result that was gone on with is damaged, begin the test anew without --resume"),
    };
    report::cells(&result.points).map_err(damaged)
}

/// Where ORION's files go: beside the `.lun` file, as ORION has it, and into the folder of the result.
struct Place {
    folder: PathBuf,
}

impl Place {
    /// Found to be writable before the run, and to hold no files of the same name.
    fn of(report: &OrionReport, resumed: bool) -> Result<Self, Failure> {
        let folder = Path::new(&report.run.testname).parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let summary = PathBuf::from(format!("{}_{}_summary.txt", report.run.testname, report.started));
        if summary.exists() && !resumed {
            let reason = "a test of this name began in the same minute; wait for the next one, or change -testname";
            return Err(Failure::Kept { path: summary.display().to_string(), reason: reason.to_owned() });
        }
        save::put(&folder, ".rigel-write-test", b"")
            .and_then(|()| std::fs::remove_file(folder.join(".rigel-write-test")))
            .map_err(|error| {
                let reason = format!("ORION's files cannot be written there ({error}); run it in another folder");
                Failure::Kept { path: folder.display().to_string(), reason }
            })?;
        Ok(Self { folder })
    }

    /// Writes the files to both places; the names, or why not.
    fn write(&self, report: &OrionReport, result: &Folder) -> Result<Vec<String>, String> {
        let files = report::files(report);
        for (path, text) in &files {
            let name = Path::new(path).file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into());
            for folder in [result.path(), &self.folder] {
                save::put(folder, &name, text.as_bytes())
                    .map_err(|error| format!("cannot write {}: {error}", folder.join(&name).display()))?;
            }
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}

/// What ORION prints before the first point.
fn banner(report: &OrionReport) -> String {
    let minutes = report.run.time().as_secs().div_ceil(60);
    format!(
        "ORION: ORacle IO Numbers -- Version {}\n{}_{}\nCalibration will take approximately {minutes} minutes.\nUsing a \
         large value for -cache_size may take longer.\n\n",
        report.version, report.run.testname, report.started
    )
}

fn finish(
    outcome: &Outcome,
    report: &OrionReport,
    written: Result<Vec<String>, String>,
    (folder, now): (&Folder, SystemTime),
) -> Result<Exit, Failure> {
    let kept =
        run::place(outcome, folder, now).map_or_else(|| "not saved".to_owned(), |path| path.display().to_string());
    let mut text = report::maxima(report);
    let files = report::files(report);
    if report.run.options.verbose {
        text += files.iter().find(|(name, _)| name.ends_with("_trace.txt")).map_or("", |(_, trace)| trace);
    }
    let list = written.as_ref().map_or_else(|_| "not all written".to_owned(), |files| files.join(", "));
    to_stdout(format!("{text}\nORION's files: {list}\nResult: {kept}\n"))?;
    let notes = outcome.result.verdicts.iter().map(|verdict| format!("note: {verdict}"));
    notes.for_each(|note| eprintln!("{note}"));
    Ok(match (written, run::exit_of(outcome)) {
        (Err(reason), exit) => {
            warn(&format!("{reason}; the result is whole, make room and repeat the command with --resume {kept}"));
            if exit == Exit::Interrupted { exit } else { Exit::IoErrors }
        }
        (Ok(_), exit) => exit,
    })
}

/// The minute of a time in RFC 3339, as the clock on the wall shows it.
fn local_minute(rfc3339: &str) -> Started {
    let parse = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let instant = parse(rfc3339).or_else(|| parse(&timestamp(SystemTime::now()))).unwrap_or_default();
    let local = jiff::tz::TimeZone::system().to_datetime(instant);
    let part = |value: i8| value.unsigned_abs();
    Started {
        year: local.year().unsigned_abs(),
        month: part(local.month()),
        day: part(local.day()),
        hour: part(local.hour()),
        minute: part(local.minute()),
    }
}
