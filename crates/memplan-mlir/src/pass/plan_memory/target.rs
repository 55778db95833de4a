//! What memory a device has: built in, from the module's attributes, or from a file.
//!
//! A file describes one device; `docs/plan-memory.md` has an example:
//!
//! ```
//! use memplan_mlir::pass::plan_memory::Target;
//! let target: Target = r##"
//!     name = "Acme-1"
//!     scope = [
//!       { name = "ub", capacity = 65536, alignment = 64 },
//!       { name = "acc", spellings = ["#acme.space<acc>"], capacity = 8192, alignment = 256 },
//!     ]
//!     pipe = [{ ops = "acme.fetch*", name = "dma", touches = "outs" }]
//! "##.parse()?;
//! assert_eq!(target.scope("#acme.space<acc>").unwrap().capacity, Some(8192));
//! # Ok::<(), memplan_mlir::pass::plan_memory::TargetError>(())
//! ```

use std::str::FromStr;
use std::sync::OnceLock;

use memplan_core::line_column;
use serde::Deserialize;

use crate::attribute::integer;
use crate::{Document, OpId};

/// A memory of the device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Its name; `ub` is also what `#hivm.address_space<ub>` means.
    pub name: String,
    /// Other ways to write it as a memory space.
    #[serde(default)]
    pub spellings: Vec<String>,
    /// Bytes; unbounded if absent.
    pub capacity: Option<u64>,
    /// Every address is a multiple of this.
    pub alignment: u64,
}

/// Which memory operands of an op belong to its pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Touches {
    /// Those it reads.
    Ins,
    /// Those it writes.
    Outs,
    /// All of them.
    #[default]
    All,
}

/// The pipe some ops run on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipe {
    /// Name of the op; one that ends in `*` stands for all that begin so.
    pub ops: String,
    /// The pipe: `vector`, `scalar`, `mte1` …, `fix`, `dma` …, or a name of one's own.
    pub name: String,
    /// Which of the ops' buffers count as the pipe's.
    #[serde(default)]
    pub touches: Touches,
}

/// How much of the unified buffer (the memory `ub`) vector functions may keep as a cache, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// At least.
    pub least: u64,
    /// At most.
    pub most: u64,
}

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Target {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// The devices of a built-in family; a name that ends in `*` stands for all that begin so. Empty in a target file.
    #[serde(default)]
    names: Vec<String>,
    /// Its architecture, for information.
    #[serde(default)]
    pub architecture: String,
    /// The limits of the cache, on devices whose vector functions have one in the unified buffer.
    pub vector_function_cache: Option<Cache>,
    /// Its memories.
    #[serde(default, rename = "scope")]
    pub scopes: Vec<Scope>,
    /// The pipes of ops, where they differ from what is built in for `hivm` ops. Of several that match an op the first
    /// counts.
    #[serde(default, rename = "pipe")]
    pub pipes: Vec<Pipe>,
}

/// What is wrong with a target file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Not TOML, or not of the shape described.
    #[error("{0}")]
    Syntax(String),
    /// A device without memory.
    #[error("the device has no memory: `scope = [{{ name = \"ub\", capacity = 196608, alignment = 32 }}]`")]
    NoScopes,
    /// Something without a name.
    #[error("{what} number {number} has no name")]
    NoName {
        /// A scope or a pipe.
        what: &'static str,
        /// Which one, from 1.
        number: usize,
    },
    /// A scope whose alignment makes no sense.
    #[error("scope `{scope}`: an alignment is a power of two and at most 2^32, and {alignment} is not")]
    Alignment {
        /// The scope.
        scope: String,
        /// What it says.
        alignment: u64,
    },
    /// A scope that holds nothing.
    #[error("scope `{scope}`: with a capacity of 0 it holds nothing; without `capacity` it is unbounded")]
    Empty {
        /// The scope.
        scope: String,
    },
    /// Two scopes of one name or one spelling.
    #[error("scope `{scope}` is there twice")]
    Twice {
        /// The scope.
        scope: String,
    },
    /// A pattern that is none.
    #[error("pipe `{pipe}`: `{pattern}` is no pattern: the name of an op, or its beginning and then `*`")]
    Pattern {
        /// The pipe.
        pipe: String,
        /// What it says.
        pattern: String,
    },
    /// A pattern that comes too late.
    #[error("pipe `{pipe}`: `{pattern}` never counts, since `{before}` comes first")]
    Shadowed {
        /// The pipe.
        pipe: String,
        /// Its pattern.
        pattern: String,
        /// The one before it.
        before: String,
    },
    /// A cache that is at least more than at most.
    #[error("vector-function-cache: at least {least} and at most {most} bytes contradict each other")]
    Cache {
        /// At least.
        least: u64,
        /// At most.
        most: u64,
    },
    /// A name that no built-in device has.
    #[error("no device is called `{name}`; built in are {known}, and a file ending in .toml can describe another")]
    Unknown {
        /// The name.
        name: String,
        /// The families there are.
        known: String,
    },
}

