//! The `rigel` program: hands its arguments to the command line layer and ends with the code it gives.

use std::process::ExitCode;

fn main() -> ExitCode {
    rigel::cli::main()
}
