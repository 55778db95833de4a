//! What an op computes, as far as a change of the network has to know it.
//!
//! A *spatial* op computes an image from images, and what it writes at a position depends on what it reads near that
//! position only. Along each axis there are two ways to be near:
//!
//! ```text
//!   Window { size: 3, stride: 1, before: 1 }         Scale { factor: 2 }
//!
//!   output      o₀  o₁  o₂  o₃                       o₀  o₁  o₂  o₃
//!              ╱│╲ ╱│╲ ╱│╲ ╱│╲                         ╲╱      ╲╱
//!   input   (p) i₀  i₁  i₂  i₃ (p)                     i₀      i₁
//! ```
//!
//! `p` is the border: positions outside of the image. Convolutions and pools have windows, elementwise ops a window of
//! one element, upsampling has a scale. Everything else ([`Layer::spatial`] is an error that says why) reads its inputs
//! whole.

use memplan_models::graph::rewrite::Fill;

/// What is known of an op.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Multiply-adds for all of its output.
    pub macs: u64,
    /// How it can be computed part by part, or why it cannot.
    pub spatial: Result<Spatial, String>,
}

/// An op that computes an image from images, position by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spatial {
    /// Along height and width.
    pub reach: [Reach; 2],
    /// Which of its inputs are images; all others are read whole.
    pub images: Vec<usize>,
    /// What stands for positions outside of the image.
    pub border: Border,
    /// The number, among all inputs in the file, of one that says how high and wide the output is, and how it says so.
    pub size_input: Option<(usize, SizeForm)>,
}

/// How positions of the output depend on positions of the input, along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Output `o` reads the inputs from `o * stride - before` on, `size` of them.
    Window {
        /// Positions from the first one read to the last one, holes of a dilated window included.
        size: u64,
        /// Positions from one window to the next.
        stride: u64,
        /// Positions in front of the image that the first window looks at.
        before: u64,
    },
    /// Output `o` reads input `o / factor`.
    Scale {
        /// Positions of the output for each of the input.
        factor: u64,
    },
}

impl Reach {
    /// Each output reads the input at its own position.
    pub const POINT: Reach = Reach::Window { size: 1, stride: 1, before: 0 };
}

/// What stands for positions outside of the image, where a window looks at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// A value that can as well be put around the image before.
    Value(Fill),
    /// Positions outside of the image do not count at all: an average is taken over fewer elements there. No value that
    /// is put around the image has the same effect.
    LeftOut,
    /// The op adds a border and does nothing else; what it holds.
    Added(Fill),
}

/// How an input says how large the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeForm {
    /// Height and width.
    HeightWidth,
    /// All four dimensions.
    Shape,
}