/// The file of built-in devices.
#[derive(Deserialize)]
struct Devices {
    device: Vec<Target>,
}

impl FromStr for Target {
    type Err = TargetError;

    /// Reads a target file.
    fn from_str(text: &str) -> Result<Target, TargetError> {
        let target: Target = toml::from_str(text).map_err(|error| syntax(text, &error))?;
        target.check()?;
        Ok(target)
    }
}

/// What is wrong with the text, in one line.
fn syntax(text: &str, error: &toml::de::Error) -> TargetError {
    let (line, column) = line_column(text, error.span().map_or(0, |span| span.start));
    TargetError::Syntax(format!("line {line}, column {column}: {}", error.message().trim_end()))
}

impl Target {
    /// Refuses descriptions that cannot be meant: a device without memory, names used twice, patterns of ops that an
    /// earlier pattern covers completely, and a cache whose least size is above its largest.
    fn check(&self) -> Result<(), TargetError> {
        if self.scopes.is_empty() {
            return Err(TargetError::NoScopes);
        }
        for (at, scope) in self.scopes.iter().enumerate() {
            scope.check(at)?;
            // All names and spellings of the memories before this one.
            let earlier = || self.scopes[..at].iter().flat_map(Scope::names);
            if let Some(name) = scope.names().find(|name| earlier().any(|other| other == *name)) {
                return Err(TargetError::Twice { scope: name.clone() });
            }
        }
        for (at, pipe) in self.pipes.iter().enumerate() {
            pipe.check(at)?;
            // If an earlier pattern matches this pattern without its `*`, the earlier one matches every name that this
            // one matches: `a.*` matches `a.b`, so it covers `a.b*`. Then this pattern never counts.
            let covers = |earlier: &&Pipe| matches(&earlier.ops, pipe.ops.strip_suffix('*').unwrap_or(&pipe.ops));
            if let Some(before) = self.pipes[..at].iter().find(covers) {
                let (pattern, before) = (pipe.ops.clone(), before.ops.clone());
                return Err(TargetError::Shadowed { pipe: pipe.name.clone(), pattern, before });
            }
        }
        match self.vector_function_cache {
            Some(Cache { least, most }) if least > most => Err(TargetError::Cache { least, most }),
            _ => Ok(()),
        }
    }
}

impl Scope {
    fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.name).chain(&self.spellings)
    }

    /// Checks one memory of a target; `at` is its place in the list.
    fn check(&self, at: usize) -> Result<(), TargetError> {
        if self.names().any(|name| name.trim().is_empty()) {
            return Err(TargetError::NoName { what: "scope", number: at + 1 });
        }
        if !self.alignment.is_power_of_two() || self.alignment > 1 << 32 {
            return Err(TargetError::Alignment { scope: self.name.clone(), alignment: self.alignment });
        }
        if self.capacity == Some(0) {
            return Err(TargetError::Empty { scope: self.name.clone() });
        }
        Ok(())
    }
}

impl Pipe {
    /// A pipe of a target file has a name, and a pattern of op names that can match: a name, or a prefix and `*`.
    fn check(&self, at: usize) -> Result<(), TargetError> {
        if self.name.trim().is_empty() {
            return Err(TargetError::NoName { what: "pipe", number: at + 1 });
        }
        let name = self.ops.strip_suffix('*').unwrap_or(&self.ops);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | '-');
        if self.ops.is_empty() || !name.chars().all(plain) {
            return Err(TargetError::Pattern { pipe: self.name.clone(), pattern: self.ops.clone() });
        }
        Ok(())
    }
}

/// The built-in devices, read once.
fn devices() -> &'static [Target] {
    static DEVICES: OnceLock<Vec<Target>> = OnceLock::new();
    DEVICES
        .get_or_init(|| toml::from_str::<Devices>(include_str!("devices.toml")).map_or(Vec::new(), |list| list.device))
}

/// Whether `pattern`, possibly ending in `*`, stands for `name`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

