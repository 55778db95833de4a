//! The rules from the shapes of a node's inputs to those of its outputs, one for each kind of node.
//!
//! ```text
//!   Conv   x [1,3,224,224]  w [64,3,7,7]  strides 2, pads 3   →  [1,64,112,112]
//!   MatMul [8,12,64]  [64,5]                                  →  [8,12,5]
//!   Concat [2,3] [4,3]  axis 0                                →  [6,3]
//! ```
//!
//! A [`Context`] is a node with what is known about its inputs: `shape(i)` is the shape of input `i`, `element(i)` the
//! number of its element type, `numbers(i)` its content if that is a short list of integers, and `int` and `ints` read
//! attributes. A [`Found`] is what a rule says about one output: its element type and its shape.
//!
//! A rule answers `None` if a shape that it needs is not known, if a product overflows, or if the shapes do not fit
//! together. The shape of some outputs depends on the content of an input: `NonZero` has a column for each element that
//! is not zero. For such a node the rule gives the largest possible shape
//! ([`is_bounded`](super::context::Context::is_bounded)).
//!
//! The meaning of each kind of node is that of the ONNX specification. Several nodes took their lists as attributes in
//! old versions and take them as inputs now; `listed("axes", 1)` asks the attribute first and then input 1.

use super::context::{BOOL, Context, FLOAT, Found, INT32, INT64, UINT8};
use super::shape::{AutoPad, Sliding, axes, axis, broadcast, elements};

