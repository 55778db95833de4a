//! The `memplan` command: a thin layer of words around the `memplan` library.
//!
//! # Why it is a crate
//!
//! Libraries of memplan never print, never end the process and know nothing of terminals. All of that is here. The
//! command is a library itself, because `python -m memplan` is the same command.
//!
//! A command turns its arguments into an [`Answer`](answer::Answer): text for
//! standard output, notes for standard error, and yes or no. Nothing else in
//! this program writes to the terminal, except a progress bar on long work.
//!
//! Exit codes: 0 fine; 1 the answer is no; 2 wrong usage or unreadable input;
//! 101 a bug; 130 ended by Ctrl-C without a result.
//!
//! # Example
//!
//! ```text
//! $ memplan plan buffers.csv --capacity 1MiB -o plan.csv
//! $ memplan verify buffers.csv plan.csv
//! plan.csv: fine, 4 buffers, extent 784.000 KiB (802816 bytes)
//! ```
//!
//! # Where next
//!
//! Every command is a file under [`command`]; `memplan COMMAND --help` has the examples that the chapter
//! "Command line" of the book prints. What the commands do is done by the crate `memplan`.

mod answer;
mod args;
mod command;
mod diagnose;
mod input;
mod model;
mod output;
mod paint;
mod progress;
mod table;

use std::ffi::OsString;

use clap::Parser;

/// Runs the command with these arguments, the program's name first, and gives its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    match args::Args::try_parse_from(arguments) {
        Ok(args) => answer::deliver(command::run(&args.command)),
        // Requests for help and for the version arrive here, too. If they cannot be printed, the exit code is all
        // that is left to say.
        Err(error) => {
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(u8::MAX)
        }
    }
}
