//! Rows that users bring in TOML files; `docs/dialects.md` describes them.
//!
//! ```
//! use memplan_mlir::Dialects;
//! let dialects = Dialects::builtin().with_toml(r#"
//!     [[op]]
//!     name = "acme.scale"
//!     reads = ["ins"]
//!     writes = ["outs"]
//! "#)?;
//! assert!(dialects.get("acme.scale").known);
//! # Ok::<(), memplan_mlir::dialect::DialectFileError>(())
//! ```

use std::borrow::Cow;

use memplan_core::Span;
use serde::Deserialize;

// What the words of a file become is described at the types of this list, in the module above: `Selector` names
// operands,
// `Access` is what is done to them, `Control` and `Flow` are how regions run and which values pass, `Header` and
// `ResultTypes` are where the custom form names arguments and types.
use super::{Access, AliasRule, Control, Dialects, Flow, Header, OpInfo, Relation, ResultTypes, Selector, Traits};

/// Why a dialect file could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialectFileError {
    /// Not TOML, or not of the shape that `docs/dialects.md` describes.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// Where in the file.
        span: Span,
    },
    /// A selector that is no position, range or group name.
    #[error(
        "`{selector}` of `{op}` names no operands: write a position (0), a range (\"1..\"), \"all\" or a group (\"outs\")"
    )]
    Selector {
        /// The op of the row.
        op: String,
        /// The selector as written.
        selector: String,
    },
}

impl DialectFileError {
    /// Where in the file the error is, as far as is known.
    pub fn span(&self) -> Span {
        match self {
            DialectFileError::Syntax { span, .. } => *span,
            DialectFileError::Selector { .. } => Span::default(),
        }
    }
}

/// A dialect file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    op: Vec<Row>,
}

/// A row of a dialect file: what it says about one op. `docs/dialects.md` describes each field; most become the field
/// of [`OpInfo`] with the same name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    name: String,
    #[serde(default)]
    reads: Vec<Operands>,
    #[serde(default)]
    writes: Vec<Operands>,
    #[serde(default)]
    updates: Vec<Operands>,
    #[serde(default)]
    frees: Vec<Operands>,
    #[serde(default)]
    escapes: Vec<Operands>,
    #[serde(default)]
    aliases: Vec<Alias>,
    #[serde(default)]
    segments: Vec<String>,
    #[serde(default)]
    traits: Vec<Trait>,
    regions: Option<u32>,
    control: Option<ControlName>,
    detached_by: Option<String>,
    flow: Option<FlowName>,
    terminator: Option<String>,
    arguments: Option<HeaderName>,
    result_types: Option<ResultTypesName>,
}

/// Operands as a file names them: by position, or by a word that [`selector`] explains.
#[derive(Deserialize)]
#[serde(untagged)]
enum Operands {
    Position(u32),
    Named(String),
}

/// A result that is the memory of operands, as a file says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Alias {
    from: Operands,
    result: Option<u32>,
    #[serde(rename = "as")]
    relation: RelationName,
}

/// Makes an enum for the words of a field in a file, and the conversion of each word into its meaning. The word in
/// the file is the variant in kebab case: `SharedOuts` is `shared-outs`.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident -> $target:ty { $($word:ident => $value:expr,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum $name { $($word,)* }

        impl From<$name> for $target {
            fn from(name: $name) -> $target {
                match name { $($name::$word => $value,)* }
            }
        }
    )*};
}

