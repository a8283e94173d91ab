//! `rigel orion` as typed: ORION's words and Rigel's own flags among them.
//!
//! Owns which words are whose. What ORION's mean is `import::orion`'s.

use std::path::PathBuf;

use clap::{CommandFactory, Parser};

use super::{ArchiveArg, EXIT_CODES};

/// `rigel orion`, all words.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct OrionArgs {
    /// ORION's options, such as -run simple -testname mytest -num_disks 8, and Rigel's own; --help tells them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    pub words: Vec<String>,
}

/// ORION's options, for the help.
const ORION: &str = "\
ORION's options stand among these, with one dash, as ORION takes them:
  -run simple|normal|advanced|dss|oltp   kind of test (mandatory)
  -testname NAME     volumes from NAME.lun, files to NAME_yyyymmdd_hhmm_* [default: orion]
  -num_disks N       disks, which set the range of loads [default: volumes in the .lun file]
  -size_small KB     small I/Os [default: 8]          -size_large KB  large I/Os [default: 1024]
  -type rand|seq     large I/Os [default: rand]       -num_streamIO N  outstanding I/Os a stream [default: 4]
  -simulate concat|raid0   -stripe KB                 how the volumes make up one [default: concat; 1024]
  -write PERCENT     writes of both [default: 0]      -cache_size MB  warm-up before streams [default: 2 minutes]
  -duration S        length of each point [default: 60]
  -matrix basic|detailed|point|col|row|max   -num_small N   -num_large N
  -storax WORD   -hugenotneeded   -verbose   -help";

/// Run an ORION test: ORION's options and .lun file in, its files out, beside Rigel's own result.
#[derive(Debug, Parser)]
#[command(name = "orion", bin_name = "rigel orion", before_help = ORION, after_help = EXIT_CODES, max_term_width = 110)]
#[command(override_usage = "rigel orion -run LEVEL [-testname NAME] [-num_disks N] [ORION'S OPTIONS] [--OPTIONS]")]
pub(in crate::cli) struct OrionFlags {
    /// Which of ORION's releases the options are of, and the files look like.
    #[arg(long, value_name = "RELEASE", value_parser = ["10.2", "11.1", "11.2"], default_value = "11.2")]
    pub dialect: String,
    /// Print the Rigel job that the test stands for, and run nothing.
    #[arg(long)]
    pub print_job: bool,
    /// Folder for Rigel's own result; made if missing [default: rigel-results/DATE-TIME].
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<String>,
    /// Go on with the test in this folder, which was cut off; give the command that began it.
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// Allow -write to the volume of this identity (serial, NGUID, or IQN/LUN): its data will be destroyed.
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
    /// Cores to poll on, such as 1-3 or 2,4 [default: one a volume, from the last core down; one for streams].
    #[arg(long, value_name = "LIST")]
    pub cores: Option<String>,
    /// Keep no copy of the result in the archive.
    #[arg(long)]
    pub no_archive: bool,
    /// Where the archive is.
    #[command(flatten)]
    pub archive: ArchiveArg,
    /// No map and no progress; only what ORION prints.
    #[arg(long)]
    pub quiet: bool,
}

impl OrionArgs {
    /// Rigel's flags, and what is left for ORION.
    pub(in crate::cli) fn split(&self) -> Result<(OrionFlags, Vec<String>), clap::Error> {
        let command = OrionFlags::command();
        let (mut own, mut orion) = (vec!["orion".to_owned()], Vec::new());
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--") else {
                orion.push(word.clone());
                continue;
            };
            let name = flag.split('=').next().unwrap_or_default();
            let found = command.get_arguments().find(|argument| argument.get_long() == Some(name));
            if found.is_none() && name != "help" {
                // ORION's options may be written with two dashes; its own reading names what is unknown.
                orion.push(word.clone());
                continue;
            }
            own.push(word.clone());
            if found.is_some_and(|argument| argument.get_action().takes_values()) && !flag.contains('=') {
                own.extend(words.next().cloned());
            }
        }
        Ok((OrionFlags::try_parse_from(own)?, orion))
    }

    /// The help of both.
    pub(in crate::cli) fn help() -> String {
        OrionFlags::command().render_long_help().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_may_stand_among_orions_options() {
        OrionFlags::command().debug_assert();
        let words = "-run oltp --dialect 11.1 -testname t --print-job --destroy=A -num_disks 2 --destroy B --odd 1";
        let args = OrionArgs { words: words.split(' ').map(str::to_owned).collect() };
        let (flags, orion) = args.split().unwrap();
        assert_eq!(orion.join(" "), "-run oltp -testname t -num_disks 2 --odd 1");
        assert_eq!((flags.dialect.as_str(), flags.print_job), ("11.1", true));
        assert_eq!(flags.destroy, ["A", "B"]);
    }
}
