//! The command reference, generated from the command itself.

use crate::help::COMMANDS;
use crate::run::{Folder, assert_current};

#[test]
fn the_command_reference_is_current() {
    let help = |args: &str| Folder::new().run(args).stdout;
    let mut page = String::from(
        "# Command reference\n\nGenerated from the command's own help; `MEMPLAN_BLESS=1 cargo test -p memplan-cli` rewrites it.\n",
    );
    page.push_str(&format!("\n## memplan\n\n```text\n{}```\n", help("--help")));
    for command in COMMANDS {
        page.push_str(&format!("\n## memplan {command}\n\n```text\n{}```\n", help(&format!("{command} --help"))));
    }
    assert_current("docs/cli.md", &page);
}