impl Context<'_> {
    /// Whether the rule for this node gives an upper bound on the shape only, because the real shape depends on the
    /// content of an input.
    pub(super) fn is_bounded(&self) -> bool {
        match self.node.kind.as_str() {
            "NonZero" | "Unique" | "NonMaxSuppression" | "Compress" => true,
            "Slice" => self.exact_slice().is_none(),
            _ => false,
        }
    }

    /// What is known about the outputs of this node, in their order.
    ///
    /// `None` if there is no rule for this kind of node or for its domain. Rules for several outputs (`Split`,
    /// `LayerNormalization`, `TopK`, `Unique`, `LSTM` and the like) and that of `Constant` also answer `None` if they
    /// cannot tell a shape. All other rules answer with a `Found` whose shape is `None` in that case, so that the
    /// element type is known nevertheless.
    ///
    /// `one` makes a single output with the element type of input 0, `typed` one with the element type that it is
    /// given. Element type 0 is ONNX's UNDEFINED and stands for a type that is not known. Outputs of the node that the
    /// answer does not have stay unknown; answers for outputs that the node does not have are ignored.
    pub(super) fn outputs(&self) -> Option<Vec<Found>> {
        // Nodes of other domains may have the same names with another meaning. `com.microsoft` is ONNX Runtime's
        // domain, whose `FastGelu` and `SimplifiedLayerNormalization` are in the list below.
        if !matches!(self.node.domain.as_str(), "" | "ai.onnx" | "ai.onnx.preview" | "com.microsoft") {
            return None;
        }
        match self.node.kind.as_str() {
            // The output has the shape and the element type of input 0.
            "Abs"
            | "Acos"
            | "Acosh"
            | "Asin"
            | "Asinh"
            | "Atan"
            | "Atanh"
            | "BatchNormalization"
            | "Ceil"
            | "Celu"
            | "Clip"
            | "Cos"
            | "Cosh"
            | "CumProd"
            | "CumSum"
            | "Elu"
            | "Erf"
            | "Exp"
            | "Floor"
            | "Gelu"
            | "FastGelu"
            | "GroupNormalization"
            | "HardSigmoid"
            | "HardSwish"
            | "Hardmax"
            | "Identity"
            | "InstanceNormalization"
            | "LRN"
            | "LeakyRelu"
            | "Log"
            | "LogSoftmax"
            | "LpNormalization"
            | "MeanVarianceNormalization"
            | "Mish"
            | "Neg"
            | "Not"
            | "PRelu"
            | "Reciprocal"
            | "Relu"
            | "Round"
            | "ScatterElements"
            | "ScatterND"
            | "Scatter"
            | "Selu"
            | "Shrink"
            | "Sigmoid"
            | "Sign"
            | "Sin"
            | "Sinh"
            | "Softmax"
            | "Softplus"
            | "Softsign"
            | "Sqrt"
            | "Tan"
            | "Tanh"
            | "ThresholdedRelu"
            | "Trilu"
            | "BitwiseNot"
            | "ReverseSequence"
            | "Swish" => self.one(self.same_shape()),
            // These two multiply by a scale, input 1, at the end and give what that gives: its element type.
            "SimplifiedLayerNormalization" | "RMSNormalization" => self.typed(self.element(1), self.same_shape()),
            "IsNaN" | "IsInf" => self.typed(BOOL, self.same_shape()),
            "Dropout" => {
                // The second output says which elements were kept. Before version 10 it had the type of the input.
                let mask = if self.node.version < 10 { self.element(0) } else { BOOL };
                Some(vec![Found::new(self.element(0), self.same_shape()), Found::new(mask, self.same_shape())])
            }
            "LayerNormalization" => self.layer_normalization(),
            // The inputs are broadcast together.
            "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Min" | "Max" | "Mean" | "Sum" | "BitShift"
            | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" => self.one(self.broadcast_from(0)),
            "And" | "Or" | "Xor" | "Equal" | "Greater" | "Less" | "GreaterOrEqual" | "LessOrEqual" => {
                self.typed(BOOL, self.broadcast_from(0))
            }
            "Where" => self.typed(self.element(1), self.broadcast_from(0)),
            "Cast" => self.typed(usize::try_from(self.int("to", 0)).unwrap_or(0), self.same_shape()),
            "CastLike" => self.typed(self.element(1), self.same_shape()),
            // The result has the type of the zero point, input 2, or that of the attribute `output_dtype`. If the node
            // has neither, the standard says UINT8.
            "QuantizeLinear" => {
                let stated = self.stated_element("output_dtype");
                let element = [self.element(2), stated].into_iter().find(|&element| element != 0);
                self.typed(element.unwrap_or(UINT8), self.same_shape())
            }
            // The result has the type of the attribute `output_dtype`, or else that of the scale, input 1.
            "DequantizeLinear" => {
                let stated = self.stated_element("output_dtype");
                self.typed(if stated == 0 { self.element(1) } else { stated }, self.same_shape())
            }
            // The quantised tensor, its scale and its zero point. The last two are scalars: their shape is `[]`.
            "DynamicQuantizeLinear" => Some(vec![
                Found::new(UINT8, self.same_shape()),
                Found::new(FLOAT, Some(Vec::new())),
                Found::new(UINT8, Some(Vec::new())),
            ]),
            "Conv" => self.one(self.convolution(0, 1)),
            "ConvInteger" => self.typed(INT32, self.convolution(0, 1)),
            // With `channels_last`, which ONNX Runtime's own form of this op has, the shape is `[batch, spatial…,
            // channels]`. There is no rule for that.
            "QLinearConv" if self.int("channels_last", 0) != 0 => None,
            "QLinearConv" => self.typed(self.element(7), self.convolution(0, 3)),
            "ConvTranspose" => self.one(self.transposed_convolution()),
            "MaxPool" => {
                // The second output has the place of each maximum.
                let shape = self.pooling();
                Some(vec![Found::new(self.element(0), shape.clone()), Found::new(INT64, shape)])
            }
            "AveragePool" | "LpPool" => self.one(self.pooling()),
            // Batch and channels (dimensions 0 and 1) stay; each image becomes one element.
            "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => self.one(self.shape(0).map(|shape| {
                shape.iter().enumerate().map(|(place, &dimension)| if place < 2 { dimension } else { 1 }).collect()
            })),
            "Gemm" => self.one(self.gemm()),
            "MatMul" => self.one(matrix_product(self.shape(0), self.shape(1))),
            "MatMulInteger" => self.typed(INT32, matrix_product(self.shape(0), self.shape(1))),
            "QLinearMatMul" => self.typed(self.element(7), matrix_product(self.shape(0), self.shape(3))),
            "Concat" => self.one(self.concat()),
            "Split" => self.split(),
            // If the numbers of a slice are not known, the whole tensor is an upper bound.
            "Slice" => self.one(self.exact_slice().or_else(|| self.same_shape())),
            "Transpose" => self.one(self.transpose()),
            "Reshape" => self.one(self.reshape()),
            "Flatten" => self.one(self.flatten()),
            "Squeeze" => self.one(self.squeeze()),
            "Unsqueeze" => self.one(self.unsqueeze()),
            "Expand" => self.one(self.shape(0).and_then(|shape| broadcast(shape, &counted(self.numbers(1)?)?))),
            "Tile" => self.one(self.tile()),
            "Pad" => self.one(self.pad()),
            "Gather" => self.one(self.gather()),
            "GatherElements" => self.one(self.shape(1).map(<[u64]>::to_vec)),
            "GatherND" => self.one(self.gather_nd()),
            "Resize" | "Upsample" => self.one(self.resize()),
            "ArgMax" | "ArgMin" => self.typed(INT64, self.reduced(Some(vec![self.int("axis", 0)]))),
            "Shape" => self.typed(INT64, self.shape(0).map(|shape| vec![self.shape_window(shape.len()).len() as u64])),
            "RandomUniformLike" | "RandomNormalLike" | "Bernoulli" | "EyeLike" => {
                // Without the attribute `dtype` the result has the element type of the input.
                let given = self.stated_element("dtype");
                self.typed(if given == 0 { self.element(0) } else { given }, self.same_shape())
            }
            "RandomUniform" | "RandomNormal" => {
                let element = usize::try_from(self.int("dtype", FLOAT as i64)).unwrap_or(FLOAT);
                self.typed(element, self.ints("shape").and_then(counted))
            }
            "FlexAttention" => self.one(self.attended()),
            "SequenceLength" => self.typed(INT64, Some(Vec::new())),
            "OptionalHasElement" => self.typed(BOOL, Some(Vec::new())),
            "Size" => self.typed(INT64, Some(Vec::new())),
            "NonZero" => self.typed(INT64, self.non_zero()),
            "Unique" => self.unique(),
            "NonMaxSuppression" => self.typed(INT64, self.suppressed()),
            "Compress" => self.one(self.compressed()),
            "Constant" => self.constant(),
            "ConstantOfShape" => {
                // Without the attribute `value` the result is full of zeros of type FLOAT.
                let value = self.node.attribute("value").and_then(|attribute| attribute.tensor.as_ref());
                self.typed(value.map_or(FLOAT, |value| value.element), self.numbers(0).and_then(counted))
            }
            "Range" => self.one(self.range()),
            "OneHot" => self.typed(self.element(2), self.one_hot()),
            "TopK" => self.top_k(),
            "DepthToSpace" => self.one(self.blocks(true)),
            "SpaceToDepth" => self.one(self.blocks(false)),
            "LSTM" | "GRU" | "RNN" => self.recurrent(),
            // Not all names that begin with `Reduce`: the result of ONNX Runtime's `ReduceSumInteger` has a wider type
            // than its input.
            "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceMax" | "ReduceMean" | "ReduceMin"
            | "ReduceProd" | "ReduceSum" | "ReduceSumSquare" => self.one(self.reduced(self.reduced_axes())),
            // No rule: the caller leaves the outputs unknown, and the reader reports those that need memory.
            _ => None,
        }
    }

    /// An element type that is an attribute; 0 if the node does not have it.
    fn stated_element(&self, name: &str) -> usize {
        usize::try_from(self.int(name, 0)).unwrap_or(0)
    }

    /// The shape of all inputs from `first` on, broadcast together.
    fn broadcast_from(&self, first: usize) -> Option<Vec<u64>> {
        let mut shape = self.shape(first)?.to_vec();
        for index in first + 1..self.facts.len() {
            shape = broadcast(&shape, self.shape(index)?)?;
        }
        Some(shape)
    }

    /// How the window of a convolution or a pooling moves, from the attributes of the node. `kernel` is the size of the
    /// window in each spatial dimension.
    fn sliding(&self, kernel: Vec<u64>) -> Sliding {
        let auto_pad = match self.node.attribute("auto_pad").map(|attribute| attribute.text.as_str()) {
            Some("SAME_UPPER" | "SAME_LOWER") => AutoPad::Same,
            Some("VALID") => AutoPad::Valid,
            // `NOTSET`, or no attribute: the attribute `pads` says the padding.
            _ => AutoPad::Explicit,
        };
        Sliding {
            kernel,
            strides: self.counts("strides"),
            dilations: self.counts("dilations"),
            pads: self.ints("pads").unwrap_or_default().to_vec(),
            auto_pad,
            ceil: self.int("ceil_mode", 0) != 0,
        }
    }

    /// `[batch, channels, spatial…]` with weights `[outputs, channels, kernel…]` gives `[batch, outputs, spatial…]`.
    /// `data` and `weights` are the numbers of the two inputs.
    fn convolution(&self, data: usize, weights: usize) -> Option<Vec<u64>> {
        let (data, weights) = (self.shape(data)?, self.shape(weights)?);
        let spatial = self.sliding(weights.get(2..)?.to_vec()).outputs(data.get(2..)?)?;
        let mut shape = vec![*data.first()?, *weights.first()?];
        shape.extend(spatial);
        Some(shape)
    }

    /// A transposed convolution. The weights are `[channels, outputs per group, kernel…]`, and the result is
    /// `[batch, outputs, spatial…]`; the spatial dimensions are those that the attribute `output_shape` states, or
    /// else follow from the window.
    fn transposed_convolution(&self) -> Option<Vec<u64>> {
        let (data, weights) = (self.shape(0)?, self.shape(1)?);
        let group = u64::try_from(self.int("group", 1)).ok()?;
        let mut shape = vec![*data.first()?, weights.get(1)?.checked_mul(group)?];
        match self.ints("output_shape").filter(|given| !given.is_empty()) {
            Some(given) => shape.extend(counted(given)?),
            None => {
                let sliding = self.sliding(weights.get(2..)?.to_vec());
                shape.extend(sliding.transposed(data.get(2..)?, &self.counts("output_padding"))?);
            }
        }
        Some(shape)
    }

    /// A pooling keeps batch and channels, and moves a window over the other dimensions.
    fn pooling(&self) -> Option<Vec<u64>> {
        let data = self.shape(0)?;
        let spatial = self.sliding(self.counts("kernel_shape")).outputs(data.get(2..)?)?;
        Some(data.get(..2)?.iter().copied().chain(spatial).collect())
    }

    /// The product of two matrices: the rows of the first and the columns of the second.
    fn gemm(&self) -> Option<Vec<u64>> {
        Some(vec![self.side(0, "transA", 0)?, self.side(1, "transB", 1)?])
    }

    /// The length of input `index`, a matrix, along dimension `place` (0 or 1); along the other dimension if the
    /// attribute `flag` says that the matrix is transposed.
    fn side(&self, index: usize, flag: &str, place: usize) -> Option<u64> {
        let shape = self.shape(index).filter(|shape| shape.len() == 2)?;
        let place = if self.int(flag, 0) != 0 { 1 - place } else { place };
        Some(shape[place])
    }

    /// Three outputs: the normalised tensor, its mean and its inverse deviation. The last two have the dimensions of
    /// the input before the axis, and 1 in the dimensions from the axis on. ONNX has this node since version 17, and the
    /// scale, input 1, then has the type of the input. In a file of an older version the node is ONNX Runtime's own,
    /// which gives the type of the scale.
    fn layer_normalization(&self) -> Option<Vec<Found>> {
        let shape = self.shape(0)?.to_vec();
        let axis = self.axis(-1, shape.len())?;
        let mut statistics = shape.clone();
        statistics[axis..].fill(1);
        let statistics = Found::new(FLOAT, Some(statistics));
        let element = self.element(if self.node.version < 17 { 1 } else { 0 });
        Some(vec![Found::new(element, Some(shape)), statistics.clone(), statistics])
    }

    /// The shape of the first input, with the lengths of all inputs along the axis added up.
    fn concat(&self) -> Option<Vec<u64>> {
        let mut shape = self.shape(0)?.to_vec();
        let axis = self.axis(0, shape.len())?;
        for index in 1..self.facts.len() {
            let part = self.shape(index).filter(|part| part.len() == shape.len())?;
            shape[axis] = shape[axis].checked_add(part[axis])?;
        }
        Some(shape)
    }

    /// The parts of a split along an axis. The attribute `split` or input 1 lists their lengths. Without such a list
    /// all parts are equally long except the last one, which may be shorter: 7 in three parts is 3, 3, 1. `None` if
    /// input 1 exists but its content is not known.
    fn split(&self) -> Option<Vec<Found>> {
        let shape = self.shape(0)?.to_vec();
        let axis = self.axis(0, shape.len())?;
        let count = self.node.outputs.len() as u64;
        let sizes = match self.listed("split", 1) {
            Some(sizes) => counted(&sizes)?,
            // The list exists, so the parts need not be equal.
            None if self.facts(1).is_some() => return None,
            None => {
                // The subtraction stops at 0: 3 in four parts is 1, 1, 1, 0.
                let piece = shape[axis].div_ceil(count.max(1));
                (0..count).map(|index| piece.min(shape[axis].saturating_sub(piece * index))).collect()
            }
        };
        let part = |size: u64| {
            let mut part = shape.clone();
            part[axis] = size;
            Found::new(self.element(0), Some(part))
        };
        Some(sizes.into_iter().map(part).collect())
    }

    /// The shape of a slice whose starts, ends, axes and steps are known numbers; `None` if one of them is not. Without
    /// axes the slice is of the first dimensions, without steps every element is taken.
    fn exact_slice(&self) -> Option<Vec<u64>> {
        let mut shape = self.shape(0)?.to_vec();
        let starts = self.listed("starts", 1)?;
        let ends = self.listed("ends", 2)?;
        let places = if self.node.attribute("axes").is_some() || self.facts(3).is_some() {
            self.listed("axes", 3)?
        } else {
            (0..starts.len() as i64).collect()
        };
        let steps = if self.facts(4).is_some() { self.numbers(4)?.to_vec() } else { vec![1; starts.len()] };
        for (index, &place) in places.iter().enumerate() {
            let place = axis(place, shape.len())?;
            let (start, end, step) = (*starts.get(index)?, *ends.get(index)?, *steps.get(index)?);
            shape[place] = slice_length(shape[place], start, end, step)?;
        }
        Some(shape)
    }

    /// The result of attention: a vector of the values' length for each query, in each head.
    fn attended(&self) -> Option<Vec<u64>> {
        let (&[batch, heads, queries, _], values) = (self.shape(0)?, self.shape(2)?) else { return None };
        Some(vec![batch, heads, queries, *values.last()?])
    }

    /// The indices of the elements that are not zero, one column for each: at most as many columns as elements.
    fn non_zero(&self) -> Option<Vec<u64>> {
        let shape = self.shape(0)?;
        Some(vec![shape.len() as u64, elements(shape)?])
    }

    /// The unique elements, or with an axis the unique slices along it; then three lists of indices (of the first
    /// occurrence of each, of each input's place among the unique ones, and how often each occurs). The bound is that
    /// all elements or slices differ.
    fn unique(&self) -> Option<Vec<Found>> {
        let shape = self.shape(0)?.to_vec();
        let (unique, count) = match self.node.attribute("axis") {
            Some(attribute) => {
                let count = shape[axis(attribute.int, shape.len())?];
                (shape, count)
            }
            None => (vec![elements(&shape)?], elements(&shape)?),
        };
        let indices = Found::new(INT64, Some(vec![count]));
        let unique = Found::new(self.element(0), Some(unique));
        Some(vec![unique, indices.clone(), indices.clone(), indices])
    }

    /// The boxes that are kept, each as three indices. The bound is every box of every class, or as many of each
    /// class as input 2 asks for.
    fn suppressed(&self) -> Option<Vec<u64>> {
        let &[batch, classes, boxes] = self.shape(1)? else { return None };
        let asked = self.numbers(2).and_then(|numbers| u64::try_from(*numbers.first()?).ok());
        let kept = boxes.min(asked.unwrap_or(boxes));
        Some(vec![batch.checked_mul(classes)?.checked_mul(kept)?, 3])
    }

    /// The elements, or with an axis the slices along it, for which a list of conditions (input 1) is true. The bound
    /// is that all conditions are true; conditions may be fewer than elements.
    fn compressed(&self) -> Option<Vec<u64>> {
        let mut shape = self.shape(0)?.to_vec();
        // How many conditions there are; if their shape is not known, every element may be taken.
        let longest = self.shape(1).and_then(|shape| shape.first().copied()).unwrap_or(u64::MAX);
        match self.node.attribute("axis") {
            Some(attribute) => {
                let place = axis(attribute.int, shape.len())?;
                shape[place] = shape[place].min(longest);
                Some(shape)
            }
            None => Some(vec![elements(&shape)?.min(longest)]),
        }
    }

    /// The dimensions in the order of the attribute `perm`; without it, in reverse order.
    fn transpose(&self) -> Option<Vec<u64>> {
        let shape = self.shape(0)?;
        match self.ints("perm") {
            Some(order) => order.iter().map(|&place| Some(shape[axis(place, shape.len())?])).collect(),
            None => Some(shape.iter().rev().copied().collect()),
        }
    }

    /// The shape that is asked for. A 0 keeps the dimension of the input at that place, unless the attribute
    /// `allowzero` is set; then it is a dimension of length 0. A dimension of -1 becomes as large as the number of
    /// elements requires: `[2, 3, 4]` as `[0, -1]` is `[2, 12]`.
    fn reshape(&self) -> Option<Vec<u64>> {
        let old = self.shape(0)?;
        let wanted = self.listed("shape", 1)?;
        let keeps_zero = self.int("allowzero", 0) == 0;
        let mut shape = Vec::with_capacity(wanted.len());
        // The place of the -1. It counts as 1 until the product of the other dimensions is known.
        let mut open = None;
        for (place, &number) in wanted.iter().enumerate() {
            shape.push(match number {
                0 if keeps_zero => *old.get(place)?,
                -1 => {
                    open = Some(place);
                    1
                }
                number => u64::try_from(number).ok()?,
            });
        }
        if let Some(place) = open {
            shape[place] = elements(old)?.checked_div(elements(&shape)?)?;
        }
        Some(shape)
    }

    /// A matrix: the product of the dimensions before the axis, and the product of those from the axis on.
    fn flatten(&self) -> Option<Vec<u64>> {
        let shape = self.shape(0)?;
        let place = self.int("axis", 1);
        // `Flatten` allows an axis that equals the number of dimensions (then the matrix has one column), but the
        // function `axis` answers `None` for it.
        let place = if place == shape.len() as i64 { shape.len() } else { axis(place, shape.len())? };
        Some(vec![elements(&shape[..place])?, elements(&shape[place..])?])
    }

    /// The shape without the dimensions that the attribute `axes` or input 1 lists. If the node has no such list, the
    /// shape without all dimensions of length 1.
    fn squeeze(&self) -> Option<Vec<u64>> {
        let shape = self.shape(0)?;
        let gone = if self.node.attribute("axes").is_some() || self.facts(1).is_some() {
            axes(&self.listed("axes", 1)?, shape.len())?
        } else {
            (0..shape.len()).filter(|&place| shape[place] == 1).collect()
        };
        Some((0..shape.len()).filter(|place| gone.binary_search(place).is_err()).map(|place| shape[place]).collect())
    }

    /// The shape with a 1 at each of the listed places, which are places of the result.
    fn unsqueeze(&self) -> Option<Vec<u64>> {
        let shape = self.shape(0)?;
        let numbers = self.listed("axes", 1)?;
        let rank = shape.len().checked_add(numbers.len())?;
        let new = axes(&numbers, rank)?;
        let mut old = shape.iter();
        (0..rank).map(|place| if new.binary_search(&place).is_ok() { Some(1) } else { old.next().copied() }).collect()
    }

    /// Each dimension times the number of its repetitions.
    fn tile(&self) -> Option<Vec<u64>> {
        let repeats = counted(self.numbers(1)?)?;
        let shape = self.shape(0).filter(|shape| shape.len() == repeats.len())?;
        shape.iter().zip(repeats).map(|(dimension, times)| dimension.checked_mul(times)).collect()
    }

    /// The shape with elements added, or cut off if the number is negative, at the start and at the end of dimensions.
    /// The list `pads` has all numbers for the starts, then all for the ends. Input 3 may list the dimensions to which
    /// `pads` belongs; without input 3 the list belongs to all dimensions. `None` if the content of that input is not
    /// known.
    fn pad(&self) -> Option<Vec<u64>> {
        let mut shape = self.shape(0)?.to_vec();
        let pads = self.listed("pads", 1)?;
        let places = match self.facts(3) {
            Some(_) => self.numbers(3)?.iter().map(|&number| axis(number, shape.len())).collect::<Option<Vec<_>>>()?,
            None => (0..shape.len()).collect(),
        };
        for (index, &place) in places.iter().enumerate() {
            let around = pads.get(index)?.checked_add(*pads.get(index + places.len())?)?;
            shape[place] = u64::try_from(i64::try_from(shape[place]).ok()?.checked_add(around)?).ok()?;
        }
        Some(shape)
    }

    /// The shape of the data with the dimension of the axis replaced by the shape of the indices.
    fn gather(&self) -> Option<Vec<u64>> {
        let (data, indices) = (self.shape(0)?, self.shape(1)?);
        let place = self.axis(0, data.len())?;
        Some(data[..place].iter().chain(indices).chain(&data[place + 1..]).copied().collect())
    }

    /// A row of the indices, along their last dimension, names a place in the data: in the dimensions that follow the
    /// `batch_dims` leading ones, as many as the row has numbers. The result has the shape of the indices without their
    /// last dimension, then the dimensions of the data that the rows do not cover.
    fn gather_nd(&self) -> Option<Vec<u64>> {
        let (data, indices) = (self.shape(0)?, self.shape(1)?);
        let batch = usize::try_from(self.int("batch_dims", 0)).ok()?;
        let (&depth, outer) = indices.split_last()?;
        let inner = data.get(batch.checked_add(usize::try_from(depth).ok()?)?..)?;
        Some(outer.iter().chain(inner).copied().collect())
    }

    /// The shape after a `Resize` or `Upsample`: the sizes that the node reads as input 3, or the shape of input 0
    /// times the factors of the attribute `scales`, rounded down. Factors that are an input are floats, whose content
    /// is not known here; then the answer is `None`.
    fn resize(&self) -> Option<Vec<u64>> {
        let shape = self.shape(0)?;
        if let Some(sizes) = self.numbers(3).filter(|sizes| !sizes.is_empty()) {
            return self.resized(shape, &counted(sizes)?);
        }
        let scales = self.node.attribute("scales").map(|attribute| attribute.floats.as_slice())?;
        let scaled = |(&dimension, &scale): (&u64, &f32)| {
            let size = (dimension as f64 * f64::from(scale)).floor();
            // Beyond 1e15 a dimension is a mistake of the file; up to there the conversion is exact.
            (0.0..1e15).contains(&size).then_some(size as u64)
        };
        shape.iter().zip(scales).map(scaled).collect()
    }

    /// The shape with `sizes` in the dimensions that the attribute `axes` lists, or in all dimensions if the node has
    /// no such attribute. If the attribute `keep_aspect_ratio_policy` is `not_larger` or `not_smaller`, all these
    /// dimensions grow by the same factor, which is the smallest or the largest that a size asks for.
    fn resized(&self, shape: &[u64], sizes: &[u64]) -> Option<Vec<u64>> {
        let places = match self.ints("axes") {
            Some(numbers) => numbers.iter().map(|&number| axis(number, shape.len())).collect::<Option<Vec<_>>>()?,
            None => (0..shape.len()).collect(),
        };
        if places.len() != sizes.len() {
            return None;
        }
        // The factor by which each of these dimensions would grow if it got exactly its size.
        let factors = places.iter().zip(sizes).map(|(&place, &size)| size as f64 / shape[place] as f64);
        let factor = match self.node.attribute("keep_aspect_ratio_policy").map(|policy| policy.text.as_str()) {
            None | Some("" | "stretch") => None,
            Some("not_larger") => Some(factors.fold(f64::INFINITY, f64::min)),
            Some("not_smaller") => Some(factors.fold(0.0, f64::max)),
            Some(_) => return None,
        };
        let mut resized = shape.to_vec();
        for (&place, &size) in places.iter().zip(sizes) {
            resized[place] = match factor {
                Some(factor) => nearest(shape[place] as f64 * factor)?,
                None => size,
            };
        }
        Some(resized)
    }

    /// The axes over which a node `Reduce…` reduces: those of the attribute, or of input 1. If the node has neither,
    /// or if the list is empty, these are all axes, or none if its attribute `noop_with_empty_axes` is not 0. `None` if
    /// input 1 exists but its content is not known, or if all axes are meant and the shape of input 0 is not known.
    pub(super) fn reduced_axes(&self) -> Option<Vec<i64>> {
        let stated = match (self.ints("axes"), self.facts(1)) {
            (Some(axes), _) => axes,
            (None, Some(_)) => self.numbers(1)?,
            (None, None) => &[],
        };
        if stated.is_empty() && self.int("noop_with_empty_axes", 0) == 0 {
            return Some((0..self.shape(0)?.len() as i64).collect());
        }
        Some(stated.to_vec())
    }

    /// The shape after a reduction over the axes `gone`: these dimensions become 1, or disappear if `keepdims` is 0.
    fn reduced(&self, gone: Option<Vec<i64>>) -> Option<Vec<u64>> {
        let shape = self.shape(0)?;
        let gone = axes(&gone?, shape.len())?;
        let keeps = self.int("keepdims", 1) != 0;
        let places = (0..shape.len()).filter(|place| keeps || gone.binary_search(place).is_err());
        Some(places.map(|place| if gone.binary_search(&place).is_ok() { 1 } else { shape[place] }).collect())
    }

    /// The type and shape of a constant. The value is the only attribute of the node, and the attribute's name says
    /// what it is: a tensor, a number or a list of numbers.
    fn constant(&self) -> Option<Vec<Found>> {
        let attribute = self.node.attributes.first()?;
        let (element, shape) = match attribute.name.as_str() {
            "value" => (attribute.tensor.as_ref()?.element, attribute.tensor.as_ref()?.shape.clone()),
            "value_int" => (INT64, Some(Vec::new())),
            "value_ints" => (INT64, Some(vec![attribute.ints.len() as u64])),
            "value_float" => (FLOAT, Some(Vec::new())),
            "value_floats" => (FLOAT, Some(vec![attribute.floats.len() as u64])),
            // Texts and sparse tensors.
            _ => return None,
        };
        self.typed(element, shape)
    }

    /// The length of the list of numbers from a start up to a limit, without the limit. From 0 to 7 in steps of 3 there
    /// are three: 0, 3 and 6. `None` for a step of 0, which ONNX does not allow.
    fn range(&self) -> Option<Vec<u64>> {
        let number = |index: usize| self.numbers(index)?.first().copied();
        let (start, limit, step) = (number(0)?, number(1)?, number(2)?);
        let distance = i128::from(limit) - i128::from(start);
        let step = i128::from(step);
        if step == 0 {
            return None;
        }
        // If limit and start are equal, `distance` is 0 and the quotient is 0, whichever branch is taken.
        // The distance over the step, rounded up; nothing if the step leads away from the limit.
        let count = if (distance > 0) == (step > 0) { (distance.abs() + step.abs() - 1) / step.abs() } else { 0 };
        Some(vec![u64::try_from(count).ok()?])
    }

    /// The shape of the indices with one more dimension, as long as input 1 says. The axis is a place of the result.
    fn one_hot(&self) -> Option<Vec<u64>> {
        let mut shape = self.shape(0)?.to_vec();
        let depth = u64::try_from(*self.numbers(1)?.first()?).ok()?;
        let place = axis(self.int("axis", -1), shape.len() + 1)?;
        shape.insert(place, depth);
        Some(shape)
    }

    /// The largest values and their indices: the shape of the input, with `k` as the length of the axis. `k` is an
    /// attribute in old files and input 1 in new ones.
    fn top_k(&self) -> Option<Vec<Found>> {
        let mut shape = self.shape(0)?.to_vec();
        let place = self.axis(-1, shape.len())?;
        let count = match self.node.attribute("k") {
            Some(attribute) => attribute.int,
            None => *self.numbers(1)?.first()?,
        };
        shape[place] = u64::try_from(count).ok()?;
        let shape = Some(shape);
        Some(vec![Found::new(self.element(0), shape.clone()), Found::new(INT64, shape)])
    }

    /// `DepthToSpace` (`to_space`) makes a square of pixels from each group of channels: with blocks of 2,
    /// `[1, 8, 3, 3]` becomes `[1, 2, 6, 6]`. `SpaceToDepth` is the opposite.
    fn blocks(&self, to_space: bool) -> Option<Vec<u64>> {
        let &[batch, channels, height, width] = self.shape(0)? else { return None };
        let size = u64::try_from(self.int("blocksize", 1)).ok().filter(|&size| size > 0)?;
        let area = size.checked_mul(size)?;
        Some(match to_space {
            true => vec![batch, channels / area, height.checked_mul(size)?, width.checked_mul(size)?],
            false => vec![batch, channels.checked_mul(area)?, height / size, width / size],
        })
    }

    /// The outputs of an RNN, GRU or LSTM: the state at every time, the last state, and for an LSTM the last cell. An
    /// RNN or GRU has no third output, and the caller ignores the third answer. The width of a state is the attribute
    /// `hidden_size`; without it, it is the last dimension of the weights that a state is multiplied by, input 2.
    fn recurrent(&self) -> Option<Vec<Found>> {
        // `one` and `two` are time and batch if the attribute `layout` is 0, else batch and time.
        let &[one, two, _] = self.shape(0)? else { return None };
        let hidden = match self.node.attribute("hidden_size") {
            Some(stated) => u64::try_from(stated.int).ok(),
            None => self.shape(2).and_then(|weights| weights.last().copied()),
        };
        // A state of no width would be a plan without memory for it.
        let hidden = hidden.filter(|&hidden| hidden > 0)?;
        let direction = self.node.attribute("direction").map(|attribute| attribute.text.as_str());
        let directions = if direction == Some("bidirectional") { 2 } else { 1 };
        let batch_first = self.int("layout", 0) != 0;
        let (all, last) = match batch_first {
            true => (vec![one, two, directions, hidden], vec![one, directions, hidden]),
            false => (vec![one, directions, two, hidden], vec![directions, two, hidden]),
        };
        let found = |shape: &Vec<u64>| Found::new(self.element(0), Some(shape.clone()));
        Some(vec![found(&all), found(&last), found(&last)])
    }
}

