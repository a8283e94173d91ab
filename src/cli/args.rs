//! The arguments as typed. Owns the spelling and help of every command and flag; depends on nothing but the options
//! it fills in.

mod fill;
mod orion;
mod study;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::report::export::Format;
use crate::spec::Overrides;

pub(super) use fill::FillArgs;
pub(super) use orion::{OrionArgs, OrionFlags};
pub(super) use study::{AbArgs, CompareArgs, JudgingArgs};

const EXIT_CODES: &str = "Exit codes: 0 done; 1 not accepted, or an event failed; 2 wrong usage or job; 3 target or set-up; 4 I/O errors in the run, or \
                          its series or result could not be written; 5 interrupted, partial result saved.";

/// Characterises all-flash arrays at peak load, with every I/O in a histogram.
#[derive(Debug, Parser)]
#[command(name = "rigel", version, about, after_help = EXIT_CODES, help_expected = true, max_term_width = 110)]
pub(super) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a job: hold each load of it on the targets, and report IOPS and latency.
    Run(Box<RunArgs>),
    /// Run an ORION test: ORION's options and .lun file in, its files out, beside Rigel's own result.
    #[command(disable_help_flag = true)]
    Orion(OrionArgs),
    /// Write every block of a region of the targets once, or several times, so that reads find data.
    Fill(Box<FillArgs>),
    /// Tell whether runs differ from a base, and by how much; keep limits.
    Compare(CompareArgs),
    /// Run a job in two ways in alternation, and tell whether they differ.
    Ab(AbArgs),
    /// Make a page of one result, or of several beside each other.
    Report(ReportArgs),
    /// List the results of the archive, the latest first.
    #[cfg(feature = "archive")]
    List(ListArgs),
    /// Show a result of the archive, or of a folder, as text.
    #[cfg(feature = "archive")]
    Show(ShowArgs),
    /// Add a note to a result of the archive.
    #[cfg(feature = "archive")]
    Note(NoteArgs),
    /// Put tags on a result of the archive, or take them off.
    #[cfg(feature = "archive")]
    Tag(TagArgs),
    /// Bring result folders into the archive.
    #[cfg(feature = "archive")]
    Import(ImportArgs),
    /// Write results in the formats of other programs: tables, histogram logs, metrics, fio's JSON, test reports.
    Export(ExportArgs),
    /// Print the JSON Schema of a job or of a result.
    Schema(SchemaArgs),
}

/// Where the archive is.
#[derive(Debug, clap::Args)]
pub(super) struct ArchiveArg {
    /// Archive file [default: $RIGEL_ARCHIVE, or rigel/archive.sqlite in the user's data folder].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
}

/// `rigel report`.
#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// Results: a run's folder, a result.json, or of the archive a number, latest, latest~1 or a pin.
    /// Several share each chart.
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<String>,
    /// The page to write [default: report.html in the folder of a single result, else in this one].
    #[arg(long, short = 'o', value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Write each chart as an SVG file into this folder too; made if missing.
    #[arg(long, value_name = "FOLDER")]
    pub charts: Option<PathBuf>,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// What narrows or shapes the list, and means nothing where none is printed.
#[cfg(feature = "archive")]
const LIST_ONLY: [&str; 6] = ["name", "target", "since", "until", "tag", "json"];

/// `rigel list`.
#[cfg(feature = "archive")]
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only jobs with this in their name.
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Only targets with this in their serial number or URI.
    #[arg(long, value_name = "TEXT")]
    pub target: Option<String>,
    /// Only runs begun at or after this date: 2026-11, 2026-11-30, 2026-11-30T16:00.
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Only runs begun up to the end of this date.
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Only results with this tag.
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Print the list as JSON.
    #[arg(long)]
    pub json: bool,
    /// Pin a result by a name that can be used wherever its number can; moves the pin if there is one of that name.
    #[arg(long, num_args = 2, action = clap::ArgAction::Set, value_names = ["NAME", "RESULT"], conflicts_with_all = LIST_ONLY)]
    pub pin: Vec<String>,
    /// Remove a pin; its result stays.
    #[arg(long, value_name = "NAME", conflicts_with_all = LIST_ONLY, conflicts_with = "pin")]
    pub unpin: Option<String>,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// `rigel show`.
