//! What the generated programs compute with: element types and memrefs.

use crate::machine::SPACE;
use crate::random::Random;

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    I1,
    I8,
    I16,
    I32,
    I64,
    Index,
    F32,
    F64,
}

impl Element {
    pub(crate) const ALL: [Element; 8] = [
        Element::I1,
        Element::I8,
        Element::I16,
        Element::I32,
        Element::I64,
        Element::Index,
        Element::F32,
        Element::F64,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Element::I1 => "i1",
            Element::I8 => "i8",
            Element::I16 => "i16",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::Index => "index",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }

    /// Ops that make an `i64` of `from`; the last one defines `to`.
    pub(crate) fn to_i64(self, from: &str, to: &str) -> Vec<String> {
        let name = self.name();
        match self {
            Element::I1 => vec![format!("{to} = arith.extui {from} : i1 to i64")],
            Element::I8 | Element::I16 | Element::I32 => vec![format!("{to} = arith.extsi {from} : {name} to i64")],
            Element::I64 => vec![format!("{to} = arith.ori {from}, {from} : i64")],
            Element::Index => vec![format!("{to} = arith.index_cast {from} : index to i64")],
            Element::F32 => vec![
                format!("{to}_bits = arith.bitcast {from} : f32 to i32"),
                format!("{to} = arith.extsi {to}_bits : i32 to i64"),
            ],
            Element::F64 => vec![format!("{to} = arith.bitcast {from} : f64 to i64")],
        }
    }

    /// The op that makes an element `to` of a small `i64`.
    pub(crate) fn of_i64(self, from: &str, to: &str) -> String {
        let name = self.name();
        match self {
            Element::I1 | Element::I8 | Element::I16 | Element::I32 => {
                format!("{to} = arith.trunci {from} : i64 to {name}")
            }
            Element::I64 => format!("{to} = arith.ori {from}, {from} : i64"),
            Element::Index => format!("{to} = arith.index_cast {from} : i64 to index"),
            Element::F32 | Element::F64 => format!("{to} = arith.sitofp {from} : i64 to {name}"),
        }
    }

    /// The op that combines two elements to `to`, so that both can be told from it.
    pub(crate) fn combine(self, left: &str, right: &str, to: &str) -> String {
        let op = match self {
            Element::I1 => "xori",
            Element::F32 | Element::F64 => "addf",
            _ => "addi",
        };
        format!("{to} = arith.{op} {left}, {right} : {}", self.name())
    }

    /// A constant.
    pub(crate) fn literal(self, random: &mut Random) -> String {
        match self {
            Element::I1 => ["true", "false"][random.below(2)].to_owned(),
            Element::F32 | Element::F64 => format!("{}.5 : {}", random.below(100), self.name()),
            _ => format!("{} : {}", random.below(100), self.name()),
        }
    }
}

/// A memref in scope.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) element: Element,
    pub(crate) shape: Vec<u64>,
    /// Whether it is in the memory space that is not the default one.
    pub(crate) is_elsewhere: bool,
    /// Strides and offset; `None` for the identity.
    pub(crate) layout: Option<(Vec<u64>, u64)>,
    /// Whether all of it has been written on every way here.
    pub(crate) is_ready: bool,
    /// Whether it may be written here: not what other iterations may write, too.
    pub(crate) is_writable: bool,
    /// Whether some other name stands for it, too.
    pub(crate) is_aliased: bool,
    /// The block that allocated it, if it is an allocation.
    pub(crate) home: Option<usize>,
}

impl Buffer {
    /// A function's argument, written all over.
    pub(crate) fn plain(name: &str, element: Element, shape: Vec<u64>, is_elsewhere: bool) -> Buffer {
        Buffer {
            name: name.to_owned(),
            element,
            is_elsewhere,
            shape,
            layout: None,
            is_ready: true,
            is_writable: true,
            is_aliased: true,
            home: None,
        }
    }

    /// The type as MLIR prints it.
    pub(crate) fn ty(&self) -> String {
        let dims: String = self.shape.iter().map(|dim| format!("{dim}x")).collect();
        let layout = self.layout.as_ref().map_or_else(String::new, |(strides, offset)| {
            let offset = if *offset == 0 { String::new() } else { format!(", offset: {offset}") };
            format!(", strided<{strides:?}{offset}>")
        });
        format!("memref<{dims}{}{layout}{}>", self.element.name(), self.space())
    }

    /// The memory space, as it ends a type.
    pub(crate) fn space(&self) -> String {
        if self.is_elsewhere { format!(", {SPACE}") } else { String::new() }
    }

    /// Strides and offset, also for the identity.
    pub(crate) fn strides(&self) -> (Vec<u64>, u64) {
        self.layout.clone().unwrap_or_else(|| {
            let mut strides = vec![1; self.shape.len()];
            for dim in (1..self.shape.len()).rev() {
                strides[dim - 1] = strides[dim] * self.shape[dim];
            }
            (strides, 0)
        })
    }

    /// Another name for the same memory.
    pub(crate) fn alias(&self, name: String) -> Buffer {
        Buffer { name, is_aliased: true, home: None, ..self.clone() }
    }
}