names! {
    RelationName -> Relation {
        Same => Relation::Same,
        View => Relation::View,
        Base => Relation::Base,
        Either => Relation::Either,
    }
    ControlName -> Control {
        Once => Control::Once,
        Loop => Control::Loop,
        Alternatives => Control::Alternatives,
        Parallel => Control::Parallel,
        Async => Control::Async,
        Unknown => Control::Unknown,
    }
    FlowName -> Flow {
        None => Flow::None,
        Carried => Flow::Carried,
        While => Flow::While,
        Yields => Flow::Yields,
        Execute => Flow::Execute,
        SharedOuts => Flow::SharedOuts,
        Elements => Flow::Elements,
        Function => Flow::Function,
        Unknown => Flow::Unknown,
    }
    HeaderName -> Header {
        Plain => Header::Plain,
        Assigned => Header::Assigned,
        Indices => Header::Indices,
        Renamed => Header::Renamed,
        Typed => Header::Typed,
        Function => Header::Function,
        Unknown => Header::Unknown,
    }
    ResultTypesName -> ResultTypes {
        Listed => ResultTypes::Listed,
        First => ResultTypes::First,
        Repeated => ResultTypes::Repeated,
        Element => ResultTypes::Element,
        Index => ResultTypes::Index,
        Bool => ResultTypes::Bool,
        Outs => ResultTypes::Outs,
        Number => ResultTypes::Number,
    }
    Trait -> Traits {
        ViewLike => Traits::VIEW_LIKE,
        ReturnLike => Traits::RETURN_LIKE,
        AllocationScope => Traits::ALLOCATION_SCOPE,
        LoopLike => Traits::LOOP_LIKE,
        RegionBranch => Traits::REGION_BRANCH,
        Isolated => Traits::ISOLATED,
        Allocates => Traits::ALLOCATES,
        Placed => Traits::ALLOCATES.and(Traits::PLACED),
        External => Traits::EXTERNAL,
        Call => Traits::CALL,
        Function => Traits::FUNCTION.and(Traits::ISOLATED),
        Branch => Traits::BRANCH,
        Awaits => Traits::AWAITS,
        HasEffects => Traits::default(),
    }
}

impl Dialects {
    /// These tables with the rows of a TOML file added; a row of the file
    /// replaces one of the same name.
    pub fn with_toml(&self, text: &str) -> Result<Dialects, DialectFileError> {
        let file: File = toml::from_str(text).map_err(|error| DialectFileError::Syntax {
            message: error.message().to_owned(),
            span: error.span().map_or(Span::default(), |range| Span::new(range.start, range.end)),
        })?;
        let mut dialects = self.clone();
        for row in file.op {
            let info = info(&row)?;
            dialects.insert(&row.name, info);
        }
        Ok(dialects)
    }
}

/// Turns a row of a file into the description of an op.
fn info(row: &Row) -> Result<OpInfo, DialectFileError> {
    let effects = effects(row)?;
    let mut traits = Traits::default();
    for &one in &row.traits {
        traits = traits.and(one.into());
    }
    // A row that lists no effect describes an op that only computes, and such an op counts as free of effects. An op
    // with effects that the row cannot list has to say so (`has-effects`); calls and allocations have them anyhow, and
    // the effects of an op with regions are those of the ops inside.
    let quiet = effects.is_empty()
        && !row.traits.iter().any(|one| matches!(one, Trait::HasEffects | Trait::Call))
        && !traits.has(Traits::ALLOCATES);
    if quiet && row.regions.unwrap_or(0) == 0 {
        traits = traits.and(Traits::EFFECT_FREE);
    }
    let aliases: Result<Vec<AliasRule>, _> = row.aliases.iter().map(|one| alias(row, one)).collect();
    // Whatever a row leaves out is as in an op that only computes.
    let plain = OpInfo::pure();
    Ok(OpInfo {
        result_types: row.result_types.map_or(plain.result_types, Into::into),
        header: row.arguments.map_or(plain.header, Into::into),
        regions: row.regions.or(plain.regions),
        terminator: row.terminator.clone().map(Cow::Owned),
        segments: row.segments.iter().cloned().map(Cow::Owned).collect(),
        effects: effects.into(),
        aliases: aliases?.into(),
        control: row.control.map_or(plain.control, Into::into),
        flow: row.flow.map_or(plain.flow, Into::into),
        detached_by: row.detached_by.clone().map(Cow::Owned),
        traits,
        ..plain
    })
}

/// What the op of a row does to which of its operands.
fn effects(row: &Row) -> Result<Vec<(Selector, Access)>, DialectFileError> {
    let mut effects = Vec::new();
    for (list, access) in [
        (&row.reads, Access::Read),
        (&row.writes, Access::Write),
        (&row.updates, Access::Update),
        (&row.escapes, Access::Escape),
        (&row.frees, Access::Free),
    ] {
        for operands in list {
            effects.push((selector(row, operands)?, access));
        }
    }
    Ok(effects)
}

