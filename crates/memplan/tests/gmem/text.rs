//! Modules as text, and what the pass makes of them.

use std::collections::BTreeMap;
use std::path::Path;

use memplan::core::PassSpec;
use memplan::driver::{Checked, Failure, How};
use memplan::front_end::{Output, assign_gmem};
use memplan::mlir::{Dialects, Document, Type};
use memplan::pass::find;
use memplan::source::Source;

/// A file of the workspace's test data.
pub(crate) fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a pass made, field by field.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
}

impl Rewritten {
    fn of(output: &Checked<Output>) -> Rewritten {
        assert_eq!(output.repairs(), [] as [String; 0]);
        Rewritten { text: output.text().to_owned(), notes: output.notes.clone() }
    }
}

/// Runs the pass: `pass` is `assign-gmem` with options.
pub(crate) fn assign(source: &str, pass: &str) -> Result<Rewritten, Failure> {
    let spec: PassSpec = pass.parse().unwrap();
    let how = How::default().strict();
    let output = find(&spec.name).unwrap().run(&Source::new("network.mlir", source), &spec.options, &how)?;
    Ok(Rewritten::of(&output))
}

/// The new text of a network that has one.
pub(crate) fn assigned(source: &str, pass: &str) -> String {
    assign(source, pass).unwrap_or_else(|error| panic!("{error}\n{source}")).text
}

/// Messages about wrong addresses in a text.
pub(crate) fn complaints(text: &str) -> Vec<String> {
    let source = Source::new("network.mlir", text);
    let (findings, _) = assign_gmem::check_addresses(&source, &source).unwrap_or_else(|error| panic!("{error}"));
    findings.into_iter().map(|finding| finding.message).collect()
}

/// Messages about the addresses in one text for the network in another.
pub(crate) fn complaints_about(network: &str, written: &str) -> Vec<String> {
    let (network, written) = (Source::new("network.mlir", network), Source::new("written.mlir", written));
    let (findings, _) = assign_gmem::check_addresses(&network, &written).unwrap_or_else(|error| panic!("{error}"));
    findings.into_iter().map(|finding| finding.message).collect()
}

/// The number behind an attribute of any module.
pub(crate) fn attribute(text: &str, name: &str) -> Option<u64> {
    let (_, rest) = text.split_once(&format!("module.{name} = "))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// What `--address-assign` adds to the inner module.
pub(crate) const ADDED: [&str; 8] = [
    "coeff_addr",
    "coeff_size",
    "dynamic_coeff_offset",
    "io_addr",
    "io_size",
    "neuron_addr",
    "neuron_size",
    "private_size",
];

/// Those that are there.
pub(crate) fn attributes(text: &str) -> BTreeMap<&'static str, u64> {
    ADDED.into_iter().filter_map(|name| Some((name, attribute(text, name)?))).collect()
}

/// The text as it was before addresses were assigned.
pub(crate) fn without_addresses(text: &str) -> String {
    let mut stripped = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(" : i64>").filter(|_| rest.contains("tensor<")) {
        let comma = rest[..start].rfind(", ").unwrap();
        stripped.push_str(&rest[..comma]);
        rest = &rest[start + " : i64".len()..];
    }
    stripped.push_str(rest);
    for name in ADDED {
        if let Some(value) = attribute(&stripped, name) {
            let entry = format!("module.{name} = {value} : i64");
            stripped = stripped.replace(&format!("{entry}, "), "").replace(&entry, "");
        }
    }
    stripped.replace("\"TPU_ADDRESSED\"", "\"TPU_DIVIDED\"")
}

/// The address and the bytes of every value of the text, by name; of values with one
/// name in several functions, the last.
pub(crate) fn addresses(text: &str) -> BTreeMap<String, (u64, u64)> {
    let document = Document::read(text, Dialects::builtin()).unwrap();
    let mut found = BTreeMap::new();
    for value in document.value_ids() {
        let Type::Tensor { shape: Some(shape), element, encoding: Some(encoding) } = document.ty(value) else {
            continue;
        };
        let address = encoding.trim_end_matches(" : i64").parse().unwrap();
        let count: u64 = shape.iter().map(|dim| dim.unwrap()).product();
        let bytes = memplan::core::storage_bytes(count * element.bits().unwrap_or(8)).0;
        found.insert(document.value_name(value).to_owned(), (address, bytes));
    }
    found
}

/// A module with one function that is called by `main`, as the compiler has it
/// before addresses are assigned. `arguments` and `results` are types; `body` reads
/// `%arg0`, … and ends in a return.
pub(crate) fn module(chip: &str, mode: &str, arguments: &[String], results: &[String], body: &str) -> String {
    let list = |types: &[String]| types.join(", ");
    let bracketed = |types: &[String]| if types.len() == 1 { types[0].clone() } else { format!("({})", list(types)) };
    let numbered = |prefix: &str| (0..arguments.len()).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let parameters: Vec<String> =
        arguments.iter().enumerate().map(|(i, ty)| format!("%arg{i}: {ty} loc(unknown)")).collect();
    let inputs: Vec<String> = arguments
        .iter()
        .enumerate()
        .map(|(i, ty)| {
            format!("      %in{i} = \"top.Input\"(%arg{i}) {{do_preprocess = false}} : ({ty}) -> {ty} loc(#loc)\n")
        })
        .collect();
    let count = results.len();
    let returned: Vec<String> =
        (0..count).map(|i| if count == 1 { "%r".to_owned() } else { format!("%r#{i}") }).collect();
    let bound = if count == 1 { "%r".to_owned() } else { format!("%r:{count}") };
    format!(
        "#loc = loc(unknown)
module @net attributes {{module.addr_mode = \"{mode}\", module.chip = \"{chip}\", module.cores = 1 : i64, module.state = \"TPU_DIVIDED\"}} {{
  module @net attributes {{module.device_id = 0 : i64, module.step = 0 : i64}} {{
    func.func @main({parameters}) -> {result} {{
{inputs}      {bound} = call @subfunc_0({operands}) : ({types}) -> {result} loc(#loc)
      return {returned} : {result_list} loc(#loc)
    }} loc(#loc)
    func.func @subfunc_0({parameters}) -> {result} attributes {{id = 0 : i64, mode = #tpu<run_mode TPU_STATIC>, next_index = array<i32: -1>}} {{
{body}    }} loc(#loc)
  }} loc(#loc)
}} loc(#loc)
",
        parameters = parameters.join(", "),
        inputs = inputs.concat(),
        operands = numbered("%in"),
        types = list(arguments),
        result = bracketed(results),
        returned = returned.join(", "),
        result_list = list(results),
    )
}
