//! Names of operators and element types, by their number in the file.

/// Element types in the order of their numbers: name and bits of an element; 0 bits where elements have no fixed size.
const ELEMENTS: [(&str, u64); 23] = [
    ("FLOAT32", 32),
    ("FLOAT16", 16),
    ("INT32", 32),
    ("UINT8", 8),
    ("INT64", 64),
    ("STRING", 0),
    ("BOOL", 8),
    ("INT16", 16),
    ("COMPLEX64", 64),
    ("INT8", 8),
    ("FLOAT64", 64),
    ("COMPLEX128", 128),
    ("UINT64", 64),
    ("RESOURCE", 0),
    ("VARIANT", 0),
    ("UINT32", 32),
    ("UINT16", 16),
    // In a tensor that a kernel writes, TensorFlow Lite Micro gives each of them a byte. Constants are packed, and
    // their size does not matter.
    ("INT4", 8),
    ("BFLOAT16", 16),
    ("INT2", 2),
    ("UINT4", 4),
    ("FLOAT8_E4M3FN", 8),
    ("FLOAT8_E5M2", 8),
];

/// The name of an element type and the bits of an element; `None` for a number that the format does not have.
pub(super) fn element(number: u8) -> Option<(&'static str, u64)> {
    ELEMENTS.get(usize::from(number)).copied()
}

/// The name of a builtin operator; `None` for a number that is not in the list below.
pub(super) fn operator(number: i32) -> Option<&'static str> {
    OPERATORS.get(usize::try_from(number).ok()?).copied()
}

/// The number of the builtin operator of this name; `None` if there is none.
pub(super) fn operator_number(name: &str) -> Option<i32> {
    OPERATORS.iter().position(|operator| *operator == name).and_then(|number| i32::try_from(number).ok())
}

/// Whether there is an element type of this name.
pub(super) fn is_element(name: &str) -> bool {
    ELEMENTS.iter().any(|(element, _)| *element == name)
}

/// Whether an operator may have this name: it is builtin, custom, or has a number that is not known here.
pub(super) fn is_operator(name: &str) -> bool {
    OPERATORS.contains(&name) || name.starts_with("CUSTOM ") || name.starts_with("OPERATOR_")
}

/// The builtin operator whose name is most like a misspelt one, with at most two changes; `None` if there is none.
pub(super) fn nearest_operator(name: &str) -> Option<&'static str> {
    let wanted = name.to_uppercase();
    let near = OPERATORS.iter().map(|operator| (changes(&wanted, operator), *operator)).min();
    near.filter(|(changes, _)| *changes <= 2).map(|(_, operator)| operator)
}

