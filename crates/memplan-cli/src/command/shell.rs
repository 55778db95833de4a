//! `memplan completions` and `memplan manpage`: generated from the command line itself.

use clap::CommandFactory;

use crate::answer::{Answer, Failure};
use crate::args::Args;

/// A script that completes commands and options in a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "memplan", &mut script);
    Answer::yes(String::from_utf8_lossy(&script).into_owned())
}

/// One manual page with every command in it: the page of `memplan`, then the sections of each subcommand.
pub(super) fn manual() -> Result<Answer, Failure> {
    let mut command = Args::command();
    command.build();
    let mut page = Vec::new();
    // Writing to memory fails only if the pages themselves cannot be made.
    let mut render = || {
        let manual = clap_mangen::Man::new(command.clone());
        manual.render(&mut page)?;
        for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
            let manual = clap_mangen::Man::new(subcommand.clone());
            manual.render_name_section(&mut page)?;
            manual.render_synopsis_section(&mut page)?;
            manual.render_options_section(&mut page)?;
            manual.render_extra_section(&mut page)?;
        }
        std::io::Result::Ok(())
    };
    render().map_err(|error| Failure::Bug(format!("the manual page cannot be made: {error}")))?;
    Ok(Answer::yes(String::from_utf8_lossy(&page).into_owned()))
}