/// Signed numbers of the file as lengths of dimensions; `None` if one is negative.
fn counted(numbers: &[i64]) -> Option<Vec<u64>> {
    numbers.iter().map(|&number| u64::try_from(number).ok()).collect()
}

/// The whole number next to a length. `None` if the length is so close to the middle between two numbers that a runtime
/// which computes with floats of 32 bits may round it to the other one, or if it is not below 1e6: beyond, such floats
/// are not exact enough to tell.
fn nearest(length: f64) -> Option<u64> {
    let is_clear = (length.fract() - 0.5).abs() > length * 1e-6;
    ((0.0..1e6).contains(&length) && (is_clear || length == 0.0)).then_some(length.round() as u64)
}

/// The shape of the product of two matrices, or of stacks of matrices: `[8, 12, 64]` times `[64, 5]` is `[8, 12, 5]`.
/// The dimensions before the last two are the stack, and the stacks of the two inputs are broadcast together. An
/// input of one dimension is a vector, and the result then lacks the rows (on the left) or the columns (on the
/// right). Whether the inner lengths agree is not checked.
fn matrix_product(one: Option<&[u64]>, other: Option<&[u64]>) -> Option<Vec<u64>> {
    let (one, other) = (one?, other?);
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let (rows, one_stack) =
        if one.len() == 1 { (None, &one[..0]) } else { (one.get(one.len() - 2), &one[..one.len() - 2]) };
    let (columns, other_stack) =
        if other.len() == 1 { (None, &other[..0]) } else { (other.last(), &other[..other.len() - 2]) };
    let mut shape = broadcast(one_stack, other_stack)?;
    shape.extend(rows);
    shape.extend(columns);
    Some(shape)
}

