//! The `memplan` command; see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(memplan_cli::run(std::env::args_os()))
}
