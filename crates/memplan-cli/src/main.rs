//! The `memplan` command: a thin layer of words around the `memplan` library.
//!
//! A command turns its arguments into an [`Answer`](answer::Answer): text for
//! standard output, notes for standard error, and yes or no. Nothing else in
//! this program writes to the terminal, except a progress bar on long work.
//!
//! Exit codes: 0 fine; 1 the answer is no; 2 wrong usage or unreadable input;
//! 101 a bug.

mod answer;
mod args;
mod command;
mod diagnose;
mod input;
mod output;
mod paint;
mod progress;
mod table;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    answer::deliver(command::run(&args.command))
}