/// How many elements a slice takes of a dimension of `size` elements, as in Python: `start` and `end` count from the
/// end of the dimension if they are negative, and are moved into it if they lie outside. `None` for a step of 0,
/// which is not allowed, and for a negative step to the largest number there is: by the definition of the operator that
/// is an empty slice, but ONNX Runtime takes it to mean "to the end" and goes on to the first element.
pub(super) fn slice_length(size: u64, start: i64, end: i64, step: i64) -> Option<u64> {
    if step < 0 && (end == i64::from(i32::MAX) || end == i64::MAX) {
        return None;
    }
    let size = i128::from(size);
    let (start, end, step) = (i128::from(start), i128::from(end), i128::from(step));
    let from_end = |place: i128| if place < 0 { place + size } else { place };
    // With a positive step, `start` and `end` are places from 0 to `size`; `size` is the place after the last element.
    // With a negative step, `start` is the place of an element, and `end` may be -1, the place before the first
    // element. A file states that place as any number below `-size`, because -1 in a file means the last element.
    let (start, end) = match step {
        0 => return None,
        // There is no element to start at.
        _ if size == 0 => return Some(0),
        1.. => (from_end(start).clamp(0, size), from_end(end).clamp(0, size)),
        _ => (from_end(start).clamp(0, size - 1), if end < -size { -1 } else { from_end(end).clamp(-1, size - 1) }),
    };
    // The distance over the step, rounded up; a negative distance is an empty slice.
    let distance = if step > 0 { end - start } else { start - end };
    let step = step.abs();
    u64::try_from(((distance + step - 1) / step).max(0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_have_a_length() {
        assert_eq!(slice_length(10, 0, i64::MAX, 1), Some(10));
        assert_eq!(slice_length(10, -3, 10, 2), Some(2));
        assert_eq!(slice_length(10, 9, i64::MIN, -1), Some(10));
        assert_eq!(slice_length(10, 5, 2, 1), Some(0));
        assert_eq!(slice_length(10, 5, i64::MAX, -1), None);
        assert_eq!(slice_length(10, 5, i32::MAX.into(), -2), None);
        assert_eq!(slice_length(0, 0, 5, 1), Some(0));
        assert_eq!(slice_length(0, -1, i64::MIN, -1), Some(0));
        assert_eq!(slice_length(0, 0, 5, 0), None);
        assert_eq!(slice_length(10, 0, 5, 0), None);
    }

    #[test]
    fn stacks_of_matrices_multiply() {
        assert_eq!(matrix_product(Some(&[2, 1, 3, 4]), Some(&[5, 4, 6])), Some(vec![2, 5, 3, 6]));
        assert_eq!(matrix_product(Some(&[4]), Some(&[4, 6])), Some(vec![6]));
        assert_eq!(matrix_product(Some(&[3, 4]), Some(&[4])), Some(vec![3]));
        assert_eq!(matrix_product(Some(&[]), Some(&[4])), None);
    }
}
