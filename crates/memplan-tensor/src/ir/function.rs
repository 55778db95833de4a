//! Functions, and the tables of what they name.

use super::{Block, Expr, Shared, StorageScope};
use crate::DType;
use memplan_core::{IndexVec, Span, index_type};

index_type! {
    /// A variable of a [`Function`].
    pub struct VarId;
    /// A buffer of a [`Function`].
    pub struct BufId;
}

/// A variable: parameter, loop variable, let or thread index.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Name as written.
    pub name: String,
    /// Type.
    pub dtype: DType,
}

/// Whose memory a buffer is.
#[derive(Clone, Debug, PartialEq)]
pub enum Memory {
    /// The caller's: a parameter.
    Argument,
    /// Its own: made by an allocation.
    Own,
    /// Another buffer's, from an element offset on (in elements of this buffer).
    View {
        /// The buffer whose memory it is.
        of: BufId,
        /// Distance from its start, if not zero.
        elem_offset: Option<Expr>,
    },
}

/// A typed, shaped piece of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Name as written.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents. Copies of a buffer have them in common.
    pub shape: Shared<Vec<Expr>>,
    /// For a view, the distance of two neighbours in each dimension, in elements, if it is given. Otherwise, and for
    /// every other buffer, the rows lie one behind the other without gaps.
    pub strides: Option<Vec<Expr>>,
    /// Which memory.
    pub scope: StorageScope,
    /// Whose memory.
    pub memory: Memory,
    /// Whether it is written as a mutable scalar: `x: T.int32 = 0`.
    pub scalar: bool,
    /// Whether the text ties it to its place: it belongs to a block, or the text asks where it lies.
    pub pinned: bool,
    /// Further keyword arguments of its declaration, as written (`annotations={…}`).
    pub extra: Vec<(String, String)>,
    /// Where it is declared.
    pub span: Span,
}

impl Buffer {
    /// Number of elements. `None` if an extent is no constant or is negative, or if the number does not fit 64 bits.
    pub fn constant_elements(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |product, extent| product.checked_mul(u64::try_from(extent.as_int()?).ok()?))
    }

    /// Whether every extent is a constant.
    #[inline]
    pub fn has_constant_shape(&self) -> bool {
        self.shape.iter().all(|extent| extent.as_int().is_some())
    }
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A scalar.
    Var(VarId),
    /// A buffer.
    Buffer(BufId),
}

/// A function: parameters, tables and a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// All variables.
    pub vars: Shared<IndexVec<VarId, Var>>,
    /// All buffers.
    pub buffers: IndexVec<BufId, Buffer>,
    /// What it does.
    pub body: Block,
}

impl Function {
    /// A function without parameters, variables and buffers that does nothing.
    pub fn empty(name: String) -> Function {
        Function { name, params: Vec::new(), vars: Shared::default(), buffers: IndexVec::new(), body: Block::default() }
    }

    /// The buffer whose memory `buffer` is, through any chain of views.
    #[inline]
    pub fn root(&self, buffer: BufId) -> BufId {
        match self.buffers[buffer].memory {
            Memory::View { .. } => self.root_of_view(buffer),
            _ => buffer,
        }
    }

    fn root_of_view(&self, view: BufId) -> BufId {
        let mut root = view;
        // A view is made after what it views, so the chain is at most as long as the table.
        for _ in 0..self.buffers.len() {
            match &self.buffers[root].memory {
                Memory::View { of, .. } => root = *of,
                _ => break,
            }
        }
        root
    }

    /// The expressions that say where the elements of a buffer lie: the offset of a view, the extents, the strides.
    pub fn placing_exprs(&self, buffer: BufId) -> impl Iterator<Item = &Expr> {
        let buffer = &self.buffers[buffer];
        let offset = match &buffer.memory {
            Memory::View { elem_offset, .. } => elem_offset.as_ref(),
            _ => None,
        };
        offset.into_iter().chain(buffer.shape.iter()).chain(buffer.strides.iter().flatten())
    }

    /// A name that no buffer or variable has yet: `base`, or `base_1`, `base_2`, ….
    pub fn fresh_name(&self, base: &str) -> String {
        // Buffers and variables are printed as names of one function, so they must differ from each other, too.
        let taken = |name: &str| {
            self.buffers.iter().any(|buffer| buffer.name == name) || self.vars.iter().any(|var| var.name == name)
        };
        let mut name = base.to_owned();
        let mut suffix = 0;
        while taken(&name) {
            suffix += 1;
            name = format!("{base}_{suffix}");
        }
        name
    }

    /// The buffer with this name, if exactly one has it.
    pub fn buffer_named(&self, name: &str) -> Option<BufId> {
        let mut found = self.buffers.iter_enumerated().filter(|(_, b)| b.name == name);
        let first = found.next()?.0;
        found.next().is_none().then_some(first)
    }
}
