//! Types, parsed from their text.
//!
//! Most of a file's types are the same few spellings. So the reader keeps each
//! distinct spelling once, and this module parses those, with aliases (`!name`, `#name`) replaced by what they stand
//! for. A type that is not builtin, and builtin ones that cannot be parsed, become [`Type::Opaque`].

use memplan_core::{Bytes, Span};

use crate::document::{Document, TypeText, ValueId};
// `string_end` is the position behind a quoted text; `trim_trivia` removes blanks and comments at both ends of a text.
use crate::lex::{string_end, trim_trivia};

/// How deep types and aliases may nest before the inside is left opaque. Real ones nest three deep; the bound keeps
/// the recursion from overflowing the stack.
const MAX_DEPTH: u32 = 32;

/// A dimension; `None` if it is only known at run time.
pub type Dimension = Option<u64>;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `i8`, `si32`, `ui4`.
    Integer {
        /// Bits.
        width: u32,
    },
    /// `index`.
    Index,
    /// `f32`, `bf16`, `f8E4M3FN`.
    Float {
        /// Bits.
        width: u32,
    },
    /// `complex<f32>`.
    Complex(Box<Type>),
    /// `vector<4x[8]xf32>`.
    Vector {
        /// Dimensions; a scalable one is `None`.
        shape: Vec<Dimension>,
        /// Element type.
        element: Box<Type>,
    },
    /// `tensor<4x?xf32, encoding>`, `tensor<*xf32>`.
    Tensor {
        /// Dimensions; none if unranked.
        shape: Option<Vec<Dimension>>,
        /// Element type.
        element: Box<Type>,
        /// The encoding as written, aliases expanded.
        encoding: Option<String>,
    },
    /// `memref<4x?xf32, layout, space>`, `memref<*xf32>`.
    MemRef(MemRef),
    /// `tuple<…>`.
    Tuple,
    /// `(…) -> …`.
    Function,
    /// `none`.
    None,
    /// A dialect's own type, as written.
    Opaque(String),
    /// Not written, and not known.
    Unknown,
}

/// A memref type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemRef {
    /// Dimensions; none if unranked.
    pub shape: Option<Vec<Dimension>>,
    /// Element type.
    pub element: Box<Type>,
    /// Where elements lie.
    pub layout: Layout,
    /// The memory space as written, aliases expanded; none for the default space (also written `0`).
    pub space: Option<String>,
}

/// Where the elements of a memref lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Row-major, from the first byte, without gaps.
    Identity,
    /// `strided<[…], offset: …>`, in elements; `None` if only known at run time.
    Strided {
        /// Distance between neighbours, one for each dimension.
        strides: Vec<Option<i64>>,
        /// First element.
        offset: Option<i64>,
    },
    /// Anything else, as written.
    Other(String),
}

impl Type {
    /// Parses a type that mentions no aliases.
    pub fn parse(text: &str) -> Type {
        parse(text, &|_| None, 0)
    }

    /// The memref type, if it is one.
    pub fn as_memref(&self) -> Option<&MemRef> {
        match self {
            Type::MemRef(memref) => Some(memref),
            _ => None,
        }
    }

    /// Whether a value of this type is memory, as far as is known: a memref, or a
    /// value whose type an unknown form does not tell.
    pub fn may_be_memory(&self) -> bool {
        matches!(self, Type::MemRef(_) | Type::Unknown)
    }

    /// Bits of a number of this type, or of all elements of a vector; `index` counts as 64. `None` for everything
    /// else, and for vectors whose length is not known.
    pub fn bits(&self) -> Option<u64> {
        match self {
            Type::Integer { width } | Type::Float { width } => Some(u64::from(*width)),
            Type::Index => Some(64),
            Type::Complex(element) => element.bits()?.checked_mul(2),
            Type::Vector { shape, element } => {
                let count = product(shape)?;
                element.bits()?.checked_mul(count)
            }
            _ => None,
        }
    }

