//! Reading declarations of buffers: shape, element type, memory and keyword arguments.

use super::ScriptError;
use super::python::{Node, Py, Subscript};
use super::python_expr::quoted_expression;
// `Binding` is what a name stands for here, `keyword` looks up a keyword argument, and `script_name` gives the name
// behind `T.`.
use super::read::{Binding, Reader, keyword, script_name};
use crate::DType;
use crate::ir::{BinaryOp, BufId, Buffer, Expr, Memory, StmtKind, StorageScope};
use crate::linear::is_multiple_of;
use crate::rewrite::multiply;
use memplan_core::Span;

/// A buffer as its declaration gives it.
pub(super) struct BufferParts {
    pub(super) buffer: Buffer,
    /// Whether the declaration names a storage scope, or another buffer whose scope this one has. If not, the caller
    /// may have a better one than `global`.
    pub(super) scope_given: bool,
    /// The offset in elements that the declaration states.
    offset: Option<Expr>,
}

impl Reader<'_> {
    /// Reads the arguments of `T.Buffer`, `T.alloc_buffer` or `T.decl_buffer`: shape, dtype (`float32` if there is
    /// none) and keywords. `data=A.data` makes the buffer a view of `A`. Keywords without a meaning here are kept as
    /// text.
    pub(super) fn buffer_parts(
        &mut self,
        name: &str,
        args: &[Py],
        named: &[(String, Py)],
        span: Span,
    ) -> Result<BufferParts, ScriptError> {
        let shape = args
            .first()
            .or(keyword(named, "shape"))
            .ok_or_else(|| ScriptError::invalid(span, "a buffer needs a shape"))?;
        let shape = self.shape(shape)?;
        let dtype = match args.get(1).or(keyword(named, "dtype")) {
            Some(dtype) => self.dtype(dtype)?,
            None => DType::FLOAT32,
        };
        let mut buffer = Buffer {
            name: name.to_owned(),
            dtype,
            shape: shape.into(),
            strides: None,
            scope: StorageScope::global(),
            memory: Memory::Own,
            scalar: false,
            pinned: false,
            extra: Vec::new(),
            span,
        };
        let mut scope_given = false;
        let (mut offset, mut offset_text, mut strides) = (None, None, None);
        if let Some(extra) = args.get(2) {
            return Err(ScriptError::unsupported(extra.span, "a third positional argument of a buffer"));
        }
        for (key, value) in named {
            match key.as_str() {
                // The same argument by position, too.
                "shape" if !args.is_empty() => return Err(ScriptError::invalid(value.span, "a second shape")),
                "dtype" if args.len() > 1 => return Err(ScriptError::invalid(value.span, "a second element type")),
                "shape" | "dtype" => {}
                "scope" => {
                    buffer.scope = self.scope(value)?;
                    scope_given = true;
                }
                "data" if self.is_pointer(value)? => {
                    // The pointer is a parameter or the result of a call, so the memory was made outside of this
                    // function.
                    buffer.memory = Memory::Argument;
                }
                "data" => {
                    let of = self.buffer_of_data(value)?;
                    if !scope_given {
                        buffer.scope = self.function.buffers[of].scope.clone();
                        scope_given = true;
                    }
                    buffer.memory = Memory::View { of, elem_offset: None };
                }
                // In a parameter these say how the caller has laid out its data. The rewriter changes nothing about
                // it, so the text is kept as it is.
                "elem_offset" | "byte_offset" | "strides" if self.in_parameters => {
                    self.name_sizes(value)?;
                    buffer.extra.push((key.clone(), self.source[value.span.range()].to_owned()));
                }
                "elem_offset" | "byte_offset" if offset.is_some() => {
                    return Err(ScriptError::invalid(value.span, "a buffer has one offset: in elements or in bytes"));
                }
                "elem_offset" | "byte_offset" => {
                    let in_bytes = key == "byte_offset";
                    offset = Some(if in_bytes { self.byte_offset(value, dtype)? } else { self.integer(value)? });
                    offset_text = Some((key.clone(), self.source[value.span.range()].to_owned()));
                }
                "strides" => {
                    strides = self.strides(value, buffer.shape.len())?;
                    // `strides=()` and `strides=None` say that there are none.
                    if strides.is_some() {
                        buffer.extra.push((key.clone(), self.source[value.span.range()].to_owned()));
                    }
                }
                _ => buffer.extra.push((key.clone(), self.source[value.span.range()].to_owned())),
            }
        }
        if !matches!(buffer.memory, Memory::View { .. }) {
            // Only a view keeps its offset and its strides as expressions. For any other buffer the rewriter does not
            // see which buffers these expressions read. So the buffers that are read are pinned: the rewriter leaves
            // their declarations where and as they are.
            let mut read = Vec::new();
            offset.iter().chain(strides.iter().flatten()).for_each(|expr| expr.add_mentioned(&mut read));
            for of in read {
                let root = self.function.root(of);
                self.function.buffers[root].pinned = true;
            }
        }
        // An offset of 0 is the same as none.
        if let Some(offset) = offset.clone().filter(|offset| offset.as_int() != Some(0)) {
            match &mut buffer.memory {
                Memory::View { elem_offset, .. } => *elem_offset = Some(offset),
                // An allocation with an offset says itself where it begins, so it is not moved. The offset is printed as
                // it was read.
                _ => {
                    buffer.pinned = true;
                    buffer.extra.extend(offset_text);
                }
            }
        }
        if matches!(buffer.memory, Memory::View { .. }) {
            buffer.strides = strides;
        }
        Ok(BufferParts { buffer, scope_given, offset })
    }

    /// Reads an offset in bytes as an offset in elements of a type, the unit of the loop IR. An error unless every
    /// value that it can have is a whole number of elements.
    fn byte_offset(&mut self, value: &Py, dtype: DType) -> Result<Expr, ScriptError> {
        let distance = self.integer(value)?;
        let bytes = i64::try_from(dtype.total_bits() / 8).unwrap_or(i64::MAX);
        let whole = dtype.total_bits().is_multiple_of(8) && is_multiple_of(&distance, bytes);
        if whole || distance.as_int() == Some(0) {
            return Ok(self.arithmetic(BinaryOp::FloorDiv, distance, Expr::int(bytes.max(1))));
        }
        Err(ScriptError::unsupported(
            value.span,
            format!("a byte offset that may be no whole number of {dtype} elements"),
        ))
    }

    /// Reads the strides of a buffer with `rank` dimensions. None (`()`, `[]` or `None`) mean that it has no gaps.
    fn strides(&mut self, value: &Py, rank: usize) -> Result<Option<Vec<Expr>>, ScriptError> {
        let items = match &value.node {
            Node::None => return Ok(None),
            Node::Tuple(items) | Node::List(items) => items,
            _ => return Err(ScriptError::unsupported(value.span, "strides that are no list of numbers")),
        };
        if items.is_empty() {
            return Ok(None);
        }
        if items.len() != rank {
            let message = format!("{} strides for a buffer of {rank} dimensions", items.len());
            return Err(ScriptError::invalid(value.span, message));
        }
        items.iter().map(|stride| self.integer(stride)).collect::<Result<_, _>>().map(Some)
    }

    /// Reads the extents of a buffer: `(8, n)`, or one extent without brackets.
    fn shape(&mut self, shape: &Py) -> Result<Vec<Expr>, ScriptError> {
        let extents: &[Py] = match &shape.node {
            Node::Tuple(items) | Node::List(items) => items,
            _ => std::slice::from_ref(shape),
        };
        // A list of results is collected without knowing its length, and would have room for four extents.
        let mut read = Vec::with_capacity(extents.len());
        for extent in extents {
            read.push(match &extent.node {
                // In the annotation of a parameter, sizes that have no value yet are written in quotes: `("n", "n +
                // 1")`.
                Node::Str(_) if self.in_parameters => {
                    let size = quoted_expression(self.source, extent.span)?;
                    self.integer(&size)?
                }
                _ => self.integer(extent)?,
            });
        }
        Ok(read)
    }

    /// Makes the sizes known that a parameter names in quotes, as in `strides=("s", 1)`.
    fn name_sizes(&mut self, value: &Py) -> Result<(), ScriptError> {
        match &value.node {
            Node::Str(_) => {
                let size = quoted_expression(self.source, value.span)?;
                self.integer(&size).map(drop)
            }
            Node::Tuple(items) | Node::List(items) => items.iter().try_for_each(|item| self.name_sizes(item)),
            _ => self.integer(value).map(drop),
        }
    }

    /// Reads an expression that must be an integer.
    pub(super) fn integer(&mut self, value: &Py) -> Result<Expr, ScriptError> {
        let expr = self.expr(value)?;
        let dtype = expr.dtype(&self.function);
        if !dtype.is_integer() || dtype == DType::BOOL {
            return Err(ScriptError::invalid(value.span, "an extent or index must be an integer"));
        }
        Ok(expr)
    }

    /// Reads an element type: `"float32"` or `T.float32`.
    pub(super) fn dtype(&self, value: &Py) -> Result<DType, ScriptError> {
        let parsed = match &value.node {
            Node::Str(text) => text.parse::<DType>().map_err(|error| error.to_string()),
            _ => script_name(value)
                .ok_or_else(|| "expected an element type such as \"float32\"".to_owned())
                .and_then(|name| name.parse::<DType>().map_err(|error| error.to_string())),
        };
        parsed.map_err(|message| ScriptError::invalid(value.span, message))
    }

    /// Reads the storage scope in `scope="local.L0A"`.
    fn scope(&self, value: &Py) -> Result<StorageScope, ScriptError> {
        let Node::Str(text) = &value.node else {
            return Err(ScriptError::invalid(value.span, "a scope is a string"));
        };
        StorageScope::parse(text)
            .ok_or_else(|| ScriptError::invalid(value.span, "a scope starts with global, shared, warp, local or wmma"))
    }

    /// Whether this is a pointer that does not come from a buffer of this function: a name that stands for one, or a
    /// call such as `T.tvm_struct_get(args, 0, 1, "handle")` in which no buffer occurs.
    fn is_pointer(&mut self, value: &Py) -> Result<bool, ScriptError> {
        match &value.node {
            Node::Name(name) => Ok(
                matches!(self.lookup(name), Some(Binding::Var(var)) if self.function.vars[*var].dtype == DType::HANDLE),
            ),
            Node::Call(..) => {
                let pointer = self.expr(value)?;
                // An address or an element of a buffer of this function: the pointer may lead into that buffer.
                let of_buffer = |part: &Expr| matches!(part, Expr::Data(_) | Expr::Load { .. });
                Ok(!pointer.any(&of_buffer))
            }
            _ => Ok(false),
        }
    }

    /// The buffer `A` of `A.data`.
    fn buffer_of_data(&self, value: &Py) -> Result<BufId, ScriptError> {
        match &value.node {
            Node::Attribute(base, name) if name == "data" => self.buffer_named(base),
            _ => Err(ScriptError::unsupported(
                value.span,
                "`data` that is computed from a buffer and is not `buffer.data`",
            )),
        }
    }

    /// The buffer that `A.view(n, m)` (another shape) or `A.view("int8")` (another element type) declares under
    /// `name`.
    pub(super) fn view(
        &mut self,
        name: &str,
        of: BufId,
        args: &[Py],
        named: &[(String, Py)],
        span: Span,
    ) -> Result<Buffer, ScriptError> {
        if !named.is_empty() || args.is_empty() {
            return Err(ScriptError::unsupported(span, "this form of `view`"));
        }
        // A view has the type, scope and shape of the buffer it looks at; only what the arguments say is changed
        // below.
        let mut view = Buffer {
            name: name.to_owned(),
            memory: Memory::View { of, elem_offset: None },
            strides: None,
            scalar: false,
            pinned: false,
            extra: Vec::new(),
            span,
            ..self.function.buffers[of].clone()
        };
        // A single string is an element type; anything else are extents.
        if let [Py { node: Node::Str(text), span, .. }] = args {
            let dtype: DType = text.parse().map_err(|error| ScriptError::invalid(*span, format!("{error}")))?;
            self.retype_view(&mut view, dtype, *span)?;
        } else {
            view.shape = args.iter().map(|extent| self.integer(extent)).collect::<Result<_, _>>()?;
        }
        Ok(view)
    }

    /// Changes the element type of a view. The last dimension becomes longer or shorter, so that the view covers the
    /// same bytes.
    fn retype_view(&self, view: &mut Buffer, dtype: DType, span: Span) -> Result<(), ScriptError> {
        let (old, new) = (view.dtype.total_bits(), dtype.total_bits());
        // A buffer without dimensions has no extent to adapt, so its one element must keep its size.
        let Some(last) = view.shape.last_mut() else {
            if old != new {
                let message = "a view of a buffer without dimensions needs elements of the same size";
                return Err(ScriptError::invalid(span, message));
            }
            view.dtype = dtype;
            return Ok(());
        };
        // The same bits in elements of the new type; `None` if that is no whole number, or the extent no constant.
        let scaled = |extent: &Expr| {
            let elements = u64::try_from(extent.as_int()?).ok()?;
            let bits = elements.checked_mul(old)?;
            (bits % new == 0).then(|| i64::try_from(bits / new).ok())?
        };
        if old != new {
            let extent = scaled(last)
                .ok_or_else(|| ScriptError::invalid(span, "the view's element size does not divide the buffer's"))?;
            *last = Expr::int(extent);
        }
        view.dtype = dtype;
        Ok(())
    }

    /// Reads `T.match_buffer`: `T.match_buffer(handle, shape, …)` gives a parameter its shape,
    /// `T.match_buffer(A[0:4, 0:4], …)` names a part of a buffer.
    pub(super) fn match_buffer(
        &mut self,
        name: &str,
        args: &[Py],
        named: &[(String, Py)],
        span: Span,
    ) -> Result<StmtKind, ScriptError> {
        let [matched, rest @ ..] = args else {
            return Err(ScriptError::invalid(span, "`T.match_buffer` needs a handle and a shape"));
        };
        // A subscript or the name of a buffer is a part of that buffer; any other name is a handle.
        let part_of = match &matched.node {
            Node::Subscript(base, region) => Some((self.buffer_named(base)?, region.as_slice())),
            _ => self.buffer_named(matched).ok().map(|whole| (whole, [].as_slice())),
        };
        let BufferParts { mut buffer, offset: stated, .. } = self.buffer_parts(name, rest, named, span)?;
        match part_of {
            Some((of, region)) => {
                self.make_part(&mut buffer, of, region, matched.span)?;
                self.check_begin(&mut buffer, of, stated, span)?;
            }
            None => buffer.memory = Memory::Argument,
        }
        Ok(StmtKind::Declare(self.new_buffer(buffer)))
    }

    /// Makes a buffer the part of another one that a region names: `[0:4, 2:6]`, or the whole if there is none. The
    /// part starts where the region does, and its rows are as far apart as those of the whole.
    fn make_part(&mut self, part: &mut Buffer, of: BufId, region: &[Subscript], span: Span) -> Result<(), ScriptError> {
        let whole = self.function.buffers[of].clone();
        // A part may leave out the first dimensions of the whole, in which the region has one element.
        let Some(left_out) = whole.shape.len().checked_sub(part.shape.len()) else {
            return Err(ScriptError::invalid(span, "a part has no more dimensions than its buffer"));
        };
        if part.dtype != whole.dtype {
            return Err(ScriptError::invalid(span, "a part has the element type of its buffer"));
        }
        if !region.is_empty() && region.len() != whole.shape.len() {
            let message = format!("`{}` has {} dimensions, not {}", whole.name, whole.shape.len(), region.len());
            return Err(ScriptError::invalid(span, message));
        }
        let strides = whole.strides.unwrap_or_else(|| row_major(&whole.shape));
        let mut offset = Expr::int(0);
        for (subscript, stride) in region.iter().zip(&strides) {
            let start = match subscript {
                Subscript::One(at) => self.integer(at)?,
                Subscript::Slice(.., Some(step)) => {
                    return Err(ScriptError::unsupported(step.span, "a part with a step"));
                }
                Subscript::Slice(Py { node: Node::None, .. }, ..) => continue,
                Subscript::Slice(start, ..) => self.integer(start)?,
            };
            let distance = multiply(start, stride.clone());
            offset =
                if offset.as_int() == Some(0) { distance } else { self.arithmetic(BinaryOp::Add, offset, distance) };
        }
        part.strides = Some(strides[left_out..].to_vec());
        // The entry says that there are strides (see `has_strides`) and is printed with the values above.
        if !part.has_strides() {
            part.extra.push(("strides".to_owned(), String::new()));
        }
        part.scope = whole.scope;
        part.memory = Memory::View { of, elem_offset: Some(offset).filter(|offset| offset.as_int() != Some(0)) };
        Ok(())
    }

    /// The region of a part says where the part begins, so the offset that its declaration may state, too, is not kept.
    /// An error if the two contradict each other. They are compared where both are constants and counted from the same
    /// byte, which they are unless the whole is a view itself.
    fn check_begin(
        &self,
        part: &mut Buffer,
        whole: BufId,
        stated: Option<Expr>,
        span: Span,
    ) -> Result<(), ScriptError> {
        part.extra.retain(|(key, _)| !matches!(key.as_str(), "elem_offset" | "byte_offset"));
        let begin = match &part.memory {
            Memory::View { elem_offset: Some(begin), .. } => begin.as_int(),
            _ => Some(0),
        };
        let is_view = matches!(self.function.buffers[whole].memory, Memory::View { .. });
        match (begin, stated.and_then(|stated| stated.as_int())) {
            (Some(begin), Some(stated)) if begin != stated && !is_view => {
                let message = format!("the part begins {begin} elements into its buffer, not {stated}");
                Err(ScriptError::invalid(span, message))
            }
            _ => Ok(()),
        }
    }
}

/// The strides of a buffer whose rows lie one behind the other: for each dimension the product of the extents behind
/// it.
fn row_major(shape: &[Expr]) -> Vec<Expr> {
    let products = (0..shape.len()).map(|at| shape[at + 1..].iter().cloned().reduce(multiply).unwrap_or(Expr::int(1)));
    products.collect()
}
