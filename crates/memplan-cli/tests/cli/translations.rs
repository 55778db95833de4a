//! The Chinese pages say what the English ones say, as far as a program can tell.
//!
//! A translation changes sentences. It does not change commands, code, or numbers in tables. So every
//! such fact of a Chinese page must be a fact of its English page, too: a command that was renamed, or a
//! table that was measured anew, on one side only is a failure.

use std::collections::BTreeSet;

use crate::book::{Part, parts, workspace};
use crate::run::without_times;

/// Chinese pages, and the English pages that they translate.
const TRANSLATED: [(&str, &str); 2] = [("README.zh.md", "README.md"), ("docs/first-plan.zh.md", "docs/first-plan.md")];

/// What a translation keeps: code between backticks, lines of code blocks without comments, and the
/// digits of the cells of tables.
fn facts(markdown: &str) -> BTreeSet<String> {
    let mut facts = BTreeSet::new();
    for part in parts(markdown) {
        match part {
            Part::Code(block) => {
                // A comment of a shell block is a sentence; output of a command is not.
                let code = block.lines.iter().map(|line| line.split(" # ").next().unwrap_or(line).trim_end());
                facts.extend(code.map(without_times));
            }
            Part::Text(line) if line.starts_with('|') => {
                facts.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
                let digits = line.split('|').map(|cell| cell.chars().filter(char::is_ascii_digit).collect::<String>());
                facts.extend(digits.filter(|digits| !digits.is_empty()).map(|digits| format!("a cell with {digits}")));
            }
            Part::Text(line) => facts.extend(line.split('`').skip(1).step_by(2).map(str::to_owned)),
        }
    }
    facts
}

fn page(name: &str) -> String {
    std::fs::read_to_string(workspace().join(name)).unwrap()
}

#[test]
fn the_chinese_pages_say_what_the_english_ones_say() {
    for (chinese, english) in TRANSLATED {
        let (there, here) = (facts(&page(english)), facts(&page(chinese)));
        let astray: Vec<&String> = here.difference(&there).collect();
        assert!(here.len() > 40 && astray.is_empty(), "{chinese} has what {english} has not: {astray:#?}");
    }
}

#[test]
fn a_number_that_only_one_side_has_is_found() {
    let (english, chinese) = ("| plan | 96 B |\n", "| 规划 | 98 B |\n");
    assert!(!facts(chinese).is_subset(&facts(english)));
    assert!(facts("| 规划 | 96 B |\n").is_subset(&facts(english)));
    assert!(!facts("运行 `memplan plan`\n").is_subset(&facts("run `memplan verify`\n")));
}

/// The commands that the English README offers in its table are all in the Chinese one.
#[test]
fn no_command_of_the_readme_is_left_out() {
    let commands = |text: &str| -> BTreeSet<String> {
        facts(text).into_iter().filter(|fact| fact.starts_with("memplan ") && !fact.contains("corpus/")).collect()
    };
    let (english, chinese) = (commands(&page("README.md")), commands(&page("README.zh.md")));
    assert!(english.len() > 8 && english == chinese, "{english:#?} {chinese:#?}");
}
