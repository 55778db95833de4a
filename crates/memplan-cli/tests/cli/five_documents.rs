//! The page on the five documents: every row of its tables is true.
//!
//! A row has a statement, a command between backticks, and what the command prints, each piece between backticks. The command is run on the
//! files of the page, and every piece must be in what it says.

use crate::book::{Part, parts, workspace};
use crate::run::Folder;

/// A row of a table: a command, and pieces of what it prints.
struct Row<'a> {
    command: &'a str,
    prints: Vec<&'a str>,
}

/// The text between backticks.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let mut cells = line.strip_prefix("| ")?.split(" | ");
    let (_statement, command, prints) = (cells.next()?, cells.next()?, cells.next()?);
    let [command] = code(command)[..] else { return None };
    Some(Row { command, prints: code(prints) })
}

/// The words of a command; blanks between braces belong to a word.
fn words(command: &str) -> Vec<&str> {
    let mut depth = 0;
    command
        .split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ' ' && depth == 0
        })
        .collect()
}

#[test]
fn every_statement_is_shown_by_its_command() {
    let page = std::fs::read_to_string(workspace().join("docs/documents.md")).unwrap();
    let folder = Folder::new();
    let (mut shown, mut wrong) = (0, Vec::new());
    for part in parts(&page) {
        match part {
            Part::Code(block) => {
                let file = block.info.split_whitespace().nth(1).expect("every block of the page is a file");
                std::fs::write(folder.path(file), format!("{}\n", block.lines.join("\n"))).unwrap();
            }
            Part::Text(line) => {
                let Some(row) = row(line) else { continue };
                let said = folder.run_args(&words(row.command)).all();
                shown += 1;
                let missing = row.prints.iter().filter(|piece| !said.contains(**piece));
                wrong.extend(missing.map(|piece| format!("`{}` does not print `{piece}`:\n{said}", row.command)));
                assert!(!row.prints.is_empty(), "`{}` shows nothing", row.command);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(shown >= 60, "{shown} statements");
}

/// The trace of a program is an input like any other, with the same answer.
#[test]
fn a_trace_is_read_again() {
    let folder = Folder::with(&[("ticks.csv", "id,start,end,size\nA,1,4,16\nB,2,3,64\nC,5,6,16\n")]);
    let trace = folder.run("dump ticks.csv --stage trace").stdout;
    std::fs::write(folder.path("ticks.trace"), &trace).unwrap();
    assert_eq!(folder.run("dump ticks.trace --stage trace").stdout, trace);
    for strategy in ["auto", "chunk-hot", "chunk-size-first"] {
        let extent = |file: &str| folder.run(&format!("plan {file} -s {strategy} --json")).json()["extent"].clone();
        assert_eq!(extent("ticks.trace"), extent("ticks.csv"), "{strategy}");
    }
}
