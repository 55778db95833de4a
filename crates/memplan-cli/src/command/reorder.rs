//! `memplan reorder`: an order of execution in which less is alive at once.

use std::io::Write;

use memplan::models::graph::order::{Reordered, WIDTH, reorder};
use memplan::models::{onnx, tflite};
use memplan::network::{Kind, Network};
use memplan::source::Source;
use memplan::wording::{count, sized};
use serde_json::json;

use super::short_name;
use crate::answer::{Answer, Failure};
use crate::args::ReorderArgs;
use crate::paint::{Style, painted, visible};
use crate::{input, output};

pub(super) fn run(args: &ReorderArgs) -> Result<Answer, Failure> {
    let source = input::source(&args.file, &args.format)?;
    let input = input::read(&source)?;
    let Some(network) = &input.network else {
        let message = format!("there is no network in {}", source.name);
        return Err(Failure::usage_with_help(message, "give a .tflite or an .onnx model"));
    };
    let found = reorder(network.model(), network.assumptions(), args.width.unwrap_or(WIDTH))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let mut text = if args.json { as_json(&found) } else { report(&source, &found) };
    let was_input = args.output.as_ref().filter(|path| output::is_input(path, &args.file));
    let replaced = was_input.and_then(|path| output::replaced_input(path, true));
    if let Some(path) = &args.output {
        write(&source, network, &found, path)?;
        if !args.json {
            text.push_str(&format!("\nreordered model written to {}\n", path.display()));
        }
    }
    Ok(Answer::yes(text).with_notes(input.notes).with_notes(replaced))
}

/// The same file with its ops in another order.
fn write(source: &Source, network: &Network, found: &Reordered, path: &std::path::Path) -> Result<(), Failure> {
    let content = source.content();
    match network.kind() {
        Kind::Tflite => {
            let patches =
                tflite::reorder::patches(content, &found.order).map_err(|error| input::unreadable(source, &error))?;
            output::write_with(path, &|out: &mut dyn Write| patches.write(content, out))
        }
        Kind::Onnx { nodes } => {
            let place = |op: &memplan::models::graph::OpId| nodes.get(memplan::core::Id::index(*op)).copied();
            let order: Vec<usize> = found.order.iter().filter_map(place).collect();
            let pieces = onnx::reorder::pieces(content, &order).map_err(|error| input::unreadable(source, &error))?;
            output::write_with(path, &|out: &mut dyn Write| pieces.write(content, out))
        }
    }
}

fn report(source: &Source, found: &Reordered) -> String {
    let name = painted(&visible(short_name(source)), Style::Strong);
    let ops = count(found.order.len(), "op");
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