/// How many letters must be added, removed or replaced to make one word of another (the edit distance).
fn changes(one: &str, other: &str) -> usize {
    // `row[n]` is the distance from the letters of `one` so far to the first `n` letters of `other`. `diagonal` is
    // the entry of the row before to the left of the current column.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, there) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != there);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// Operators that only give their input another shape: runtimes skip the copy
/// if input and output are at the same address.
pub(super) const RESHAPES: [&str; 3] = ["RESHAPE", "SQUEEZE", "EXPAND_DIMS"];

/// Operators that compute each output element from the input elements at the
/// same position.
pub(super) const ELEMENTWISE: [&str; 16] = [
    "ABS",
    "ADD",
    "CEIL",
    "ELU",
    "FLOOR",
    "HARD_SWISH",
    "LEAKY_RELU",
    "LOGISTIC",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "NEG",
    "RELU",
    "RELU6",
    "SUB",
    "TANH",
];

/// Builtin operators by number.
#[rustfmt::skip]
const OPERATORS: [&str; 210] = [
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE",
    "EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED", "HASHTABLE_LOOKUP", "L2_NORMALIZATION", "L2_POOL_2D",
    "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "LSH_PROJECTION", "LSTM", "MAX_POOL_2D", "MUL", "RELU",
    "RELU_N1_TO_1", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RNN", "SOFTMAX", "SPACE_TO_DEPTH", "SVDF", "TANH",
    "CONCAT_EMBEDDINGS", "SKIP_GRAM", "CALL", "CUSTOM", "EMBEDDING_LOOKUP_SPARSE", "PAD",
    "UNIDIRECTIONAL_SEQUENCE_RNN", "GATHER", "BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND", "TRANSPOSE", "MEAN", "SUB",
    "DIV", "SQUEEZE", "UNIDIRECTIONAL_SEQUENCE_LSTM", "STRIDED_SLICE", "BIDIRECTIONAL_SEQUENCE_RNN", "EXP",
    "TOPK_V2", "SPLIT", "LOG_SOFTMAX", "DELEGATE", "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "PRELU", "MAXIMUM",
    "ARG_MAX", "MINIMUM", "LESS", "NEG", "PADV2", "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "SELECT", "SLICE", "SIN",
    "TRANSPOSE_CONV", "SPARSE_TO_DENSE", "TILE", "EXPAND_DIMS", "EQUAL", "NOT_EQUAL", "LOG", "SUM", "SQRT", "RSQRT",
    "SHAPE", "POW", "ARG_MIN", "FAKE_QUANT", "REDUCE_PROD", "REDUCE_MAX", "PACK", "LOGICAL_OR", "ONE_HOT",
    "LOGICAL_AND", "LOGICAL_NOT", "UNPACK", "REDUCE_MIN", "FLOOR_DIV", "REDUCE_ANY", "SQUARE", "ZEROS_LIKE", "FILL",
    "FLOOR_MOD", "RANGE", "RESIZE_NEAREST_NEIGHBOR", "LEAKY_RELU", "SQUARED_DIFFERENCE", "MIRROR_PAD", "ABS",
    "SPLIT_V", "UNIQUE", "CEIL", "REVERSE_V2", "ADD_N", "GATHER_ND", "COS", "WHERE", "RANK", "ELU",
    "REVERSE_SEQUENCE", "MATRIX_DIAG", "QUANTIZE", "MATRIX_SET_DIAG", "ROUND", "HARD_SWISH", "IF", "WHILE",
    "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SCATTER_ND", "SELECT_V2", "DENSIFY", "SEGMENT_SUM",
    "BATCH_MATMUL", "PLACEHOLDER_FOR_GREATER_OP_CODES", "CUMSUM", "CALL_ONCE", "BROADCAST_TO", "RFFT2D", "CONV_3D",
    "IMAG", "REAL", "COMPLEX_ABS", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "REDUCE_ALL",
    "CONV_3D_TRANSPOSE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "BROADCAST_ARGS",
    "RANDOM_STANDARD_NORMAL", "BUCKETIZE", "RANDOM_UNIFORM", "MULTINOMIAL", "GELU", "DYNAMIC_UPDATE_SLICE",
    "RELU_0_TO_1", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_SUM", "ATAN2",
    "UNSORTED_SEGMENT_MIN", "SIGN", "BITCAST", "BITWISE_XOR", "RIGHT_SHIFT", "STABLEHLO_LOGISTIC", "STABLEHLO_ADD",
    "STABLEHLO_DIVIDE", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_RESHAPE", "STABLEHLO_CLAMP",
    "STABLEHLO_CONCATENATE", "STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CONVOLUTION", "STABLEHLO_SLICE",
    "STABLEHLO_CUSTOM_CALL", "STABLEHLO_REDUCE", "STABLEHLO_ABS", "STABLEHLO_AND", "STABLEHLO_COSINE",
    "STABLEHLO_EXPONENTIAL", "STABLEHLO_FLOOR", "STABLEHLO_LOG", "STABLEHLO_MINIMUM", "STABLEHLO_NEGATE",
    "STABLEHLO_OR", "STABLEHLO_POWER", "STABLEHLO_REMAINDER", "STABLEHLO_RSQRT", "STABLEHLO_SELECT",
    "STABLEHLO_SUBTRACT", "STABLEHLO_TANH", "STABLEHLO_SCATTER", "STABLEHLO_COMPARE", "STABLEHLO_CONVERT",
    "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE", "STABLEHLO_PAD", "STABLEHLO_IOTA",
    "STABLEHLO_DOT_GENERAL", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SORT", "STABLEHLO_WHILE", "STABLEHLO_GATHER",
    "STABLEHLO_TRANSPOSE", "DILATE", "STABLEHLO_RNG_BIT_GENERATOR", "REDUCE_WINDOW", "STABLEHLO_COMPOSITE",
    "STABLEHLO_SHIFT_LEFT", "STABLEHLO_CBRT", "STABLEHLO_CASE",
];
