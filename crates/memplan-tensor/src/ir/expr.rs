//! Expressions of the loop IR.

use super::{BufId, Function, VarId};
use crate::DType;
use smallvec::{SmallVec, smallvec};

/// The subscripts of an access, one per dimension.
pub type Index = Vec<Expr>;

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b` on floats; `T.Div(a, b)`, rounding towards zero, on integers.
    Div,
    /// `T.truncmod(a, b)`: the remainder of [`BinaryOp::Div`].
    Mod,
    /// `a // b`, rounding down.
    FloorDiv,
    /// `a % b`, with the sign of the divisor.
    FloorMod,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// Both.
    And,
    /// Either.
    Or,
}

impl BinaryOp {
    /// Whether the result is a truth value.
    pub fn is_predicate(self) -> bool {
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge | And | Or)
    }

    /// Whether the result is computed from the operands and may not fit their type.
    pub fn is_arithmetic(self) -> bool {
        use BinaryOp::{Add, Div, FloorDiv, FloorMod, Mod, Mul, Sub};
        matches!(self, Add | Sub | Mul | Div | Mod | FloorDiv | FloorMod)
    }
}

/// Stands before the name of a called function that is printed as written: another function of the module (`@cls.f`),
/// or one of TVM's with arguments that are not taken apart (`@T.Ramp`).
pub const OTHER_FUNCTION: char = '@';

/// Stands before the name of a function of a buffer, which is the first argument: `A.access_ptr(…)`.
pub const METHOD: char = '.';

/// Stands before the name of a keyword argument, whose value is the only argument: `predicate=…`.
pub const KEYWORD: char = '=';

/// The name of a list of arguments.
pub const LIST: &str = "[";

/// The name of a tuple of arguments.
pub const TUPLE: &str = "(";

/// The name of a subscript `start:stop:step` of unknown length.
pub const SLICE: &str = ":";

/// Calls that name the type of their result, so that it is known and not guessed.
const TYPED_CALLS: [&str; 4] = ["call_extern", "call_pure_extern", "call_intrin", "call_llvm_intrin"];

/// Parts of names of functions that return before their work is done: copies and matrix units that run beside the
/// threads. Such a part may stand in the name of the call, or in a string that says what the call does
/// (`T.ptx.cp(…, "async", …)`).
const ASYNCHRONOUS: [&str; 7] = ["async", "_nbi", "dma_", "bulk", "wgmma", "tcgen05", "tma_"];

/// Names of modules of which a function counts as asynchronous unless it is listed in [`SYNCHRONOUS`].
const GPU_MODULES: [&str; 3] = ["ptx.", "nvshmem.", "cuda."];

/// Functions of [`GPU_MODULES`] that are done with their arguments when they return.
const SYNCHRONOUS: [&str; 24] = [
    "atomic_add",
    "atomic_cas",
    "cta_reduce",
    "cta_sync",
    "cvta",
    "cvta_generic",
    "cvta_generic_to_shared",
    "grid_sync",
    "ld",
    "ld_vec",
    "ldg",
    "ldmatrix",
    "ldu",
    "mapa",
    "mma",
    "mma_sp",
    "movmatrix",
    "printf",
    "shfl_sync",
    "st",
    "st_vec",
    "stmatrix",
    "warp_reduce",
    "warp_sync",
];

/// Whether a name, or a string that may be one, is that of a function that may still use its arguments when it has
/// returned.
fn names_asynchronous(name: &str) -> bool {
    if ASYNCHRONOUS.iter().any(|part| name.contains(part)) {
        return true;
    }
    // `T.ptx.st` in the text, `tirx.ptx.st` as a string.
    let name = name.strip_prefix(OTHER_FUNCTION).unwrap_or(name);
    GPU_MODULES.iter().any(|module| {
        let function = name.strip_prefix(module).or_else(|| {
            let (before, rest) = name.split_once('.')?;
            matches!(before, "T" | "tir" | "tirx").then(|| rest.strip_prefix(module))?
        });
        function.is_some_and(|function| !SYNCHRONOUS.contains(&function))
    })
}

