//! `memplan strategies`, `formats` and `passes`: what there is, one line each.

use memplan::format::FORMATS;
use memplan::pass::PASSES;
use memplan::planner::{Assign, STRATEGIES};

use crate::answer::Answer;
use crate::paint::Style;
use crate::table::Table;

/// The strategies, what each can make (offsets, shared objects), and how it works in a sentence.
pub(super) fn strategies() -> Answer {
    let mut table = Table::with_heading(&["strategy", "makes", "how"]);
    for strategy in STRATEGIES {
        let kinds: Vec<&str> = strategy.assigns().iter().map(|assign| kind(*assign)).collect();
        table.row([
            (strategy.name().to_owned(), Style::Strong),
            (kinds.join(", "), Style::Plain),
            (strategy.describe().to_owned(), Style::Plain),
        ]);
    }
    Answer::yes(table.render(0))
}

/// The kind of plan, as `--assign` calls it.
fn kind(assign: Assign) -> &'static str {
    match assign {
        Assign::Offsets => "offsets",
        Assign::Objects => "objects",
    }
}

/// The formats, by which extensions their files are known, and what is in them.
pub(super) fn formats() -> Answer {
    let mut table = Table::with_heading(&["format", "files", "content"]);
    for format in FORMATS {
        let files: Vec<String> = format.extensions().iter().map(|extension| format!("*.{extension}")).collect();
        table.row([
            (format.name().to_owned(), Style::Strong),
            (files.join(", "), Style::Plain),
            (format.describe().to_owned(), Style::Plain),
        ]);
    }
    Answer::yes(table.render(0))
}

/// The passes with their options.
pub(super) fn passes() -> Answer {
    let mut table = Table::with_heading(&["pass", "what it does"]);
    for pass in PASSES {
        table.row([(pass.name.to_owned(), Style::Strong), (pass.describe.to_owned(), Style::Plain)]);
        for (option, effect) in pass.options {
            table.row([(format!("  {option}"), Style::Plain), (format!("  {effect}"), Style::Faint)]);
        }
    }
    Answer::yes(table.render(0))
}