    /// Bytes from one element of this type to the next in memory, as LLVM's data layout has it: a number takes a
    /// power of two of bytes up to 16 and a multiple of 16 above (`i24` takes 4). The innermost row of a vector is
    /// packed and rounded up to a power of two as a whole. `None` for types that cannot be elements of a memref.
    pub fn stride_bytes(&self) -> Option<Bytes> {
        match self {
            Type::Integer { width } | Type::Float { width } => scalar_bytes(u64::from(*width)),
            Type::Index => Some(Bytes(8)),
            Type::Complex(element) => element.stride_bytes()?.checked_mul(2),
            Type::Vector { shape, element } => {
                let (last, rows) = shape.split_last()?;
                let bits = element.bits()?.checked_mul((*last)?)?;
                let bytes = bits.div_ceil(8).checked_next_power_of_two()?;
                Bytes(bytes.max(1)).checked_mul(product(rows)?)
            }
            // An element that is itself a memref is a descriptor: two pointers, an offset, and a size and a stride for
            // each dimension, 8 bytes each.
            Type::MemRef(MemRef { shape: Some(shape), .. }) => {
                Bytes(24).checked_add(Bytes(16).checked_mul(shape.len() as u64)?)
            }
            _ => None,
        }
    }
}

impl MemRef {
    /// Whether its elements lie row by row from the first byte on without gaps, whichever way its layout says so:
    /// `memref<2x4xf32, strided<[4, 1]>>` is the same memory as `memref<2x4xf32>`.
    pub fn is_dense(&self) -> bool {
        let Layout::Strided { strides, offset: Some(0) } = &self.layout else { return self.layout == Layout::Identity };
        let Some(shape) = self.shape.as_deref().filter(|shape| shape.len() == strides.len()) else { return false };
        // From the innermost dimension outwards: without gaps, a stride is the product of the lengths inside.
        let mut expected = 1u64;
        for (dimension, stride) in shape.iter().zip(strides).rev() {
            let Some(length) = *dimension else { return false };
            let fits = stride.and_then(|stride| u64::try_from(stride).ok()) == Some(expected);
            // In a dimension of one element no step is ever taken, so its stride may be anything.
            if length > 1 && !fits {
                return false;
            }
            let Some(next) = expected.checked_mul(length) else { return false };
            expected = next;
        }
        true
    }

    /// Bytes of the whole memref if its shape is static and its layout is the identity; `None` otherwise.
    pub fn bytes(&self) -> Option<Bytes> {
        self.dense_bytes().filter(|_| self.layout == Layout::Identity)
    }

    /// Bytes of the whole memref if its shape is static and its elements lie without gaps, however the layout is
    /// written; `None` otherwise.
    pub fn dense_bytes(&self) -> Option<Bytes> {
        if !self.is_dense() {
            return None;
        }
        let count = product(self.shape.as_deref()?)?;
        self.element.stride_bytes()?.checked_mul(count)
    }

    /// Number of elements, if static.
    pub fn element_count(&self) -> Option<u64> {
        product(self.shape.as_deref()?)
    }

    /// Whether every dimension is known.
    pub fn has_static_shape(&self) -> bool {
        let shape = self.shape.as_deref();
        shape.is_some_and(|shape| shape.iter().all(Option::is_some))
    }
}

/// The number of elements of a shape; `None` if a dimension is not known or the number overflows.
fn product(shape: &[Dimension]) -> Option<u64> {
    // A zero dimension makes the product zero however large the others are.
    if shape.contains(&Some(0)) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |product, dimension| product.checked_mul((*dimension)?))
}

/// Bytes that a number of so many bits takes in memory: a power of two up to 16, above that a multiple of 16.
fn scalar_bytes(bits: u64) -> Option<Bytes> {
    let bytes = bits.div_ceil(8);
    Some(Bytes(if bytes <= 16 { bytes.max(1).next_power_of_two() } else { bytes.checked_next_multiple_of(16)? }))
}