/// Whether a call may still use the buffers in its arguments when it has returned: a copy that is only begun, or a
/// function of a GPU that is not known to wait for its work. Nobody knows which statement waits for it.
pub fn is_asynchronous(name: &str, args: &[Expr]) -> bool {
    let says_so = |arg: &Expr| match arg {
        Expr::Str(text) | Expr::Text(text) => names_asynchronous(text),
        // The value of a keyword argument.
        Expr::Call { name, args, .. } if name.starts_with(KEYWORD) => {
            matches!(args.as_slice(), [Expr::Str(text) | Expr::Text(text)] if names_asynchronous(text))
        }
        _ => false,
    };
    names_asynchronous(name) || args.iter().any(says_so)
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An integer or truth constant.
    Int {
        /// Its value.
        value: i64,
        /// Its type.
        dtype: DType,
    },
    /// A floating point constant.
    Float {
        /// Its value.
        value: f64,
        /// Its type.
        dtype: DType,
    },
    /// A string, as an argument of a call.
    Str(String),
    /// A loop variable, let, thread index or scalar parameter.
    Var(VarId),
    /// A binary operation.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// Logical negation.
    Not(Box<Expr>),
    /// Lane-wise choice. In TVM both sides are evaluated; our interpreter evaluates only the chosen side if the
    /// condition is a single truth value.
    Select {
        /// The choice.
        condition: Box<Expr>,
        /// Value where it holds.
        then: Box<Expr>,
        /// Value where it does not.
        otherwise: Box<Expr>,
    },
    /// Conversion to another type.
    Cast {
        /// The new type.
        dtype: DType,
        /// What is converted.
        value: Box<Expr>,
    },
    /// `base, base + stride, …`: one value per lane.
    Ramp {
        /// First lane.
        base: Box<Expr>,
        /// Distance of lanes.
        stride: Box<Expr>,
        /// Number of lanes.
        lanes: u16,
    },
    /// The same value in every lane.
    Broadcast {
        /// The value.
        value: Box<Expr>,
        /// Number of lanes.
        lanes: u16,
    },
    /// An element of a buffer.
    Load {
        /// The buffer.
        buffer: BufId,
        /// Subscripts.
        index: Index,
    },
    /// The bare address of a buffer, `A.data`.
    Data(BufId),
    /// A call: intrinsics by name (`exp`, `if_then_else`, `address_of`, `tvm_access_ptr`, `call_extern`, …).
    Call {
        /// Name after `T.`.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
        /// Type of the result.
        dtype: DType,
    },
    /// `T.type_annotation("float32")`, an argument of `tvm_access_ptr`.
    Type(DType),
    /// An argument that mentions no name of the function, as written: a lambda, a list of constants.
    Text(String),
}

impl Expr {
    /// An `int32` constant.
    pub fn int(value: i64) -> Expr {
        Expr::Int { value, dtype: DType::INT32 }
    }

