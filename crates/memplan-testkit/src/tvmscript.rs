//! TVMScript texts of any size.

use std::fmt::Write as _;

/// A function of about this many `statements`: a chain of stages, each of which computes a new
/// buffer from the buffer of the stage before it and from the one seven stages back, so that about
/// seven buffers are alive at a time. Buffers have three sizes, and neighbours differ in size, so
/// subscripts wrap around. `E` is the input of the function, `O` its output.
///
/// ```text
///     T9 = T.alloc_buffer((48,))
///     for i in range(48):
///         T9[i] = T8[i % 64] + T2[0]
/// ```
pub fn chain(statements: usize) -> String {
    let mut text = String::from(
        "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):\n",
    );
    // A stage has three statements: the allocation, the loop and the assignment in it.
    let stages = (statements / 3).max(1);
    let size = |stage: usize| [64, 48, 64, 32][stage % 4];
    for stage in 0..stages {
        let extent = size(stage);
        _ = writeln!(text, "    T{stage} = T.alloc_buffer(({extent},))\n    for i in range({extent}):");
        let value = match stage {
            0 => "E[i]".to_owned(),
            _ if size(stage - 1) == extent => format!("T{}[i] + T.float32(1.0)", stage - 1),
            _ => format!("T{}[i % {}]", stage - 1, size(stage - 1)),
        };
        let far = if stage >= 7 { format!(" + T{}[0]", stage - 7) } else { String::new() };
        _ = writeln!(text, "        T{stage}[i] = {value}{far}");
    }
    _ = writeln!(text, "    for i in range(32):\n        O[i] = T{}[i]", stages - 1);
    text
}
