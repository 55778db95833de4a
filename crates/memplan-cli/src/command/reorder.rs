//! `memplan reorder`: an order of execution in which less is alive at once.

use memplan::driver::{self, How};
use memplan::front_end::Reorder;
use memplan::models::graph::order::Reordered;
use memplan::source::Source;
use memplan::wording::{count, sized};
use serde_json::json;

use super::{failure, short_name};
use crate::answer::{Answer, Failure};
use crate::args::ReorderArgs;
use crate::paint::{Style, painted, visible};
use crate::{input, output};

/// Finds an order of the ops in which less is alive at once, and writes the model in that order if a file is named.
pub(super) fn run(args: &ReorderArgs) -> Result<Answer, Failure> {
    let source = input::source(&args.file, &args.format)?;
    let default = Reorder::default();
    let front_end = Reorder { width: args.width.unwrap_or(default.width) };
    let failed = |error| failure(&source, error);
    // Through the driver, so that the new order is checked before it is shown, and the written model is read again.
    let input = driver::read(&front_end, &source, &How::default()).map_err(failed)?;
    let found = driver::lay_out(&front_end, &input, &How::default()).map_err(failed)?;
    let mut text = if args.json { as_json(&found) } else { report(&source, &found) };
    // Whether the output is the input has to be asked before it is replaced.
    let was_input = args.output.as_ref().filter(|path| output::is_input(path, &args.file));
    let replaced = was_input.and_then(|path| output::replaced_input(path, true));
    if let Some(path) = &args.output {
        let reordered = driver::emit(&front_end, &input, &found).map_err(failed)?;
        output::write_with(path, &|out| reordered.write(out))?;
        if !args.json {
            text.push_str(&format!("\nreordered model written to {}\n", path.display()));
        }
    }
    Ok(Answer::yes(text).with_notes(input.notes).with_notes(replaced))
}

/// The peak before and after, and whether a better order can exist.
fn report(source: &Source, found: &Reordered) -> String {
    let name = painted(&visible(short_name(source)), Style::Strong);
    let ops = count(found.order.len(), "op");
    // The result is exact if the search did not drop any set of ops for being too many, and if no
    // op has a body (a loop or a branch), whose memory is only known as an upper bound.
    let exact = if found.is_exact { "no order needs less" } else { "the best order found" };
    let saved = found.before.0 - found.after.0;
    let verdict = match saved {
        0 => painted("the order stays", Style::Plain),
        _ => painted(&format!("{:.1} % less", 100.0 * saved as f64 / found.before.0.max(1) as f64), Style::Good),
    };
    format!(
        "{name}: {ops}\n\n  peak before  {}\n  peak after   {}\n\n{verdict}; {exact}\n",
        sized(found.before),
        sized(found.after)
    )
}

/// The peaks and the order as JSON.
fn as_json(found: &Reordered) -> String {
    let order: Vec<usize> = found.order.iter().map(|op| memplan::core::Id::index(*op)).collect();
    let value = json!({
        "peak_before": found.before.0,
        "peak_after": found.after.0,
        "exact": found.is_exact,
        "order": order,
    });
    format!("{value}\n")
}
