//! Global memory for networks of `top` and `tpu` ops.

use std::fmt::Display;

use memplan_core::line_column;
use memplan_mlir::pass::assign_gmem::{self, Addressed, Assigned, Misplaced, Options, WeightArray};
use memplan_mlir::pass::{PassOptions, Remark, SpecError};
use memplan_mlir::{Dialects, Document};
use memplan_models::{ReadError, npz, utf8};
use memplan_verify::dataflow::{self, SitePlan};

use super::mlir::failure;
use super::{Pass, PassFailure, PassHow, Rewritten};
use crate::finding::{self, Finding};
use crate::pipeline::{Source, Unsound};

/// Addresses for weights and activations.
pub(super) struct AssignGmem;

impl Pass for AssignGmem {
    fn name(&self) -> &'static str {
        "assign-gmem"
    }

    fn describe(&self) -> &'static str {
        "MLIR, top and tpu ops: addresses in global memory for weights and activations"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("mode=best|documented", "every way to plan, or the documented algorithm"),
            ("chip=NAME", "a chip instead of the module's"),
            ("chips=FILE", "descriptions of more chips, in TOML"),
            ("addr_mode=MODE", "basic, in_reuse, io_alone, io_tag, io_tag_fuse, io_reloc or auto"),
            ("weights=FILE.npz", "the weight file: equal weights share memory"),
            ("reuse_addr=false", "no two tensors share memory"),
            ("same_addr=\"0:0,1:2\"", "io_alone: input 0 lies where output 0 lies, 1 where 2"),
            ("iomem_set=\"a,b\"", "cv18xx: the inputs and outputs to be tagged"),
        ]
    }

    fn run(&self, source: &Source, options: &PassOptions, how: &PassHow) -> Result<Rewritten, PassFailure> {
        let options = with_files(Options::parse(options)?)?;
        let text = utf8(&source.bytes)?;
        let document = read(source, text)?;
        let assigned =
            assign_gmem::run(&document, &options, how.strategy, &how.request).map_err(|error| failure(text, error))?;
        let rewritten = assigned.edits.apply(text).map_err(|error| failure(text, error.into()))?;
        let findings = self.findings(&assigned, &document, source, &rewritten, &options)?;
        if !findings.is_empty() {
            return Err(Unsound { strategy: self.name(), findings }.into());
        }
        let notes = assigned.remarks.iter().map(|remark| placed(text, remark)).collect();
        Ok(Rewritten { text: rewritten, notes, savings: assigned.stats, ..Rewritten::default() })
    }
}

impl AssignGmem {
    /// What is wrong with the packing, with the addresses, or with the way they stand in the new text.
    fn findings(
        &self,
        assigned: &Assigned,
        document: &Document,
        source: &Source,
        rewritten: &str,
        options: &Options,
    ) -> Result<Vec<Finding>, PassFailure> {
        let packings = assigned.packings.iter();
        let mut findings: Vec<Finding> =
            packings.flat_map(|(problem, plan)| finding::in_packing(problem, plan)).collect();
        let written = read(source, rewritten)?;
        let again = assign_gmem::addressed(document, &written, options).map_err(|error| failure(rewritten, error))?;
        if again.placements != assigned.placements {
            findings.push(plain("gmem::not-as-planned", "the new text does not say what was planned".to_owned()));
        }
        let plan = SitePlan { placements: assigned.placements.clone(), ..SitePlan::empty(&assigned.program) };
        findings.extend(finding::in_dataflow(&assigned.program, &dataflow::check(&assigned.program, &plan)));
        findings.extend(again.misplaced.iter().map(misplaced));
        Ok(findings)
    }
}

fn read(source: &Source, text: &str) -> Result<Document, ReadError> {
    let dialects = source.options.dialects.as_ref().unwrap_or(Dialects::builtin());
    Document::read(text, dialects).map_err(|error| ReadError::new(error.code(), text, error.span(), error.to_string()))
}

/// Reads the files that the options name.
fn with_files(mut options: Options) -> Result<Options, SpecError> {
    if let Some(file) = &options.chip_file {
        let bytes = std::fs::read(file).map_err(|error| wrong("chips", "a file that can be read", file, error))?;
        let text = utf8(&bytes).map_err(|error| wrong("chips", "a TOML file", file, error))?;
        options.chips = options.chips.with_toml(text).map_err(|error| {
            let (line, column) = line_column(text, error.span().start as usize);
            wrong("chips", "a chip file", file, format!("line {line}, column {column}: {error}"))
        })?;
    }
    if let Some(file) = &options.weight_file {
        let bytes = std::fs::read(file).map_err(|error| wrong("weights", "a file that can be read", file, error))?;
        let arrays = npz::arrays(&bytes).map_err(|error| wrong("weights", "an .npz file", file, error))?;
        options.contents = Some(arrays.into_iter().map(weight_array).collect());
    }
    Ok(options)
}

fn weight_array(array: npz::Array) -> (String, WeightArray) {
    let npz::Array { name, content, shape, bytes } = array;
    (name, WeightArray { content, shape, bytes })
}

fn wrong(option: &'static str, expected: &'static str, file: &str, error: impl Display) -> SpecError {
    SpecError::Value { option, expected, found: format!("{file}: {error}") }
}

fn placed(text: &str, remark: &Remark) -> String {
    let (line, column) = line_column(text, remark.span.start as usize);
    format!("line {line}, column {column}: {}", remark.message)
}

fn plain(code: &'static str, message: String) -> Finding {
    Finding { code, message, buffers: Vec::new(), step: None, place: None, span: None }
}

fn misplaced(found: &Misplaced) -> Finding {
    let Misplaced { tensor, op, address, expected, .. } = found;
    let message = format!("`{op}` moves no data, so %{tensor} must lie at {expected}, not at {address}");
    Finding { span: Some(found.span), buffers: vec![tensor.clone()], ..plain("gmem::misplaced", message) }
}

/// What is wrong with the addresses in `written`, for the network in `source`.
/// The two may be one file. Also the number of tensors that have an address.
pub fn check_addresses(source: &Source, written: &Source) -> Result<(Vec<Finding>, usize), PassFailure> {
    let (text, other) = (utf8(&source.bytes)?, utf8(&written.bytes)?);
    let (document, with_addresses) = (read(source, text)?, read(written, other)?);
    let Addressed { program, placements, misplaced: wrong } =
        assign_gmem::addressed(&document, &with_addresses, &Options::default())
            .map_err(|error| failure(text, error))?;
    let count = placements.iter().flatten().count();
    let plan = SitePlan { placements, ..SitePlan::empty(&program) };
    let mut findings = finding::in_dataflow(&program, &dataflow::check(&program, &plan));
    findings.extend(wrong.iter().map(misplaced));
    Ok((findings, count))
}

/// The table of the documented algorithm after each step, as text.
pub fn reuse_table(source: &Source) -> Result<String, PassFailure> {
    let text = utf8(&source.bytes)?;
    let document = read(source, text)?;
    if !assign_gmem::is_network(&document) {
        let message = "there is no module of `top` and `tpu` ops here";
        let error = ReadError::new("gmem::no-network", text, memplan_core::Span::new(0, 0), message);
        return Err(error.help("a reuse table is made for modules with a `module.state`").into());
    }
    assign_gmem::reuse_table(&document, &Options::default()).map_err(|error| failure(text, error))
}