impl Document {
    /// The type of a memref of static shape, spelled without its layout: `memref<4x8xf32>` for
    /// `memref<4x8xf32, strided<[8, 1]>>`. `None` if the type has no layout to leave out, or cannot be spelled.
    pub(crate) fn without_layout(&self, value: ValueId) -> Option<String> {
        let memref = self.ty(value).as_memref().filter(|memref| memref.layout != Layout::Identity)?;
        let shape = memref.shape.as_deref()?.iter().map(|dimension| Some(format!("{}x", (*dimension)?)));
        let shape: String = shape.collect::<Option<_>>()?;
        let near = self.value(value).type_span;
        let mut text = self.type_text(value);
        // The element type is taken from the text, because the parsed type does not keep the spelling. This loop ends:
        // if the aliases formed a circle, the value's type would have been read as opaque and not as a memref.
        while let Some(expanded) = self.alias(text.trim(), near) {
            text = expanded;
        }
        let inside = text.trim().strip_prefix("memref")?.trim().strip_prefix('<')?.strip_suffix('>')?;
        let element = split_shape(split_commas(inside).first()?).1;
        let space = memref.space.as_ref().map_or(String::new(), |space| format!(", {space}"));
        Some(format!("memref<{shape}{element}{space}>"))
    }
}

/// Gives what `!name` or `#name` stands for, if it is an alias.
type Aliases<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Parses the distinct types of a document, once all its aliases are known. An alias holds in its own part of the
/// file (`chunk`).
pub(crate) fn resolve(document: &mut Document) {
    for id in document.types.ids() {
        let entry = &document.types[id];
        let text = match entry.text {
            TypeText::Source(span) => document.text(span).to_owned(),
            TypeText::Known(text) => text.to_owned(),
        };
        let aliases = document.aliases.get(entry.chunk as usize);
        // What an alias of the same part of the file stands for.
        let lookup = |name: &str| {
            let alias = aliases?.get(name)?;
            Some(document.text(alias.value).to_owned())
        };
        let ty = parse(&text, &lookup, 0);
        document.types[id].ty = ty;
    }
}

/// Parses one type. Aliases may name aliases and types may nest, so the depth is limited; a type that is nested
/// deeper becomes opaque.
fn parse(text: &str, aliases: &Aliases<'_>, depth: u32) -> Type {
    let text = text.trim();
    if depth > MAX_DEPTH {
        return Type::Opaque(text.to_owned());
    }
    if text.starts_with('!') {
        return match aliases(text) {
            Some(value) => parse(&value, aliases, depth + 1),
            None => Type::Opaque(text.to_owned()),
        };
    }
    // `memref<4xf32>` is the word `memref` and the parameters `4xf32`.
    let (word, parameters) = match text.split_once('<') {
        Some((word, rest)) => (word.trim(), rest.strip_suffix('>')),
        None => (text, None),
    };
    match (word, parameters) {
        ("memref", Some(inside)) => parse_memref(inside, aliases, depth),
        ("tensor", Some(inside)) => parse_tensor(inside, aliases, depth),
        ("vector", Some(inside)) => {
            let (shape, element) = split_shape(split_commas(inside).first().copied().unwrap_or(""));
            Type::Vector { shape: shape.unwrap_or_default(), element: Box::new(parse(element, aliases, depth + 1)) }
        }
        ("complex", Some(inside)) => Type::Complex(Box::new(parse(inside, aliases, depth + 1))),
        ("tuple", Some(_)) => Type::Tuple,
        ("index", None) => Type::Index,
        ("none", None) => Type::None,
        ("?" | "", None) => Type::Unknown,
        ("bf16", None) => Type::Float { width: 16 },
        // Stored in 32 bits, although its precision is 19 bits.
        ("tf32", None) => Type::Float { width: 32 },
        _ if text.starts_with('(') => Type::Function,
        (word, None) => parse_number(word).unwrap_or_else(|| Type::Opaque(text.to_owned())),
        _ => Type::Opaque(text.to_owned()),
    }
}

/// Reads `i32`, `si8`, `ui16`, `f32`, and floats with a suffix such as `f8E4M3FN`.
fn parse_number(word: &str) -> Option<Type> {
    // `ui16` is the prefix `ui` and the digits `16`; `f8E4M3FN` is `f`, `8` and a suffix.
    let digits = word.trim_start_matches(['s', 'u', 'i', 'f']);
    let prefix = &word[..word.len() - digits.len()];
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let width: u32 = digits.get(..end)?.parse().ok()?;
    match prefix {
        "i" | "si" | "ui" if end == digits.len() => Some(Type::Integer { width }),
        "f" => Some(Type::Float { width }),
        _ => None,
    }
}