/// A rule of a row that makes a result the memory of operands.
fn alias(row: &Row, alias: &Alias) -> Result<AliasRule, DialectFileError> {
    Ok(AliasRule { from: selector(row, &alias.from)?, result: alias.result, relation: alias.relation.into() })
}

/// Which operands a row means: a position, `all`, everything from a position on (`2..`), or a group by its name
/// (`outs`). Anything else is an error.
fn selector(row: &Row, operands: &Operands) -> Result<Selector, DialectFileError> {
    let text = match operands {
        Operands::Position(at) => return Ok(Selector::Operand(*at)),
        Operands::Named(text) => text,
    };
    if text == "all" {
        return Ok(Selector::All);
    }
    if let Some(start) = text.strip_suffix("..") {
        let start = start.parse().ok();
        return start
            .map(Selector::From)
            .ok_or_else(|| DialectFileError::Selector { op: row.name.clone(), selector: text.clone() });
    }
    let word = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if word && !text.as_bytes()[0].is_ascii_digit() {
        return Ok(Selector::Group(Cow::Owned(text.clone())));
    }
    Err(DialectFileError::Selector { op: row.name.clone(), selector: text.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, lower};

    const FILE: &str = r#"
        [[op]]
        name = "acme.*"
        reads = ["all"]

        [[op]]
        name = "acme.add"
        reads = ["ins"]
        writes = ["outs"]
        updates = ["temp_buffer"]

        [[op]]
        name = "acme.window"
        aliases = [{ from = 0, result = 0, as = "view" }]
        traits = ["view-like"]

        [[op]]
        name = "acme.make"
        traits = ["placed"]

        [[op]]
        name = "acme.repeat"
        regions = 1
        control = "loop"
        flow = "carried"
        arguments = "assigned"
        terminator = "acme.next"
        traits = ["loop-like", "region-branch"]

        [[op]]
        name = "acme.next"
        traits = ["return-like"]
    "#;

    const SOURCE: &str = r#"
func.func @f(%a: memref<4xf32>, %n: index) {
  %x = acme.make : memref<4xf32>
  %t = memref.alloc() : memref<4xf32>
  acme.add ins(%a, %a : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>) temp_buffer(%t : memref<4xf32>)
  %r = acme.repeat %i = %n iter_args(%p = %x) -> (memref<4xf32>) {
    %w = acme.window %p : memref<4xf32> to memref<2xf32>
    acme.print %w : memref<2xf32>
    acme.next %p : memref<4xf32>
  }
  acme.repeat %i = %n {
  }
  return
}
"#;

    #[test]
    fn rows_of_a_file_are_used() {
        let dialects = Dialects::builtin().with_toml(FILE).unwrap();
        let document = Document::read(SOURCE, &dialects).unwrap();
        let program = lower(&document).unwrap().program;
        let text = memplan_program::text::print(&program);
        for line in [
            "acme.make  alloc %x 16 align 4",
            "acme.add  read %a, write %x, update %t",
            "acme.repeat  result %r",
            "acme.window  view %w = %p[?]",
            "acme.print  read %w",
            "leave %p",
        ] {
            assert!(text.contains(line), "`{line}` is not in\n{text}");
        }
        let implicit = document.op_ids().filter(|&op| document.op(op).form == crate::Form::Implicit);
        assert_eq!(implicit.count(), 1, "the terminator of the second loop");
    }

    #[test]
    fn mistakes_are_explained() {
        let toml = |text: &str| Dialects::builtin().with_toml(text).unwrap_err();
        let error = toml("[[op]]\nname = \"a.b\"\nreds = [0]\n");
        assert!(error.to_string().contains("reds"), "{error}");
        assert_eq!(error.span().start, 20);
        let error = toml("[[op]]\nname = \"a.b\"\nreads = [\"1...\"]\n");
        assert!(error.to_string().contains("`1...` of `a.b`"), "{error}");
        assert!(toml("[[op]]\nreads = [0]\n").to_string().contains("name"));
        assert!(toml("[[op]]\nname = \"a.b\"\ncontrol = \"sideways\"\n").to_string().contains("sideways"));
    }
}
