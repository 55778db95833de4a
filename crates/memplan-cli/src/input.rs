//! Where inputs come from: a file, standard input, or the built-in example.

use std::io::Read;
use std::path::Path;

use memplan::core::{Plan, Problem};
use memplan::driver::{self, How};
use memplan::format::{self, Input, ModelOptions};
use memplan::front_end::Plain;
use memplan::mlir::Dialects;
use memplan::mlir::pass::plan_memory::{Target as Device, TargetError as DeviceError};
use memplan::models::graph::problem::Assumptions;
use memplan::models::tflite::scratch::ScratchTable;
use memplan::models::{ReadError, plan as plan_file, utf8};
use memplan::source::Source;
use memplan::{example, target::Target};

use crate::answer::Failure;
use crate::args::{FormatArgs, ModelArgs};
use crate::diagnose;

/// The file, or the built-in example if there is none.
pub(crate) fn source_or_example(file: Option<&str>, format: &FormatArgs) -> Result<Source, Failure> {
    match file {
        Some(file) => source(file, format),
        None => Ok(example::mobilenet_v2()),
    }
}

/// The content of a file, or of standard input for `-`.
pub(crate) fn source(file: &str, format: &FormatArgs) -> Result<Source, Failure> {
    let chosen = format.format.as_deref().and_then(format::find);
    let mut source = match file {
        "-" => Source { format: chosen, ..Source::new(display_name(file), read_bytes(file)?) },
        // A device or a pipe has no size and cannot be read piece by piece, so it is read as a whole.
        _ if !Path::new(file).is_file() => Source { format: chosen, ..Source::new(file, read_bytes(file)?) },
        _ => Source::open(Path::new(file), chosen).map_err(|error| cannot_read(file, &error))?,
    };
    // What the user says about the reading of the file.
    source.options.dialects = dialects(&format.dialect)?;
    source.options.models = models(&format.model)?;
    source.options.instance.clone_from(&format.instance);
    Ok(source)
}

/// The failure for a file that the system does not let us read.
fn cannot_read(file: &str, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read {}: {error}", display_name(file)))
}

/// What the user says about models. The table of scratch memory is the built-in one, a file, or (`none`) an empty one.
fn models(args: &ModelArgs) -> Result<ModelOptions, Failure> {
    let default = ModelOptions::default();
    let scratch = match args.scratch.as_deref() {
        None => default.scratch,
        Some("none") => Some(ScratchTable::none()),
        Some(file) => {
            let bytes = read_bytes(file)?;
            let table = ScratchTable::from_toml(&String::from_utf8_lossy(&bytes));
            Some(table.map_err(|error| Failure::usage(format!("{file}: {error}")))?)
        }
    };
    let assumptions = Assumptions { reuse_inputs: args.reuse_inputs, in_place: args.in_place };
    let (dimensions, sizes) = (args.dim.iter().cloned().collect(), args.size.iter().cloned().collect());
    Ok(ModelOptions { assumptions, scratch, dimensions, sizes })
}

/// The built-in dialect tables with those of the user's files added one by one; `None` if the user gives none.
fn dialects(files: &[String]) -> Result<Option<Dialects>, Failure> {
    let mut known = None;
    for file in files {
        let source = Source::new(display_name(file), read_bytes(file)?);
        let text = utf8(&source.bytes).map_err(|error| unreadable(&source, &error))?;
        let more = known.as_ref().unwrap_or(Dialects::builtin()).with_toml(text).map_err(|error| {
            unreadable(&source, &ReadError::new("dialect::malformed", text, error.span(), error.to_string()))
        });
        known = Some(more?);
    }
    Ok(known)
}

/// A device by its name: described in a file if the name ends in `.toml`, else built in.
pub(crate) fn device(name: &str) -> Result<Device, Failure> {
    let is_file = std::path::Path::new(name).extension().is_some_and(|extension| extension == "toml");
    if !is_file {
        return Device::built_in(name).map_err(|error| Failure::usage(error.to_string()));
    }
    let source = Source::new(display_name(name), read_bytes(name)?);
    let text = utf8(&source.bytes).map_err(|error| unreadable(&source, &error))?;
    text.parse().map_err(|error: DeviceError| Failure::usage(format!("{}: {error}", display_name(name))))
}

/// The name of a file in messages.
fn display_name(file: &str) -> &str {
    if file == "-" { "<stdin>" } else { file }
}

/// The content of a file, or of standard input for `-`.
fn read_bytes(file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let result = if file == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(file).map(|content| bytes = content)
    };
    result.map_err(|error| cannot_read(file, &error))?;
    Ok(bytes)
}

/// Reads a source; what is wrong with it is shown with an excerpt.
pub(crate) fn read(source: &Source) -> Result<Input, Failure> {
    read_on_target(source, &Target::default())
}

/// Reads a source and sets it on its target.
pub(crate) fn read_on_target(source: &Source, target: &Target) -> Result<Input, Failure> {
    let plain = Plain { target: target.clone(), ..Plain::default() };
    driver::read(&plain, source, &How::default()).map_err(|error| crate::command::failure(source, error))
}

/// A problem on its target.
pub(crate) fn on_target(problem: &Problem, target: &Target) -> Result<Problem, Failure> {
    target.apply(problem).map_err(|error| Failure::usage(error.to_string()))
}

/// Reads a plan for a problem.
pub(crate) fn plan(file: &str, problem: &Problem, offset_column: Option<&str>) -> Result<Plan, Failure> {
    let source = Source::new(display_name(file), read_bytes(file)?);
    plan_file::read(&source.bytes, problem, offset_column).map_err(|error| unreadable(&source, &error))
}

/// A no to what was asked for, shown at its place in the input.
pub(crate) fn refused(source: &Source, error: &ReadError) -> Failure {
    Failure::No(diagnose::excerpt(source, error))
}

/// The failure for an input with something wrong in it.
pub(crate) fn unreadable(source: &Source, error: &ReadError) -> Failure {
    Failure::Unreadable(diagnose::excerpt(source, error))
}
