//! assign-gmem: global memory for networks of `top` and `tpu` ops.
//!
//! These are dialects of the compiler TPU-MLIR. An address is written into the type of each tensor:
//! `%1 : tensor<1x64xf32>` becomes `%1 : tensor<1x64xf32, 4295618560 : i64>`.

use std::borrow::Cow;
use std::fmt::Display;

use memplan_core::{Placement, ReadError, SpecError, line_column, utf8};
use memplan_mlir::Document;
use memplan_mlir::pass::Remark;
use memplan_mlir::pass::assign_gmem::{self, Addressed, Assigned, Misplaced, Options, WeightArray};
use memplan_models::npz;
use memplan_program::Program;
use memplan_verify::dataflow::{SitePlan, SitePlanView};

use super::mlir_text::{failure, read_document};
use super::{Claim, Found, FrontEnd, NamesOfMemories, Output, Packing, Places, listed};
use crate::driver::{Failure, Solver};
use crate::finding::{self, Finding};
use crate::source::Source;

/// The front end of the pass.
#[derive(Clone, Debug)]
pub struct AssignGmem {
    /// The options of the pass, with the content of the files that they name.
    options: Options,
}

/// A text with a network in it.
pub struct NetworkText {
    /// The file, with the options for reading it.
    source: Source,
    /// The text as it was read.
    document: Document,
}

impl AssignGmem {
    /// The pass with its options. Files that they name are read here.
    pub fn new(options: Options) -> Result<AssignGmem, SpecError> {
        Ok(AssignGmem { options: with_files(options)? })
    }
}

impl FrontEnd for AssignGmem {
    type Input = NetworkText;
    type Laid = Assigned;
    const LETS_GO_OF_PACKINGS: bool = true;

    fn name(&self) -> &str {
        "assign-gmem"
    }

    fn read(&self, source: &Source) -> Result<NetworkText, Failure> {
        let document = read_document(source, utf8(&source.bytes)?)?;
        Ok(NetworkText { source: source.clone(), document })
    }

    /// Runs the pass, which gives each tensor an address. If a check has rejected an earlier layout, the pass runs once
    /// more, with the tensors that the check named in memory of their own.
    fn lay_out(&self, input: &NetworkText, solver: &mut Solver) -> Result<Assigned, Failure> {
        let how = solver.how();
        let assign = |options: &Options| {
            assign_gmem::run(&input.document, options, how.strategy, &how.request)
                .map_err(|error| failure(input.document.source(), error))
        };
        let apart = solver.apart(0);
        let assigned = assign(&self.options)?;
        if apart.is_empty() {
            return Ok(assigned);
        }
        // A check has rejected the layout and named tensors. The pass knows no pairs that must stay apart, so each
        // named tensor shares with nobody. The pass takes names, which the program of the first layout has.
        let named = apart.pairs().flat_map(|(one, other)| [one, other]).chain(apart.alone());
        let name = |site| assigned.program.value(assigned.program.site(site).value).name.to_string();
        let alone = named.map(name).collect();
        assign(&Options { alone, ..self.options.clone() })
    }

    /// What is checked: that the network computes the same at these addresses, that no two ranges meet that must not,
    /// and that the written text has these addresses.
    fn claim<'a>(&self, _: &'a NetworkText, laid: &'a Assigned) -> Claim<'a> {
        // The program says what the network computes, and the problems say which ranges of memory must not meet.
        // Buffers of these problems may stand for several tensors, so they are no single sites.
        let plan = SitePlanView::without_owners(&laid.placements);
        let packing =
            |(problem, plan)| Packing { problem: Cow::Borrowed(problem), plan: Cow::Borrowed(plan), sites: None };
        Claim {
            packings: laid.packings.iter().map(|(problem, plan)| packing((problem, plan))).collect(),
            programs: vec![(Cow::Borrowed(&laid.program), plan)],
            placements: vec![listed(&laid.placements)],
            ..Claim::default()
        }
    }

    fn placements<'a>(&self, _: &'a NetworkText, laid: &'a Assigned) -> Vec<Cow<'a, [Option<Placement>]>> {
        vec![listed(&laid.placements)]
    }

    fn let_go_of_packings(&self, laid: &mut Assigned) {
        laid.packings = Vec::new();
    }

    fn let_go(&self, _: &mut NetworkText, laid: &mut Assigned) {
        laid.program = Program::default();
    }

    fn emit(&self, input: &NetworkText, laid: &Assigned) -> Result<Output, Failure> {
        let text = input.document.source();
        let rewritten = laid.edits.apply(text).map_err(|error| failure(text, error.into()))?;
        let notes = laid.remarks.iter().map(|remark| placed(text, remark)).collect();
        Ok(Output { notes, savings: laid.stats.clone(), ..Output::of_text(rewritten) })
    }

