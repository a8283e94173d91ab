//! The arguments of `rigel compare` and `rigel ab`, as typed. Owns their spelling and help.

use std::path::PathBuf;

use super::ArchiveArg;

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a limit is broken beyond doubt (with --strict also: it cannot be told \
                          that all are kept); 2 wrong usage, or results that cannot be compared; 3 target, set-up or \
                          --switch; 4 I/O errors in a run; 5 interrupted.";

/// `rigel compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct CompareArgs {
    /// What to compare with: a run's folder, a result.json, or of the archive a number, a pinned name, latest, latest~1.
    /// Repeated runs of one kind are joined with commas: 12,13,14.
    #[arg(value_name = "BASE")]
    pub base: String,
    /// What is compared with it, likewise; each is a row of its own.
    #[arg(required = true, value_name = "NEW")]
    pub new: Vec<String>,
    /// How the words are found.
    #[command(flatten)]
    pub judging: JudgingArgs,
    /// Spread from run to run that is assumed where there is one run on each side.
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub spread: String,
    /// Print the comparison as JSON on stdout, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// Folder for comparison.json, comparison.txt, junit.xml and report.html; made if missing.
    #[arg(long, short = 'o', value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
}

/// What both commands judge by.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct JudgingArgs {
    /// How much a figure may change: iops=-2% (may fall by 2 %), p99.read=+5% (may rise by 5 %), mean=3% (either).
    /// Repeatable.
    #[arg(long, value_name = "FIGURE=CHANGE", allow_hyphen_values = true)]
    pub limit: Vec<String>,
    /// Exit with 1 also where it cannot be told that a limit is kept.
    #[arg(long)]
    pub strict: bool,
    /// The least change that matters: less than that is no change.
    #[arg(long, value_name = "PERCENT", default_value = "2.5%")]
    pub resolution: String,
}

/// `rigel ab`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct AbArgs {
    /// Job file (TOML). May be left out when --set, --a and --b say it all.
    pub job: Option<PathBuf>,
    /// What is special about A: FIELD=VALUE, such as block_size=8k, target=URI, workload.oltp.read_percent=100.
    /// Repeatable; left out where only --switch makes the difference.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub a: Vec<String>,
    /// The same about B.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub b: Vec<String>,
    /// The same for both.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Pairs of runs. On a folder that holds fewer the study goes on to this number.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub pairs: u32,
    /// Command to run before each run of another side than the last: {} in it becomes the side's label. Run by sh.
    #[arg(long, value_name = "COMMAND")]
    pub switch: Option<String>,
    /// Time to wait after it.
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub settle: String,
    /// What A and B are called.
    #[arg(long, value_name = "A,B", default_value = "a,b")]
    pub labels: String,
    /// Seed of the order of runs, and of the runs: each pair has its own, the same for both [default: the job's, or 1].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How the words are found.
    #[command(flatten)]
    pub judging: JudgingArgs,
    /// Print the comparison as JSON on stdout, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// Folder of the study; made if missing. One that holds this study with fewer pairs is gone on with [default:
    /// rigel-results/ab-DATE-TIME].
    #[arg(long, short = 'o', value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Allow writing to the target of this identity (serial, NGUID, or IQN/LUN): its data will be destroyed.
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
}