/// Parses the inside of `memref<SHAPE x TYPE, LAYOUT, SPACE>`. Layout and space may be left out: what is no layout is
/// the space.
fn parse_memref(inside: &str, aliases: &Aliases<'_>, depth: u32) -> Type {
    let parts = split_commas(inside);
    let (shape, element) = split_shape(parts.first().copied().unwrap_or(""));
    let expand = |text: &str| expand_alias(text, aliases);
    let mut layout = Layout::Identity;
    let mut space = None;
    for part in parts.iter().skip(1) {
        let text = expand(part);
        match parse_layout(&text) {
            Some(found) => layout = found,
            // `1` is short for `1 : i64`, and space 0 is the default.
            None => {
                // A space is kept in its short spelling, so that equal spaces have equal texts.
                let short = text.strip_suffix(" : i64").unwrap_or(&text);
                space = Some(short.to_owned()).filter(|space| !is_default_space(space));
            }
        }
    }
    Type::MemRef(MemRef { shape, element: Box::new(parse(element, aliases, depth + 1)), layout, space })
}

/// Parses the inside of `tensor<SHAPE x TYPE, ENCODING>`.
fn parse_tensor(inside: &str, aliases: &Aliases<'_>, depth: u32) -> Type {
    let parts = split_commas(inside);
    let (shape, element) = split_shape(parts.first().copied().unwrap_or(""));
    Type::Tensor {
        shape,
        element: Box::new(parse(element, aliases, depth + 1)),
        encoding: parts.get(1).map(|text| expand_alias(text, aliases)),
    }
}

/// Replaces an alias by what it stands for, which may be another alias. The number of steps is limited, because
/// aliases of a faulty text may go round in circles.
fn expand_alias(text: &str, aliases: &Aliases<'_>) -> String {
    let mut text = text.trim().to_owned();
    for _ in 0..MAX_DEPTH {
        let expanded = text.starts_with('#').then(|| aliases(&text)).flatten();
        match expanded {
            Some(value) => text = value,
            None => break,
        }
    }
    text
}

/// Whether a memory space is the default one: `0` or `0 : i64`.
fn is_default_space(text: &str) -> bool {
    let number = text.split(':').next().unwrap_or("").trim();
    number == "0"
}

/// A layout: `strided<[8, 1]>` or `affine_map<(d0, d1) -> (d0, d1)>`; `None` if the text is something else, that is,
/// a memory space. A map whose results are its dimensions in order is the identity.
fn parse_layout(text: &str) -> Option<Layout> {
    if let Some(inside) = text.strip_prefix("strided<") {
        return Some(parse_strided(inside.strip_suffix('>')?).unwrap_or(Layout::Other(text.to_owned())));
    }
    let map = text.strip_prefix("affine_map<")?;
    let compact: String = map.chars().filter(|c| !c.is_whitespace()).collect();
    let identity = compact.strip_suffix('>').and_then(|map| map.split_once("->"));
    Some(match identity {
        Some((dims, results)) if dims == results => Layout::Identity,
        _ => Layout::Other(text.to_owned()),
    })
}

/// Parses the inside of `strided<[12, 1], offset: 4>`; `?` is a number that is only known at run time. `None` if it
/// cannot be read.
fn parse_strided(inside: &str) -> Option<Layout> {
    let (list, rest) = inside.trim().strip_prefix('[')?.split_once(']')?;
    // `Some(None)` is a number that is only known at run time, `None` a text that is no number.
    let number = |text: &str| match text.trim() {
        "?" => Some(None),
        digits => digits.parse::<i64>().ok().map(Some),
    };
    let strides: Option<Vec<Option<i64>>> = match list.trim() {
        "" => Some(Vec::new()),
        list => list.split(',').map(number).collect(),
    };
    let offset = match rest.split_once("offset:") {
        Some((_, offset)) => number(offset)?,
        // Without an offset the first element lies at the start.
        None => Some(0),
    };
    Some(Layout::Strided { strides: strides?, offset })
}

/// Splits `4x?x[8]xf32` into its dimensions and the text of the element type. `*xf32` has no known rank and gives
/// `None` for the dimensions.
fn split_shape(text: &str) -> (Option<Vec<Dimension>>, &str) {
    let mut rest = text.trim();
    if let Some(element) = rest.strip_prefix('*') {
        let element = element.trim_start().strip_prefix('x').unwrap_or(element);
        return (None, element);
    }
    let mut shape = Vec::new();
    while let Some((dimension, behind)) = split_dimension(rest) {
        shape.push(dimension);
        rest = behind;
    }
    (Some(shape), rest)
}