#[cfg(feature = "archive")]
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// A number of the archive, latest, latest~1, a pin, a run's folder or a result.json.
    #[arg(value_name = "RESULT")]
    pub result: String,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// `rigel note`.
#[cfg(feature = "archive")]
#[derive(Debug, clap::Args)]
pub(super) struct NoteArgs {
    /// A number of the archive, latest, latest~1 or a pin.
    #[arg(value_name = "RESULT")]
    pub result: String,
    /// The note.
    pub text: String,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// `rigel tag`.
#[cfg(feature = "archive")]
#[derive(Debug, clap::Args)]
pub(super) struct TagArgs {
    /// A number of the archive, latest, latest~1 or a pin.
    #[arg(value_name = "RESULT")]
    pub result: String,
    /// The tags.
    #[arg(required = true, value_name = "TAG")]
    pub tags: Vec<String>,
    /// Take them off.
    #[arg(long)]
    pub remove: bool,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// `rigel import`.
#[cfg(feature = "archive")]
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// Run folders, or result.json files.
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// `rigel export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// Results: a run's folder, a result.json, or of the archive a number, latest, latest~1 or a pin.
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<String>,
    /// What to write: one format or several with commas between.
    #[arg(long, short = 'f', value_enum, value_delimiter = ',', value_name = "FORMAT", default_value = "all")]
    pub format: Vec<FormatName>,
    /// Folder to write to; made if missing. Of several results each gets a folder in it [default: that of the result].
    #[arg(long, short = 'o', value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// The formats as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatName {
    /// points.csv, and intervals.csv where the series is there.
    Csv,
    /// latency.hlog, for HdrHistogram's tools.
    Hlog,
    /// rigel.prom, Prometheus text.
    Prometheus,
    /// fio/point-N.json, for fio's tools.
    Fio,
    /// junit.xml, the checks as a test report.
    Junit,
    /// All of these.
    All,
}

impl ExportArgs {
    /// The formats asked for, each once.
    pub(super) fn formats(&self) -> Vec<Format> {
        let asked = |format: &Format| {
            let name = match format {
                Format::Csv => FormatName::Csv,
                Format::Hlog => FormatName::Hlog,
                Format::Prometheus => FormatName::Prometheus,
                Format::Fio => FormatName::Fio,
                Format::Junit => FormatName::Junit,
            };
            self.format.contains(&name) || self.format.contains(&FormatName::All)
        };
        Format::ALL.into_iter().filter(asked).collect()
    }
}

/// `rigel schema`.
#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// Of which file: a job (its TOML as JSON), or result.json.
    #[arg(value_enum, value_name = "FILE")]
    pub of: SchemaOf,
}

/// The files that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaOf {
    /// A job file.
    Job,
    /// A result.
    Result,
}

