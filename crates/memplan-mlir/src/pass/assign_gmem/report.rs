//! The network as a program, and the table of the documented algorithm as text, for `memplan dump`; and the size of
//! today's plans, for comparisons.

use std::fmt::Write;

use memplan_program::Program;

use super::documented::Table;
use super::network::{Network, Step};
use super::options::Options;
use super::program::Form;
use super::weights::WeightPlan;
use super::{Task, device_modules, find_chip, global_modules, lifecycle, lower};
use crate::Document;
use crate::pass::PassError;

/// The networks of a text as one program, in which a reshape is a view of its operand. Inputs keep their content to
/// the end.
pub fn program(document: &Document, options: &Options) -> Result<Program, PassError> {
    let mut networks = Vec::new();
    for global in global_modules(document) {
        // The chip only matters for the sizes of tensors. If the text names none that is known, one is taken that
        // packs no batches into words, as most.
        let chip = find_chip(document, global, options).ok().or_else(|| options.chips.get("bm1684x"));
        for module in device_modules(document, global) {
            networks.extend(chip.map(|chip| Network::read(document, module, chip)).transpose()?);
        }
    }
    let pinned = |network| (network, lifecycle::pinned(network, false));
    let pairs: Vec<_> = networks.iter().map(pinned).collect();
    lower(document, &pairs, Form::Views).map(|(program, _)| program)
}

/// What today's compilers of these chips would reserve for the activations, one
/// number a device; `None` where part of them goes to on-chip memory.
pub fn todays_sizes(document: &Document, options: &Options) -> Result<Vec<Option<u64>>, PassError> {
    let mut sizes = Vec::new();
    for global in global_modules(document) {
        let task = Task::new(document, global, options)?;
        for module in device_modules(document, global) {
            sizes.push(task.todays_size(module)?);
        }
    }
    Ok(sizes)
}

/// The table of the documented algorithm after each step: which tensor is where,
/// how many reads are to come, and whether the tensor is held and its address in use.
pub fn reuse_table(document: &Document, options: &Options) -> Result<String, PassError> {
    let mut text = String::new();
    for global in global_modules(document) {
        let task = Task::new(document, global, options)?;
        for module in device_modules(document, global) {
            let network = task.network(module)?;
            let weights = WeightPlan::new(&network, task.chip, options.contents.as_ref());
            let weights = weights.ok_or_else(|| task.too_large(module))?;
            weights_text(&mut text, document, &network, &weights);
            let start = task.chip.activations.unwrap_or(weights.end());
            let mut number = 0;
            // The algorithm shows its table after every step.
            let watch = |step: &Step, table: &Table| {
                step_text(&mut text, document, &network, number, step, table);
                number += 1;
            };
            let found = task.documented(&network, start, watch).ok_or_else(|| task.too_large(module))?;
            line(&mut text, format_args!("activations from {start}, {} bytes", found.size));
        }
    }
    Ok(text)
}

/// Adds a line to a text.
fn line(text: &mut String, what: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{what}");
}

/// The places of the weights, a line each.
fn weights_text(text: &mut String, document: &Document, network: &Network, weights: &WeightPlan) {
    line(text, format_args!("weights from {}, {} bytes", weights.start, weights.size));
    for (id, weight) in network.weights.iter_enumerated() {
        let value = document.results(weight.op).first().map_or("", |&value| document.value_name(value));
        line(text, format_args!("  {value} {} {} bytes", weights.addresses[id], weight.bytes));
    }
}

/// One step and the table after it. The headings are those of the document that describes the algorithm:
///
/// - `ref_cnt`: how many reads of the tensor are still to come;
/// - `hold_edges`: whether the tensor is held, which means that nobody may take its address yet;
/// - `in_using_addr`: whether the address belongs to a tensor that is alive.
fn step_text(text: &mut String, document: &Document, network: &Network, number: usize, step: &Step, table: &Table) {
    // A tensor's name in plans, written as a value of the text.
    let name = |&tensor| format!("%{}", network.name(tensor));
    let reads: Vec<String> = step.reads.iter().map(name).collect();
    let writes: Vec<String> = step.writes.iter().map(name).collect();
    let arrow = if writes.is_empty() { "" } else { " -> " };
    let op = document.name(step.op);
    line(text, format_args!("\nstep {number}: {op}({}){arrow}{}", reads.join(", "), writes.join(", ")));
    let names: Vec<String> = table.rows().iter().map(|row| name(&row.tensor)).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0).max("tensor".len());
    let heading = ["address", "size", "ref_cnt", "hold_edges", "in_using_addr"];
    let [address, size, ref_cnt, hold_edges, in_using_addr] = heading;
    let tensor = "tensor";
    line(text, format_args!("  {tensor:width$} {address:>14} {size:>10} {ref_cnt:>7}  {hold_edges}  {in_using_addr}"));
    let yes_or_no = |holds: bool| if holds { "yes" } else { "no" };
    for (row, name) in table.rows().iter().zip(&names) {
        let held = yes_or_no(table.is_held(row.tensor));
        let in_use = yes_or_no(table.is_in_use(row));
        let numbers = format!("{:>14} {:>10} {:>7}", row.address, row.size, row.ref_cnt);
        line(text, format_args!("  {name:width$} {numbers}  {held:10}  {in_use}"));
    }
}