impl Target {
    /// The built-in device of this name: a member of one of the families, under its own name.
    pub fn built_in(name: &str) -> Result<Target, TargetError> {
        let has = |device: &&Target| device.names.iter().any(|pattern| matches(pattern, name));
        let known = || {
            let names: Vec<&str> = devices().iter().flat_map(|device| &device.names).map(String::as_str).collect();
            names.join(", ")
        };
        let found = devices().iter().find(has);
        let found = found.ok_or_else(|| TargetError::Unknown { name: name.to_owned(), known: known() })?;
        Ok(Target { name: name.to_owned(), ..found.clone() })
    }

    /// The memory that the memory space of a memref type means (`#hivm.address_space<ub>`, or one of the memory's
    /// other spellings); `None` if the device has none of that name.
    pub fn scope(&self, space: &str) -> Option<&Scope> {
        // `scope_name` is what stands in `#hivm.address_space<…>`; any other text is compared as it is, without quotes.
        let name = Document::scope_name(space).unwrap_or(space.trim_matches('"'));
        self.scopes.iter().find(|scope| scope.name == name || scope.spellings.iter().any(|text| text == space))
    }

    /// The device that the modules around a function are for: the built-in device that `hacc.target` names (else the
    /// default one), with the sizes that `dlti.target_system_spec` gives. Of nested modules the innermost with an
    /// attribute counts. `None` if they say nothing.
    pub(super) fn of_module(document: &Document, function: OpId) -> Option<Target> {
        let mut around = Some(function);
        let mut named = None;
        let mut specified = None;
        // From the function outwards. An attribute that has been found further inside is kept.
        while let Some(op) = around {
            named = named.or_else(|| document.attribute(op, "hacc.target"));
            specified = specified.or_else(|| document.attribute(op, "dlti.target_system_spec"));
            around = document.parent_op(op);
        }
        // `#hacc.target<"Ascend910B1">`: the text between the quotes.
        let name = named.and_then(|text| text.split('"').nth(1));
        let device = name.and_then(|name| Target::built_in(name).ok());
        match specified {
            None => device,
            Some(text) => {
                let mut target = device.or_else(|| Target::built_in(DEFAULT_DEVICE).ok())?;
                target.specify(text);
                Some(target)
            }
        }
    }

    /// Takes over the sizes of a device specification, which are in bits. The text has entries such as
    /// `#dlti.dl_entry<"UB_SIZE", 1572864 : i32>`; those that it does not have stay as they are.
    fn specify(&mut self, text: &str) {
        // The bytes that the entry of a key gives: the number between the comma behind the key and the next `>`.
        let entry = |key: &str| {
            let (_, rest) = text.split_once(&format!("\"{key}\""))?;
            let number = rest.trim_start().strip_prefix(',')?.split(['>', ',']).next()?;
            u64::try_from(integer(number.trim())?).ok().map(|bits| bits / 8)
        };
        for (scope, key) in [("ub", "UB"), ("cbuf", "L1"), ("ca", "L0A"), ("cb", "L0B"), ("cc", "L0C")] {
            let Some(scope) = self.scopes.iter_mut().find(|known| known.name == scope) else { continue };
            scope.capacity = entry(&format!("{key}_SIZE")).or(scope.capacity);
            let alignment = entry(&format!("{key}_ALIGN_SIZE")).filter(|&bytes| bytes > 0 && bytes <= 1 << 32);
            scope.alignment = alignment.unwrap_or(scope.alignment);
        }
        if let (Some(least), Some(most)) = (entry("MINIMAL_D_CACHE_SIZE"), entry("MAXIMUM_D_CACHE_SIZE")) {
            self.vector_function_cache = Some(Cache { least, most });
        }
    }
}

