//! How large the results of an affine map can become.
//!
//! Kernels round sizes up to whole blocks with maps:
//!
//! ```text
//!   %n = affine.min affine_map<(d0) -> (4096, d0)>(%left)                    at most 4096
//!   %m = affine.apply affine_map<()[s0] -> (s0 ceildiv 16 * 16)>()[%n]       at most 4096
//! ```
//!
//! The text of a result is read as a sum of products, from left to right. Of every part the largest number that it can
//! be is kept:
//!
//! ```text
//!   s0 ceildiv 16 * 16      with s0 at most 100
//!   s0                      at most 100
//!   s0 ceildiv 16           at most 7
//!   … * 16                  at most 112
//! ```
//!
//! A part that may be of any size (a difference of two values, a product of two) makes the whole result unknown. How
//! small a dimension or symbol can be is never used: it may also be negative.

use crate::document::{Document, Form, OpId};
use crate::lex::trim_trivia;
use crate::ty::split_commas;

/// A part of a map's result.
#[derive(Clone, Copy)]
struct Part {
    /// The largest number that it can be.
    most: i64,
    /// Whether it is that number always.
    is_constant: bool,
}

/// How deep parentheses and signs may nest. No map of a kernel nests deeper; the limit keeps the recursion short.
const MOST_DEPTH: u32 = 32;

impl Document {
    /// The largest number that each result of the map of an affine op can be; `None` in the list where it is not
    /// known, and no list if the op's map cannot be read. `most` gives the largest number of the operand at a
    /// position.
    pub(super) fn most_of_results(
        &self,
        op: OpId,
        mut most: impl FnMut(usize) -> Option<i64>,
    ) -> Option<Vec<Option<i64>>> {
        let map = self.map_text(op)?;
        let (names, results) = map.split_once("->")?;
        // The names in `(d0)[s0]`, in order. Dimensions come before symbols, in the map as among the operands, so the
        // position of a name is the position of its operand.
        // Between two names the split gives empty words where several separators stand together.
        let is_name = |word: &&str| !word.is_empty();
        let names: Vec<&str> = names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_name).collect();
        let list = results.trim().strip_prefix('(')?;
        // The text of the results between their parentheses.
        let list = &list[..closing(list)?];
        // A result is only understood if nothing of its text is left over.
        let mut read = |text: &str| {
            // The position of a dimension or symbol among the names, which is the position of its operand.
            let name = |word: &str| names.iter().position(|known| *known == word);
            let mut words = Words { rest: text, depth: 0, most: &mut |word: &str| most(name(word)?) };
            words.sum().filter(|_| words.rest.trim().is_empty()).map(|part| part.most)
        };
        Some(split_commas(list).into_iter().map(|result| read(result.trim())).collect())
    }

    /// The text of an affine op's map from behind `affine_map<` on: `(d0)[s0] -> (d0 + s0)>`, and whatever follows it.
    /// The map stands behind the op's name, in the generic form in the attribute `map`; an alias such as `#map` may
    /// stand for it. (Other attributes may be maps, too.)
    fn map_text(&self, op: OpId) -> Option<&str> {
        let span = self.op(op).span;
        let text = match self.op(op).form {
            Form::Generic => self.attribute(op, "map")?,
            _ => self.source().get(self.op(op).name_span.end as usize..span.end as usize)?,
        };
        let text = trim_trivia(text);
        let map = match text.starts_with('#') {
            true => self.alias(text.split(['(', ' ', '\n', '/']).next()?, span)?,
            false => text,
        };
        trim_trivia(map).strip_prefix("affine_map<")
    }
}

/// Where the parenthesis is closed whose `(` stands just in front of the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The words of a result that are still to be read.
struct Words<'t, 'm> {
    rest: &'t str,
    /// How many factors are being read inside of each other.
    depth: u32,
    /// The largest number of a dimension or a symbol.
    most: &'m mut dyn FnMut(&str) -> Option<i64>,
}

impl Words<'_, '_> {
    /// Steps over a word or sign if it comes next, and says whether it did.
    fn take(&mut self, word: &str) -> bool {
        match self.rest.trim_start().strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads a sum and gives the largest number it can be.
    fn sum(&mut self) -> Option<Part> {
        let mut total = self.product()?;
        loop {
            if self.take("+") {
                let part = self.product()?;
                total.most = total.most.checked_add(part.most)?;
                total.is_constant &= part.is_constant;
            } else if self.take("-") {
                // How small the subtrahend can be is only known of a constant.
                let part = self.product().filter(|part| part.is_constant)?;
                total.most = total.most.checked_sub(part.most)?;
            } else {
                return Some(total);
            }
        }
    }

    /// Reads a product, quotient or remainder and gives the largest number it can be. Operators of this rank are
    /// applied from left to right.
    fn product(&mut self) -> Option<Part> {
        let mut total = self.factor()?;
        loop {
            if self.take("*") {
                let part = self.factor()?;
                let (times, other) = if part.is_constant { (part, total) } else { (total, part) };
                // A negative factor turns the largest number into the smallest.
                if !times.is_constant || times.most < 0 {
                    return None;
                }
                total = Part { most: other.most.checked_mul(times.most)?, is_constant: other.is_constant };
            } else if self.take("ceildiv") {
                // A negative number is taken as 0 before the division, which can only make the bound larger. The
                // result is then no constant any more.
                let by = self.divisor()?;
                total.is_constant &= total.most >= 0;
                total.most = total.most.max(0).checked_add(by - 1)? / by;
            } else if self.take("floordiv") {
                total.is_constant &= total.most >= 0;
                total.most = total.most.max(0) / self.divisor()?;
            } else if self.take("mod") {
                // A remainder by a positive number is never negative and smaller than that number.
                total = Part { most: self.divisor()? - 1, is_constant: false };
            } else {
                return Some(total);
            }
        }
    }

    /// Reads a divisor, which must be a positive constant.
    fn divisor(&mut self) -> Option<i64> {
        self.factor().filter(|part| part.is_constant && part.most > 0).map(|part| part.most)
    }

    /// Reads a number, a name, or an expression in parentheses, with or without a minus sign in front, and gives the
    /// largest number it can be. `None` makes the whole result unknown, and nothing more is read from these words. So
    /// `depth` need not be counted down before a `None`.
    fn factor(&mut self) -> Option<Part> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return None;
        }
        let part = if self.take("(") {
            let inner = self.sum()?;
            self.take(")").then_some(inner)?
        } else if self.take("-") {
            // A minus sign. The largest number of `-x` follows from the smallest number of `x`, which is only known of
            // a constant.
            let part = self.factor().filter(|part| part.is_constant)?;
            Part { most: part.most.checked_neg()?, is_constant: true }
        } else {
            let text = self.rest.trim_start();
            // A number, or the name of a dimension or symbol. The word is empty if something else follows, such as `*`.
            // It then is a name that the map does not have, and the result is unknown.
            let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            self.rest = rest;
            match word.parse() {
                Ok(number) => Part { most: number, is_constant: true },
                Err(_) => Part { most: (self.most)(word)?, is_constant: false },
            }
        };
        self.depth -= 1;
        Some(part)
    }
}