/// `rigel run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct RunArgs {
    /// Job file (TOML). May be left out when --target says it all.
    pub job: Option<PathBuf>,
    /// Target URI; repeat it for several. nvme-tcp://HOST:PORT/NQN?ns=1, nvme-pcie://BDF, nvme-vfio-user:///FOLDER/NQN,
    /// iscsi://HOST:PORT/IQN/LUN, malloc://SIZE, null://SIZE, sim://PRESET, bdev://NAME?config=FILE.
    #[arg(long, short = 't', value_name = "URI")]
    pub target: Vec<String>,
    /// Bytes of each I/O: 512, 4k, 1m, or sizes with their shares, 4k:60,64k:40 [default: 4k].
    #[arg(long, short = 'b', value_name = "SIZE")]
    pub block_size: Option<String>,
    /// Share of reads in per cent [default: 100].
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub read_percent: Option<String>,
    /// Which addresses: random, sequential, permutation, strided:64k, zipf:0.99, pareto:0.2, normal:10%, hot:80/20
    /// [default: random].
    #[arg(long, value_name = "PATTERN")]
    pub access: Option<String>,
    /// Outstanding I/Os on each target; a list (1,2,4,8) makes a sweep [default: 32].
    #[arg(long, short = 'q', value_name = "N[,N…]", allow_hyphen_values = true)]
    pub queue_depth: Option<String>,
    /// Outstanding I/Os over all targets together; a list makes a sweep.
    #[arg(long, value_name = "N[,N…]", allow_hyphen_values = true)]
    pub outstanding: Option<String>,
    /// Open loop: arrivals a second over all targets, such as 50k, whatever the targets do; a list makes a sweep.
    #[arg(long, value_name = "N[,N…]", allow_hyphen_values = true)]
    pub rate: Option<String>,
    /// How the arrivals of --rate are spread: poisson, constant or bursts:32 [default: poisson].
    #[arg(long, value_name = "SPREAD")]
    pub arrivals: Option<String>,
    /// Most I/Os that --rate may have outstanding; arrivals beyond it wait [default: as many as fit, up to 1024].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_outstanding: Option<String>,
    /// When the targets cannot follow --rate: stop the point or continue [default: stop].
    #[arg(long, value_name = "RULE")]
    pub overload: Option<String>,
    /// Part of each target to touch: whole, 10g (the first), 1g-2g, 10%-20%.
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// What writes carry: compression=2,dedupe=1.5,unit=8k (ratios N:1), or zeroes [default: incompressible, unique].
    #[arg(long, value_name = "KEY=N[,…]")]
    pub payload: Option<String>,
    /// Time before the measuring window of each point opens [default: 2s].
    #[arg(long, value_name = "DURATION")]
    pub ramp: Option<String>,
    /// Length of the measuring window of each point [default: 10s].
    #[arg(long, value_name = "DURATION")]
    pub time: Option<String>,
    /// Length of an interval of the series [default: 1s].
    #[arg(long, value_name = "DURATION")]
    pub interval: Option<String>,
    /// Cores to poll on, such as 1-3 or 2,4 [default: one a target, from the last core down].
    #[arg(long, short = 'c', value_name = "LIST")]
    pub cores: Option<String>,
    /// Seed of every generator; the same seed gives the same I/O [default: 1].
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Measure on a clock that would be refused as unstable; the result says so.
    #[arg(long)]
    pub trust_clock: bool,
    /// Folder for the result; made if missing [default: rigel-results/DATE-TIME].
    #[arg(long, short = 'o', value_name = "FOLDER")]
    pub out: Option<String>,
    /// Go on with the run in this folder, which was cut off; without a job its own is taken.
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// Allow writing to the target of this identity (serial, NGUID, or IQN/LUN): its data will be destroyed.
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
    /// What must hold, such as "p99.9 read <= 500us" or "iops >= 200k at any"; repeatable, adds to the job's.
    #[arg(long, value_name = "CONDITION")]
    pub accept: Vec<String>,
    /// Set any field of the job, such as workload.oltp.read_percent=100; repeatable.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Print the result as JSON on stdout, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// Keep no copy of the result in the archive.
    #[arg(long)]
    pub no_archive: bool,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
    /// No map and no progress; only the table at the end.
    #[arg(long)]
    pub quiet: bool,
}

impl RunArgs {
    /// The flags that override fields of the job.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            target: self.target.clone(),
            block_size: self.block_size.clone(),
            read_percent: self.read_percent.clone(),
            access: self.access.clone(),
            queue_depth: self.queue_depth.clone(),
            outstanding: self.outstanding.clone(),
            rate: self.rate.clone(),
            arrivals: self.arrivals.clone(),
            max_outstanding: self.max_outstanding.clone(),
            overload: self.overload.clone(),
            region: self.region.clone(),
            payload: self.payload.clone(),
            ramp: self.ramp.clone(),
            time: self.time.clone(),
            interval: self.interval.clone(),
            cores: self.cores.clone(),
            seed: self.seed.clone(),
            trust_clock: self.trust_clock,
            out: self.out.clone(),
            destroy: self.destroy.clone(),
            accept: self.accept.clone(),
            set: self.set.clone(),
            ..Overrides::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Args;

    #[test]
    fn the_arguments_are_consistent_and_documented() {
        Args::command().debug_assert();
    }
}