/// The device that is assumed if none is named.
pub(super) const DEFAULT_DEVICE: &str = "Ascend910B1";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialects;

    #[test]
    fn devices_of_the_document() {
        for (name, ub, l0c) in [
            ("Ascend910B1", 1_572_864, 1_048_576),
            ("Ascend910_9392", 1_572_864, 1_048_576),
            ("Ascend310B4", 2_097_152, 1_048_576),
            ("Ascend910_9589", 2_031_616, 2_097_152),
            ("Ascend950PR_950z", 2_031_616, 2_097_152),
        ] {
            let target = Target::built_in(name).unwrap();
            let bits =
                |scope: &str| target.scope(&format!("#hivm.address_space<{scope}>")).unwrap().capacity.unwrap() * 8;
            assert_eq!((bits("ub"), bits("cc")), (ub, l0c), "{name}");
        }
        let error = Target::built_in("Z80").unwrap_err().to_string();
        assert!(error.contains("`Z80`") && error.contains("Ascend910B1"), "{error}");
    }

    #[test]
    fn a_module_specifies_its_device() {
        let source = r#"
module attributes {hacc.target = #hacc.target<"Ascend950PR_9589">, dlti.target_system_spec = #dlti.target_system_spec<"NPU" : #hacc.target_device_spec<#dlti.dl_entry<"UB_SIZE", 1024 : i32>, #dlti.dl_entry<"UB_ALIGN_SIZE", 512 : i32>>>} {
  func.func @f() { return }
}
"#;
        let document = Document::read(source, Dialects::builtin()).unwrap();
        let function = document.op_ids().find(|&op| document.name(op) == "func.func").unwrap();
        let target = Target::of_module(&document, function).unwrap();
        let ub = target.scope("#hivm.address_space<ub>").unwrap();
        assert_eq!((ub.capacity, ub.alignment), (Some(128), 64));
        assert_eq!(target.scope("#hivm.address_space<cc>").unwrap().capacity, Some(262_144));
        assert!(target.vector_function_cache.is_some());
    }

    #[test]
    fn mistakes_in_a_file_are_explained() {
        let scope = |line: &str| format!("name = \"N\"\nscope = [{{ name = \"ub\", {line} }}]\n");
        let pipes = |lines: &str| scope("alignment = 32") + &format!("pipe = [{lines}]\n");
        for (text, words) in [
            (scope("alignment = 0"), "scope `ub`: an alignment is a power of two and at most 2^32, and 0 is not"),
            (scope("alignment = 48"), "and 48 is not"),
            (scope("alignment = 8589934592"), "at most 2^32"),
            (scope("alignment = -32"), "-32"),
            (scope("capacity = -1, alignment = 32"), "line 2, column 36: invalid value: integer `-1`"),
            (scope("capacity = 0, alignment = 32"), "scope `ub`: with a capacity of 0 it holds nothing"),
            (scope("capacity = 1.5, alignment = 32"), "expected u64"),
            (scope("capacity = 1024"), "missing field `alignment`"),
            (scope("alignment = 32, size = 4"), "unknown field `size`"),
            ("scoop = []".to_owned(), "unknown field `scoop`"),
            ("scope = []".to_owned(), "the device has no memory"),
            ("name = \"N\"".to_owned(), "the device has no memory"),
            ("scope = [".to_owned(), "line 1, column "),
            ("scope = [{ name = \" \", alignment = 1 }]".to_owned(), "scope number 1 has no name"),
            (
                "scope = [{ name = \"a\", alignment = 1 }, { name = \"a\", alignment = 1 }]".to_owned(),
                "`a` is there twice",
            ),
            (
                "scope = [{ name = \"a\", spellings = [\"7\"], alignment = 1 }, \
                 { name = \"b\", spellings = [\"7\"], alignment = 1 }]"
                    .to_owned(),
                "`7` is there twice",
            ),
            (pipes("{ ops = \"\", name = \"dma\" }"), "pipe `dma`: `` is no pattern"),
            (pipes("{ ops = \"a*b\", name = \"dma\" }"), "pipe `dma`: `a*b` is no pattern"),
            (pipes("{ ops = \"a.(b|c)\", name = \"dma\" }"), "is no pattern: the name of an op"),
            (pipes("{ ops = \"a.b\", name = \"\" }"), "pipe number 1 has no name"),
            (pipes("{ ops = \"a.b\", name = \"dma\", touches = \"everything\" }"), "unknown variant `everything`"),
            (
                pipes("{ ops = \"a.*\", name = \"x\" }, { ops = \"a.b*\", name = \"y\" }"),
                "pipe `y`: `a.b*` never counts, since `a.*` comes first",
            ),
            (scope("alignment = 32") + "vector-function-cache = { least = 2, most = 1 }", "at least 2 and at most 1"),
        ] {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}\n{error}");
        }
        let order = pipes("{ ops = \"a.b*\", name = \"x\" }, { ops = \"a.*\", name = \"y\" }");
        assert_eq!(order.parse::<Target>().unwrap().pipes.len(), 2);
        let mistyped = scope("capacity = \"many\", alignment = 32").parse::<Target>().unwrap_err().to_string();
        assert!(mistyped.contains("line 2") && !mistyped.contains('\n'), "{mistyped}");
    }
}