/// The text of the element type of `4x?x[8]xf32`, as [`split_shape`] gives it, without making the list of dimensions.
fn element_of_shape(text: &str) -> &str {
    let mut rest = text.trim_ascii();
    if rest.starts_with('*') {
        return split_shape(rest).1;
    }
    while let Some((_, behind)) = split_dimension(rest) {
        rest = behind;
    }
    rest
}

/// The first dimension of `4x?x[8]xf32`, and what follows its `x`; `None` if an element type stands there. A scalable
/// dimension `[8]` counts as unknown.
fn split_dimension(text: &str) -> Option<(Dimension, &str)> {
    let text = text.trim_ascii_start();
    let cross = text.bytes().position(|byte| byte == b'x')?;
    let (head, behind) = (&text[..cross], &text[cross + 1..]);
    let head = head.trim_ascii();
    let scalable = head.starts_with('[') && head.ends_with(']');
    if head == "?" || scalable {
        return Some((None, behind));
    }
    // An element type may contain an `x` as well (`index`, `complex<f32>`), but no number stands in front of it.
    if head.is_empty() || !head.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((head.parse().ok(), behind))
}

/// Splits at the commas outside brackets.
pub(crate) fn split_commas(text: &str) -> Vec<&str> {
    Commas::of(text).collect()
}

/// Whether each byte is a comma, a bracket or a quote, or may begin a comment or an arrow.
const DECIDES: [bool; 256] = {
    let mut decides = [false; 256];
    let bytes = b"\"<>()[]{},/-";
    let mut at = 0;
    while at < bytes.len() {
        decides[bytes[at] as usize] = true;
        at += 1;
    }
    decides
};

/// The parts of a text between the commas outside brackets, one at a time, without the blanks and comments around them.
pub(crate) struct Commas<'t> {
    text: &'t str,
    /// Where the next part begins; `None` behind the last one.
    start: Option<usize>,
}

impl<'t> Commas<'t> {
    /// The parts of a text. Nothing but blanks and comments is no part at all.
    pub(crate) fn of(text: &'t str) -> Commas<'t> {
        Commas { text, start: (!trim_trivia(text).is_empty()).then_some(0) }
    }

    /// The position of the next comma outside brackets, strings and comments, from `from` on.
    fn comma(&self, from: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            let next = bytes.get(at + 1);
            match byte {
                // Most bytes are letters and digits, which decide nothing.
                _ if !DECIDES[usize::from(byte)] => {}
                // Text in quotes may contain any bracket or comma.
                b'"' => {
                    at = string_end(bytes, at + 1)?;
                    continue;
                }
                // A comment may contain any of these, too.
                b'/' if next == Some(&b'/') => {
                    at += self.text[at..].find('\n')?;
                    continue;
                }
                // In `<=` and `>=`, and in `->`, the sign is part of an operator and no bracket.
                b'<' | b'>' if next == Some(&b'=') => {}
                b'-' if next == Some(&b'>') => at += 1,
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => return Some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }
}

impl<'t> Iterator for Commas<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let start = self.start?;
        let comma = self.comma(start);
        self.start = comma.map(|at| at + 1);
        Some(trim_trivia(&self.text[start..comma.unwrap_or(self.text.len())]))
    }
}

