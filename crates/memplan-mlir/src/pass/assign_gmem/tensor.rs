//! How many bytes a tensor takes in global memory.
//!
//! Usually elements times bits, rounded up to bytes. One family of chips keeps
//! narrow elements of neighbouring batches in one 32-bit word: four batches of
//! 8-bit numbers, or two of 16-bit ones. An int8 tensor of 5x10 then takes
//! ceil(5/4) · 10 words, 80 bytes instead of 50.

use memplan_core::storage_bytes;
use smallvec::SmallVec;

use crate::Type;

/// How many batches share a 32-bit word. A *batch* is one index of the first dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Batches {
    /// Batches are not packed: elements lie row by row.
    #[default]
    Apart,
    /// Two 16-bit batches in a word.
    Pairs,
    /// Four 8-bit batches in a word.
    Quads,
}

impl Batches {
    /// How many batches share a word.
    fn in_a_word(self) -> u64 {
        match self {
            Batches::Apart => 1,
            Batches::Pairs => 2,
            Batches::Quads => 4,
        }
    }
}

/// The shape and element of a tensor type with nothing left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Dimensions, outermost first.
    pub dims: SmallVec<[u64; 4]>,
    /// Bits of an element.
    pub bits: u64,
    /// Whether the element type is a quantised one.
    pub quantised: bool,
    /// How batches share words.
    pub batches: Batches,
    bytes: u64,
}

/// Why a tensor has no size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unsized {
    /// A dimension is only known at run time: `tensor<?x3xf32>`.
    Dynamic,
    /// Not even the number of dimensions is known: `tensor<*xf32>`.
    Unranked,
    /// The width of an element is not known.
    Element,
    /// The place of the address in the type is taken by something else: `tensor<3xf32, #sparse>`.
    Encoding(String),
    /// It has 2^63 bytes or more, or 2^64 elements or more, however narrow they are.
    TooLarge,
}

impl Unsized {
    /// The end of a message to the user that begins with the tensor's name, with what to do.
    pub(super) fn describe(&self) -> String {
        match self {
            Unsized::Dynamic => {
                "has a dimension that is only known at run time; compile the network for fixed shapes first".to_owned()
            }
            Unsized::Unranked => {
                "has no known rank; run shape inference, and compile the network for fixed shapes first".to_owned()
            }
            Unsized::Element => "has elements of a type whose width is not known; lower it to a number type".to_owned(),
            Unsized::Encoding(text) => {
                format!("already has the encoding `{text}`, which is no address; remove it, the address goes there")
            }
            Unsized::TooLarge => "takes 2^63 bytes or more, more than any chip has; split it".to_owned(),
        }
    }
}

impl Shape {
    /// The shape of a tensor type; `None` for types that are no tensors.
    /// `packs_batches` says whether the chip packs narrow elements.
    pub(super) fn of(ty: &Type, packs_batches: bool) -> Result<Option<Shape>, Unsized> {
        let Type::Tensor { shape, element, encoding } = ty else { return Ok(None) };
        if let Some(text) = encoding.as_deref().filter(|text| address(text).is_none()) {
            return Err(Unsized::Encoding(text.to_owned()));
        }
        let dims = shape.as_ref().ok_or(Unsized::Unranked)?;
        let dims = dims.iter().copied().collect::<Option<_>>().ok_or(Unsized::Dynamic)?;
        let (bits, quantised) = element_bits(element).ok_or(Unsized::Element)?;
        let batches = match bits {
            8 if packs_batches => Batches::Quads,
            16 if packs_batches => Batches::Pairs,
            _ => Batches::Apart,
        };
        Shape { dims, bits, quantised, batches, bytes: 0 }.measured().map(Some)
    }

    /// The same tensor with its batches packed into words in another way.
    pub(super) fn with_batches(self, batches: Batches) -> Result<Shape, Unsized> {
        Shape { batches, ..self }.measured()
    }

    /// Fills in `bytes`, from the dimensions, the bits of an element and the packing of batches.
    fn measured(mut self) -> Result<Shape, Unsized> {
        let bytes = match self.batches {
            Batches::Apart => {
                // Eight elements take as many bytes as one has bits. The bits of all elements may not fit into 64 bits
                // although the bytes do.
                self.elements(0).and_then(|count| {
                    let rest = storage_bytes((count % 8).checked_mul(self.bits)?);
                    (count / 8).checked_mul(self.bits)?.checked_add(rest.0)
                })
            }
            // For each position behind the first dimension there is one word of 4 bytes for every two or four
            // batches. A last word that is not full takes its 4 bytes all the same.
            packed => {
                let words = self.batch_count().div_ceil(packed.in_a_word());
                self.elements(1).and_then(|rest| rest.checked_mul(words)?.checked_mul(4))
            }
        };
        self.bytes = bytes.filter(|&bytes| bytes <= memplan_core::MAX_BYTES).ok_or(Unsized::TooLarge)?;
        Ok(self)
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first dimension; 1 for a single number, which has no dimensions.
    pub(super) fn batch_count(&self) -> u64 {
        self.dims.first().copied().unwrap_or(1)
    }

    /// How many elements the dimensions from `axis` on have together: their product, 1 if there are none. `None` if it
    /// passes 2^64.
    pub(super) fn elements(&self, axis: usize) -> Option<u64> {
        let dims = self.dims.get(axis..).unwrap_or(&[]);
        // A zero makes the product zero even if the other dimensions overflow before it is reached.
        if dims.contains(&0) {
            return Some(0);
        }
        dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim))
    }

    /// Whether all dimensions in front of `axis` are 1. Then a range of indices of `axis` is a contiguous part of the
    /// tensor.
    pub(super) fn is_single_before(&self, axis: usize) -> bool {
        self.dims.iter().take(axis).all(|&dim| dim == 1)
    }

    /// The byte at which index `at` of `axis` begins: for `tensor<1x8x16x16xf32>`, axis 1 and index 4 that is
    /// 4 · 16 · 16 elements of 4 bytes, 4096. `None` if a dimension in front of `axis` is not 1, or if the index does
    /// not begin at a whole byte (or, in packed batches, at a whole word).
    pub(super) fn offset(&self, axis: usize, at: u64) -> Option<u64> {
        if !self.is_single_before(axis) {
            return None;
        }
        let inner = self.elements(axis + 1)?;
        match self.batches {
            Batches::Apart => {
                let bits = at.checked_mul(inner)?.checked_mul(self.bits)?;
                bits.is_multiple_of(8).then_some(bits / 8)
            }
            // Several batches are packed into a word. A batch that is not the first in its word has no address of its
            // own.
            packed if axis == 0 => {
                let words = packed.in_a_word();
                at.is_multiple_of(words).then(|| (at / words).checked_mul(inner)?.checked_mul(4)).flatten()
            }
            // There is one batch, so every element has a word of 4 bytes.
            _ => at.checked_mul(inner)?.checked_mul(4),
        }
    }

    /// The bytes if every row (the last dimension) is rounded up to whole bytes on its own, as int4 matrices may be.
    /// `None` for a single number, or if the bits of a row or the bytes of all rows pass 2^64.
    pub(super) fn bytes_by_rows(&self) -> Option<u64> {
        let (last, rows) = self.dims.split_last()?;
        let row = storage_bytes(last.checked_mul(self.bits)?).0;
        rows.iter().try_fold(row, |product, &dim| product.checked_mul(dim))
    }
}

