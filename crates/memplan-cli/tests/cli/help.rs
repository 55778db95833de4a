//! Help texts, listings, completions and the manual page.

use insta::assert_snapshot;
use memplan::format::FORMATS;
use memplan::planner::STRATEGIES;

use crate::run::Folder;

fn prints(args: &str) -> String {
    let ran = Folder::new().run(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args}");
    ran.stdout
}

/// Every command there is.
pub(crate) const COMMANDS: [&str; 17] = [
    "plan",
    "compare",
    "verify",
    "show",
    "dump",
    "opt",
    "run",
    "reduce",
    "fit",
    "reorder",
    "explain",
    "bench",
    "strategies",
    "formats",
    "passes",
    "completions",
    "manpage",
];

#[test]
fn the_list_of_commands_is_complete() {
    let help = prints("--help");
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let there: Vec<&str> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    assert_eq!(there, COMMANDS);
}

#[test]
fn help() {
    for command in std::iter::once("").chain(COMMANDS) {
        let name = if command.is_empty() { "help".to_owned() } else { format!("help_{command}") };
        assert_snapshot!(name, prints(&format!("{command} --help")));
    }
}

#[test]
fn without_arguments_the_help_is_shown_as_an_error() {
    let ran = Folder::new().run("");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("Usage: memplan <COMMAND>"));
}

#[test]
fn listings_have_a_line_for_everything_there_is() {
    let (strategies, formats) = (prints("strategies"), prints("formats"));
    let has = |list: &str, name: &str, about: &str| {
        list.lines().any(|line| line.starts_with(&format!("{name} ")) && line.ends_with(about))
    };
    assert!(STRATEGIES.iter().all(|strategy| has(&strategies, strategy.name(), strategy.describe())), "{strategies}");
    assert!(FORMATS.iter().all(|format| has(&formats, format.name(), format.describe())), "{formats}");
}

#[test]
fn completions_know_commands_and_strategies() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = prints(&format!("completions {shell}"));
        assert!(script.contains("compare") && script.contains("time-limit"), "{shell}");
        let completes_values = ["bash", "zsh", "fish"].contains(&shell);
        assert!(script.contains("greedy-by-size") || !completes_values, "{shell}");
    }
}

#[test]
fn the_manual_page_has_every_command() {
    let page = prints("manpage");
    assert!(page.contains(".TH memplan 1"), "{}", &page[..200.min(page.len())]);
    for command in ["plan", "compare", "verify", "show", "dump"] {
        assert!(
            page.contains(&format!("memplan {command}")) || page.contains(&format!("memplan\\-{command}")),
            "{command}"
        );
    }
}
