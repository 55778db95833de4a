//! The example built into the command: a network everybody knows.

use crate::source::Source;

/// The intermediate tensors of MobileNet v2 (224 x 224, 32-bit floats) in the
/// order in which an interpreter computes them: 65 tensors, 26.3 MiB together,
/// at most 5.742 MiB of them alive at once.
pub fn mobilenet_v2() -> Source {
    let mut source = Source::new("mobilenet_v2", include_str!("../data/mobilenet_v2.csv"));
    source.format = crate::format::find("csv");
    source
}