/// The address that the encoding of a tensor type stands for, such as `4096 : i64`; `None` if it is no number.
pub(super) fn address(encoding: &str) -> Option<u64> {
    let number = encoding.strip_suffix(": i64").unwrap_or(encoding).trim();
    number.parse().ok()
}

/// Bits of an element as it is stored, and whether it is quantised; `None` if the type's width is not known.
fn element_bits(element: &Type) -> Option<(u64, bool)> {
    if let Some(bits) = element.bits() {
        return Some((bits, false));
    }
    // `!quant.uniform<i8<-127:127>:f32, 0.1:3>` and `!quant.calibrated<f32<-1.0:1.0>>`
    // begin with what is stored.
    let Type::Opaque(text) = element else { return None };
    let inside = text.strip_prefix("!quant.")?.split_once('<')?.1;
    let word: String = inside.chars().take_while(char::is_ascii_alphanumeric).collect();
    Type::parse(&word).bits().map(|bits| (bits, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str, packs: bool) -> Result<Option<Shape>, Unsized> {
        Shape::of(&Type::parse(text), packs)
    }

    fn bytes(text: &str, packs: bool) -> u64 {
        shape(text, packs).unwrap().unwrap().bytes()
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes("tensor<1x16x32x32xf32>", false), 65536);
        assert_eq!(bytes("tensor<3x3xi4>", false), 5);
        assert_eq!(bytes("tensor<f32>", false), 4);
        assert_eq!(bytes("tensor<0x4xf32, 64 : i64>", false), 0);
        assert_eq!(bytes("tensor<2x3x!quant.uniform<i8<-127:127>:f32, 0.5:3>>", false), 6);
        assert_eq!(bytes("tensor<2x3x!quant.calibrated<f32<-1.0:1.0>>>", false), 24);
        // Below 2^63 bytes, although the bits are 2^64 and more.
        assert_eq!(bytes("tensor<2305843009213693952xi8>", false), 1 << 61);
        assert_eq!(bytes("tensor<9223372036854775807xi8>", false), i64::MAX as u64);
        assert_eq!(bytes("tensor<2305843009213693951xi4>", false), 1 << 60);
        assert_eq!(bytes("tensor<5x10xi8>", true), 80);
        assert_eq!(bytes("tensor<5x10xbf16>", true), 120);
        assert_eq!(bytes("tensor<5x10xf32>", true), 200);
    }

    #[test]
    fn what_has_no_size() {
        assert_eq!(shape("none", false), Ok(None));
        assert_eq!(shape("tensor<?x3xf32>", false), Err(Unsized::Dynamic));
        assert_eq!(shape("tensor<*xf32>", false), Err(Unsized::Unranked));
        assert_eq!(shape("tensor<3x!acme.number>", false), Err(Unsized::Element));
        assert_eq!(shape("tensor<3xf32, #sparse>", false), Err(Unsized::Encoding("#sparse".to_owned())));
        assert_eq!(shape("tensor<4294967296x4294967296xf32>", false), Err(Unsized::TooLarge));
        assert_eq!(shape("tensor<9223372036854775808xi8>", false), Err(Unsized::TooLarge));
    }

    #[test]
    fn offsets_along_an_axis() {
        let shape = |text: &str, packs| Shape::of(&Type::parse(text), packs).unwrap().unwrap();
        assert_eq!(shape("tensor<1x8x16x16xf32>", false).offset(1, 4), Some(4096));
        assert_eq!(shape("tensor<2x8xf32>", false).offset(1, 4), None);
        assert_eq!(shape("tensor<8x3xi4>", false).offset(0, 1), None);
        assert_eq!(shape("tensor<8x3xi4>", false).offset(0, 2), Some(3));
        assert_eq!(shape("tensor<8x10xi8>", true).offset(0, 4), Some(40));
        assert_eq!(shape("tensor<8x10xi8>", true).offset(0, 2), None);
        assert_eq!(shape("tensor<1x8x10xi8>", true).offset(1, 2), Some(80));
    }
}
