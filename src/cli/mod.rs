//! The command line: arguments in, text and exit codes out.
//!
//! Owns everything a person at a terminal meets. The only layer that prints; it decides nothing about loads or figures.

mod ab;
mod args;
mod ceiling;
mod child;
mod compare;
mod events;
mod exit;
mod export;
mod fill;
mod find;
mod host;
#[cfg(feature = "archive")]
mod library;
mod live;
mod orion;
mod out;
mod points;
mod proc;
mod report;
mod resume;
mod run;
mod save;
mod series;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::{Args, Command};
use exit::Exit;

/// Runs the program with the process's arguments; the code is documented in `rigel --help`.
#[must_use]
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        // Help and version end here too, on stdout and with success.
        Err(message) => {
            let _ = message.print();
            return if message.use_stderr() { Exit::Usage } else { Exit::Done }.into();
        }
    };
    // SPDK reports every failed command; what matters of it stands in our own messages.
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,spdk=off"));
    let logging =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).without_time().try_init();
    debug_assert!(logging.is_ok(), "logging is set up once");
    let outcome = match args.command {
        Command::Run(args) => run::run(&args),
        Command::Orion(args) => orion::run(&args),
        Command::Fill(args) => fill::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Ab(args) => ab::run(&args),
        Command::Report(args) => report::run(&args),
        #[cfg(feature = "archive")]
        Command::List(args) => library::list(&args),
        #[cfg(feature = "archive")]
        Command::Show(args) => library::show(&args),
        #[cfg(feature = "archive")]
        Command::Note(args) => library::note(&args),
        #[cfg(feature = "archive")]
        Command::Tag(args) => library::tag(&args),
        #[cfg(feature = "archive")]
        Command::Import(args) => library::import(&args),
        Command::Export(args) => export::export(&args),
        Command::Schema(args) => export::schema(&args),
    };
    let exit = outcome.unwrap_or_else(|failure| {
        eprintln!("rigel: {failure}");
        failure.exit()
    });
    exit.into()
}
