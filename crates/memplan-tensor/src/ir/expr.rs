//! Expressions of the loop IR.

use super::{BufId, Function, VarId};
use crate::{DType, Kind};
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

/// Calls of numbers from whose result the address of an argument can be found again.
const KEEP_ADDRESSES: [&str; 10] = [
    "address_of",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "if_then_else",
    "likely",
    "reinterpret",
    "shift_left",
    "shift_right",
];

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

    /// The buffers whose address may be part of the value: `A.data` in `p = A.data`, in calls that give a pointer
    /// (`T.address_of(A[0])`, `T.tvm_access_ptr(…)`), and in numbers that are made of one (`T.reinterpret("int64",
    /// A.data) + 4`). Any other call that gives a number uses the address only while it runs: for `f(A.data)` the list
    /// is empty.
    pub fn addresses(&self) -> Vec<BufId> {
        match self {
            Expr::Data(buffer) => vec![*buffer],
            Expr::Call { name, args, dtype } => {
                let passes_on = KEEP_ADDRESSES.contains(&name.as_str()) || dtype.kind == Kind::Handle;
                let addresses = args.iter().filter(|_| passes_on).flat_map(|arg| match arg {
                    Expr::Load { buffer, .. } if name == "address_of" => vec![*buffer],
                    other => other.addresses(),
                });
                addresses.collect()
            }
            // An element is what was stored there, whatever its subscripts are.
            Expr::Load { .. } => Vec::new(),
            _ => self.children().into_iter().flat_map(Expr::addresses).collect(),
        }
    }

    /// Whether the value can be computed from variables and constants alone.
    pub fn is_pure_arithmetic(&self) -> bool {
        !self.any(&|part| matches!(part, Expr::Load { .. } | Expr::Call { .. } | Expr::Data(_) | Expr::Str(_)))
    }
}