/// Where the element type of a shaped type is written (`f32` of `memref<4xf32>`), or what stands between the brackets
/// of another type (`f32` of `!async.value<f32>`). It is needed for ops whose form writes the type of an operand only:
/// a result, or an argument of their region, then has the type inside of it.
///
/// `None` if the type has no brackets, or nothing between them, or is a function's: the brackets of
/// `(memref<4xf32>) -> memref<4xf32>` belong to two types.
pub(crate) fn inner_span(source: &str, span: Span) -> Option<Span> {
    let text = source.get(span.range())?;
    let (word, inside) = text.split_once('<').filter(|_| !text.starts_with('('))?;
    let inside = inside.strip_suffix('>')?;
    let shaped = matches!(word.trim(), "memref" | "tensor" | "vector");
    let first = Commas::of(inside).next()?;
    let inner = if shaped { element_of_shape(first) } else { inside };
    // `inner` is a part of `source`, so the distance of the two pointers is its position.
    let start = inner.as_ptr() as usize - source.as_ptr() as usize;
    Some(Span::new(start, start + inner.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memref(text: &str) -> MemRef {
        Type::parse(text).as_memref().cloned().expect(text)
    }

    #[test]
    fn memrefs() {
        let m = memref("memref<4x?xf32, strided<[?, 1], offset: 3>, #gpu.address_space<workgroup>>");
        assert_eq!(m.shape, Some(vec![Some(4), None]));
        assert_eq!(*m.element, Type::Float { width: 32 });
        let strided = Layout::Strided { strides: vec![None, Some(1)], offset: Some(3) };
        assert_eq!(m.layout, strided);
        assert_eq!(m.space.as_deref(), Some("#gpu.address_space<workgroup>"));
        assert_eq!(memref("memref<*xf32>").shape, None);
        assert_eq!(memref("memref<f32>").bytes(), Some(Bytes(4)));
        assert_eq!(memref("memref<8xf32, 0>").space, None);
        assert_eq!(memref("memref<8xf32, 0 : i64>").space, None);
        assert_eq!(memref("memref<8xf32, 1>").space.as_deref(), Some("1"));
        assert_eq!(memref("memref<8xf32, 1 : i64>").space.as_deref(), Some("1"));
        assert_eq!(memref("memref<8x2xf32, affine_map<(d0, d1) -> (d0, d1)>>").layout, Layout::Identity);
        let map = "affine_map<(d0, d1) -> (d1, d0)>";
        let transposed = memref(&format!("memref<8x2xf32, {map}>"));
        assert_eq!(transposed.layout, Layout::Other(map.to_owned()));
    }

    #[test]
    fn bytes_follow_the_data_layout() {
        for (text, bytes) in [
            ("memref<3xi1>", 3),
            ("memref<3xi4>", 3),
            ("memref<3xi12>", 6),
            ("memref<3xi24>", 12),
            ("memref<3xindex>", 24),
            ("memref<3xcomplex<f32>>", 24),
            ("memref<3xvector<4xf32>>", 48),
            ("memref<2xvector<3xf32>>", 32),
            ("memref<2xvector<2x3xf32>>", 64),
            ("memref<2xvector<16xi1>>", 4),
            ("memref<2xf80>", 32),
            ("memref<2xf8E4M3FN>", 2),
            ("memref<0x8xf32>", 0),
            ("memref<2xmemref<4xf32>>", 80),
        ] {
            assert_eq!(memref(text).bytes(), Some(Bytes(bytes)), "{text}");
        }
        assert_eq!(memref("memref<4294967296x4294967296x4xf32>").bytes(), None);
        assert_eq!(memref("memref<4x!acme.number>").bytes(), None);
    }

    #[test]
    fn other_types() {
        let tensor = Type::parse("tensor<1x16xf32, 4294967296 : i64>");
        let Type::Tensor { encoding, .. } = &tensor else {
            panic!("{tensor:?}");
        };
        assert_eq!(encoding.as_deref(), Some("4294967296 : i64"));
        assert_eq!(Type::parse("() -> memref<4xf32>"), Type::Function);
        assert_eq!(Type::parse("!quant.uniform<i8:f32, 1.0>").bits(), None);
        let deep = format!("{}f32{}", "complex<".repeat(5000), ">".repeat(5000));
        assert!(Type::parse(&deep).bits().is_none());
    }

    #[test]
    fn what_stands_inside() {
        let inner = |text: &str| inner_span(text, Span::new(0, text.len())).map(|span| text[span.range()].to_owned());
        assert_eq!(inner("memref<4x?xf32, 3>").as_deref(), Some("f32"));
        assert_eq!(inner("!async.value<memref<4xf32>>").as_deref(), Some("memref<4xf32>"));
        assert_eq!(inner("memrefs<4xf32>").as_deref(), Some("4xf32"));
        for text in ["(memref<4xf32>) -> memref<4xf32>", "tuple<>", "index"] {
            assert_eq!(inner(text), None, "{text}");
        }
    }
}