    /// `op(left, right)`.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary { op, left: Box::new(left), right: Box::new(right) }
    }

    /// The value of an integer constant.
    #[inline]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Expr::Int { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Whether this is a number or a variable, as most parts of subscripts are. Such an expression has no parts, and it
    /// mentions no buffer. Walks ask first, because a question costs less than a visit.
    #[inline]
    pub(crate) fn is_number_or_variable(&self) -> bool {
        matches!(self, Expr::Int { .. } | Expr::Float { .. } | Expr::Var(_))
    }

    /// Whether this is a constant.
    pub fn is_constant(&self) -> bool {
        matches!(self, Expr::Int { .. } | Expr::Float { .. })
    }

    /// The type of the value. Both operands of an operation have the same type, so that of the left one counts;
    /// comparisons and logical operators give truth values, one per lane.
    pub fn dtype(&self, function: &Function) -> DType {
        match self {
            Expr::Int { dtype, .. } | Expr::Float { dtype, .. } => *dtype,
            Expr::Cast { dtype, .. } | Expr::Call { dtype, .. } => *dtype,
            Expr::Str(_) | Expr::Data(_) | Expr::Type(_) | Expr::Text(_) => DType::HANDLE,
            Expr::Var(var) => function.vars[*var].dtype,
            Expr::Binary { op, left, .. } => {
                let operand = left.dtype(function);
                if op.is_predicate() { DType::BOOL.with_lanes(operand.lanes) } else { operand }
            }
            Expr::Not(value) => DType::BOOL.with_lanes(value.dtype(function).lanes),
            Expr::Select { then, .. } => then.dtype(function),
            Expr::Ramp { base, lanes, .. } => base.dtype(function).with_lanes(*lanes),
            Expr::Broadcast { value, lanes } => value.dtype(function).with_lanes(*lanes),
            Expr::Load { buffer, index } => {
                // A vector subscript loads one element per lane, and the elements may be vectors themselves.
                let element = function.buffers[*buffer].dtype;
                let lanes = index.last().map_or(1, |last| last.lanes(function));
                element.with_lanes(element.lanes.saturating_mul(lanes))
            }
        }
    }

    /// Number of lanes of the value.
    pub fn lanes(&self, function: &Function) -> u16 {
        match self {
            Expr::Int { .. } | Expr::Float { .. } | Expr::Str(_) => 1,
            _ => self.dtype(function).lanes,
        }
    }

    /// The direct sub-expressions, in the order in which they are visited.
    pub fn children(&self) -> SmallVec<[&Expr; 3]> {
        match self {
            Expr::Int { .. }
            | Expr::Float { .. }
            | Expr::Str(_)
            | Expr::Var(_)
            | Expr::Data(_)
            | Expr::Type(_)
            | Expr::Text(_) => SmallVec::new(),
            Expr::Binary { left, right, .. } => smallvec![&**left, &**right],
            Expr::Not(value) | Expr::Cast { value, .. } | Expr::Broadcast { value, .. } => {
                smallvec![&**value]
            }
            Expr::Select { condition, then, otherwise } => smallvec![&**condition, &**then, &**otherwise],
            Expr::Ramp { base, stride, .. } => smallvec![&**base, &**stride],
            Expr::Load { index, .. } => index.iter().collect(),
            Expr::Call { args, .. } => args.iter().collect(),
        }
    }

    /// The direct sub-expressions, to change.
    pub fn children_mut(&mut self) -> SmallVec<[&mut Expr; 3]> {
        match self {
            Expr::Int { .. }
            | Expr::Float { .. }
            | Expr::Str(_)
            | Expr::Var(_)
            | Expr::Data(_)
            | Expr::Type(_)
            | Expr::Text(_) => SmallVec::new(),
            Expr::Binary { left, right, .. } => smallvec![&mut **left, &mut **right],
            Expr::Not(value) | Expr::Cast { value, .. } | Expr::Broadcast { value, .. } => {
                smallvec![&mut **value]
            }
            Expr::Select { condition, then, otherwise } => smallvec![&mut **condition, &mut **then, &mut **otherwise],
            Expr::Ramp { base, stride, .. } => smallvec![&mut **base, &mut **stride],
            Expr::Load { index, .. } => index.iter_mut().collect(),
            Expr::Call { args, .. } => args.iter_mut().collect(),
        }
    }

    /// Calls `change` on the direct sub-expressions, without a list of them.
    pub fn each_child_mut(&mut self, mut change: impl FnMut(&mut Expr)) {
        match self {
            Expr::Int { .. }
            | Expr::Float { .. }
            | Expr::Str(_)
            | Expr::Var(_)
            | Expr::Data(_)
            | Expr::Type(_)
            | Expr::Text(_) => {}
            Expr::Binary { left, right, .. } => [left, right].into_iter().for_each(|part| change(part)),
            Expr::Not(value) | Expr::Cast { value, .. } | Expr::Broadcast { value, .. } => change(value),
            Expr::Select { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| change(part));
            }
            Expr::Ramp { base, stride, .. } => [base, stride].into_iter().for_each(|part| change(part)),
            Expr::Load { index, .. } => index.iter_mut().for_each(change),
            Expr::Call { args, .. } => args.iter_mut().for_each(change),
        }
    }

    /// Whether `test` holds for every direct sub-expression, in the order of [`Expr::children`] and without a list of
    /// them.
    #[inline]
    pub fn all_children<'a>(&'a self, mut test: impl FnMut(&'a Expr) -> bool) -> bool {
        match self {
            Expr::Int { .. }
            | Expr::Float { .. }
            | Expr::Str(_)
            | Expr::Var(_)
            | Expr::Data(_)
            | Expr::Type(_)
            | Expr::Text(_) => true,
            Expr::Binary { left, right, .. } => test(left) && test(right),
            Expr::Not(value) | Expr::Cast { value, .. } | Expr::Broadcast { value, .. } => test(value),
            Expr::Select { condition, then, otherwise } => test(condition) && test(then) && test(otherwise),
            Expr::Ramp { base, stride, .. } => test(base) && test(stride),
            Expr::Load { index, .. } => index.iter().all(test),
            Expr::Call { args, .. } => args.iter().all(test),
        }
    }

    /// Calls `visit` on this expression and everything inside, parents first.
    pub fn walk<'a, F: FnMut(&'a Expr) + ?Sized>(&'a self, visit: &mut F) {
        visit(self);
        self.all_children(|child| {
            child.walk(visit);
            true
        });
    }

    /// Whether any part satisfies `test`.
    pub fn any<F: Fn(&Expr) -> bool + ?Sized>(&self, test: &F) -> bool {
        test(self) || !self.all_children(|child| !child.any(test))
    }

    /// The buffers whose address may be part of the value: `A.data` in `p = A.data`, and in the arguments of any call
    /// that may give the address back (`T.address_of(A[0])`, `T.ptr_byte_offset(A.data, 4, "float32")`), as a pointer
    /// or as a number. A truth value has no room for an address, and neither has a number with a point or of few bits
    /// that a function is said to give; for those the list is empty.
    pub fn addresses(&self) -> Vec<BufId> {
        match self {
            Expr::Data(buffer) => vec![*buffer],
            Expr::Call { name, .. } if name == "isnullptr" => Vec::new(),
            Expr::Call { name, dtype, .. }
                if TYPED_CALLS.contains(&name.as_str())
                    && (dtype.is_float() || dtype.is_integer() && dtype.total_bits() < 32) =>
            {
                Vec::new()
            }
            Expr::Call { name, args, .. } => {
                let addresses = args.iter().flat_map(|arg| match arg {
                    Expr::Load { buffer, .. } if name == "address_of" => vec![*buffer],
                    other => other.addresses(),
                });
                addresses.collect()
            }
            // An element is what was stored there, whatever its subscripts are.
            Expr::Load { .. } => Vec::new(),
            Expr::Int { .. } | Expr::Float { .. } | Expr::Var(_) => Vec::new(),
            Expr::Binary { op, .. } if op.is_predicate() => Vec::new(),
            Expr::Not(_) => Vec::new(),
            _ => self.children().into_iter().flat_map(Expr::addresses).collect(),
        }
    }

    /// Adds the buffers that a call in the expression may use after it has returned: all that an asynchronous call
    /// mentions, and those whose address `tvm_struct_set` puts into a structure of the runtime.
    pub(crate) fn add_kept_by_calls(&self, kept: &mut Vec<BufId>) {
        match self {
            // The most frequent leaves.
            Expr::Int { .. } | Expr::Float { .. } | Expr::Var(_) => return,
            Expr::Call { name, args, .. } if is_asynchronous(name, args) => return self.add_mentioned(kept),
            Expr::Call { name, args, .. } if name == "tvm_struct_set" => {
                kept.extend(args.iter().flat_map(Expr::addresses));
            }
            _ => {}
        }
        self.all_children(|child| {
            child.add_kept_by_calls(kept);
            true
        });
    }

    /// Adds the buffers that the expression loads from or takes the address of.
    pub(crate) fn add_mentioned(&self, buffers: &mut Vec<BufId>) {
        self.walk(&mut |part| {
            if let Expr::Load { buffer, .. } | Expr::Data(buffer) = part {
                buffers.push(*buffer);
            }
        });
    }

    /// Whether the value can be computed from variables and constants alone.
    pub fn is_pure_arithmetic(&self) -> bool {
        !self.any(&|part| matches!(part, Expr::Load { .. } | Expr::Call { .. } | Expr::Data(_) | Expr::Str(_)))
    }
}