    /// Finds the address of each tensor in the types of the written text, without a look at the
    /// layout.
    fn places(&self, input: &NetworkText, output: &Output) -> Result<Places, Failure> {
        let written = read_document(&input.source, output.text())?;
        // An op that moves no data, such as a reshape, has its output on its input: other addresses would be wrong.
        let again = assign_gmem::written_addresses(&input.document, &written, &self.options)
            .map_err(|error| failure(output.text(), error))?;
        if let Some(wrong) = again.misplaced.first() {
            let message = misplaced(wrong).message;
            return Err(ReadError::new("gmem::misplaced", output.text(), wrong.span, message).into());
        }
        // The memory of a device has no name in the text, so its number is its name.
        let mut names = NamesOfMemories::default();
        let mut found = |placement: &memplan_core::Placement| Found {
            memory: names.of_number(memplan_core::Id::index(placement.space)),
            offsets: placement.offsets.iter().map(|offset| offset.0).collect(),
            ..Found::default()
        };
        Ok(Places {
            lists: vec![again.placements.iter().map(|placement| placement.as_ref().map(&mut found)).collect()],
        })
    }
}

/// Reads the files that the options name, into the options: a TOML file that describes chips, and an `.npz` file with
/// the weights.
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

/// An array of a weight file as the pass takes it, by its name.
fn weight_array(array: npz::Array) -> (String, WeightArray) {
    let npz::Array { name, content, shape, bytes } = array;
    (name, WeightArray { content, shape, bytes })
}

/// The error for a file that an option names and that is not what the option expects.
fn wrong(option: &'static str, expected: &'static str, file: &str, error: impl Display) -> SpecError {
    SpecError::Value { option, expected, found: format!("{file}: {error}") }
}

/// A remark with its place in front.
fn placed(text: &str, remark: &Remark) -> String {
    let (line, column) = line_column(text, remark.span.start as usize);
    format!("line {line}, column {column}: {}", remark.message)
}

/// A finding with a code and a message only; the caller adds the buffers and the place.
fn plain(code: &'static str, message: String) -> Finding {
    Finding { code, message, buffers: Vec::new(), step: None, place: None, span: None }
}

/// A tensor that does not lie on the input of the op that makes it, although the op moves no data.
fn misplaced(found: &Misplaced) -> Finding {
    let Misplaced { tensor, op, address, expected, .. } = found;
    let message = format!("`{op}` moves no data, so %{tensor} must lie at {expected}, not at {address}");
    Finding { span: Some(found.span), buffers: vec![tensor.clone()], ..plain("gmem::misplaced", message) }
}

/// Whether a text is a network whose tensors can have addresses in their types.
pub fn is_network(source: &Source) -> bool {
    let text = utf8(&source.bytes);
    text.is_ok_and(|text| read_document(source, text).is_ok_and(|document| assign_gmem::is_network(&document)))
}

/// What is wrong with the addresses in `written`, for the network in `source`, and the number of
/// tensors that have an address. The addresses may come from another tool. The two files may be
/// one.
pub fn check_addresses(source: &Source, written: &Source) -> Result<(Vec<Finding>, usize), Failure> {
    let (text, other) = (utf8(&source.bytes)?, utf8(&written.bytes)?);
    let (document, with_addresses) = (read_document(source, text)?, read_document(written, other)?);
    let Addressed { program, placements, misplaced: wrong } =
        assign_gmem::addressed(&document, &with_addresses, &Options::default())
            .map_err(|error| failure(text, error))?;
    // The dataflow check judges the addresses as it judges a plan of ours.
    let count = placements.iter().flatten().count();
    let plan = SitePlan { placements, ..SitePlan::empty(&program) };
    let mut findings = finding::in_dataflow(&program, &plan);
    findings.extend(wrong.iter().map(misplaced));
    Ok((findings, count))
}

/// The table of free and used ranges that the original's algorithm keeps (docs/assign-gmem.md), after each of its
/// steps, as text. It is for readers who follow that algorithm.
pub fn reuse_table(source: &Source) -> Result<String, Failure> {
    let text = utf8(&source.bytes)?;
    let document = read_document(source, text)?;
    if !assign_gmem::is_network(&document) {
        let message = "there is no module of `top` and `tpu` ops here";
        let error = ReadError::new("gmem::no-network", text, memplan_core::Span::new(0, 0), message);
        return Err(error.help("a reuse table is made for modules with a `module.state`").into());
    }
    assign_gmem::reuse_table(&document, &Options::default()).map_err(|error| failure(text, error))
}
