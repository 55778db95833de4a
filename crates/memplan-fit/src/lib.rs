//! Changes of a network that make it need less memory and leave its results as they are.
//!
//! A plan cannot need less than what is alive at once. When even the best plan of a network does not fit, the network
//! itself has to change: its ops run in another order, some run again so that a result need not be kept, or a chain of
//! ops runs tile by tile, so that large images in its middle never exist as a whole. This crate finds such changes and
//! says what each costs in multiply-adds, in copied bytes and in what a runtime keeps for more ops.
//!
//! # Why it is a crate
//!
//! A plan leaves the model alone; a change does not. So nothing here is trusted: the check that a changed model computes
//! the same (`memplan_verify::equivalence`) must not reach this code, and a test on the graph of crates makes sure of
//! that.
//!
//! ```text
//!   Net ──► Schedule ──► Tiling, Tiling, … ──► Chosen ──► Candidate { rewrite, costs }
//!           order,       a segment of it,       which of
//!           clones       tile by tile           them
//! ```
//!
//! # Example
//!
//! Two ops on an image of 32 x 32 positions: the first makes 64 channels out of 4, the second 4 out of 64. What lies
//! between them takes 64 KiB. Tile by tile only a part of it is there at a time, and since each position is computed
//! from one position, nothing is computed twice:
//!
//! ```
//! use memplan_core::Bytes;
//! use memplan_fit::layer::{Border, Layer, Reach, Spatial};
//! use memplan_fit::net::Schedule;
//! use memplan_fit::{Allowed, Dialect, Net, candidates};
//! use memplan_models::graph::{Graph, Home, Op, Tensor};
//!
//! let mut graph = Graph::default();
//! let image = |name: &str, depth: u64| Tensor {
//!     name: name.to_owned(),
//!     element: "INT8",
//!     shape: vec![1, 32, 32, depth],
//!     bytes: Bytes(32 * 32 * depth),
//!     home: Home::Arena,
//! };
//! let [x, wide, y] = [("x", 4), ("wide", 64), ("y", 4)].map(|(name, depth)| graph.tensors.push(image(name, depth)));
//! for (input, output) in [(x, wide), (wide, y)] {
//!     graph.ops.push(Op { kind: "CONV_2D".to_owned(), inputs: vec![input], outputs: vec![output], ..Op::default() });
//! }
//! (graph.inputs, graph.outputs) = (vec![x], vec![y]);
//!
//! let spatial = Spatial { reach: [Reach::POINT; 2], images: vec![0], border: Border::LeftOut, size_input: None };
//! let layers = vec![Layer { macs: 32 * 32 * 4 * 64, spatial: Ok(spatial) }; 2];
//! let dialect = Dialect::TFLITE.with_records_elsewhere();
//! let net = Net { graph: &graph, layers, dialect, alignment: Bytes(16), reuses_inputs: true };
//!
//! let schedule = Schedule::of_order(&graph, graph.ops.ids());
//! let found = candidates(&net, &[(schedule, Vec::new())], Allowed::default());
//! let cheapest = &found[0];
//! assert!(5 * cheapest.peak.0 < 4096 + 65536, "{:?}", cheapest.changes);
//! assert_eq!(cheapest.macs, 2 * 32 * 32 * 4 * 64);
//! ```
//!
//! # Modules
//!
//! - [`layer`] says what an op computes from what; [`tflite`] and [`onnx`] say it for the operators of a model;
//! - [`net`] has the network and its *schedules*: ops in some order, some of them more than once;
//! - [`recompute`] looks for schedules in which ops run again;
//! - [`patch`] executes a segment of a schedule tile by tile; [`segment`] looks for such segments;
//! - [`choice`] chooses among them; [`candidate`] makes a change of the model out of a choice;
//! - [`floor`](mod@floor) says how little memory no change can go below.
//!
//! # Where next
//!
//! Nothing here plans or writes. What a change really needs is known only when the changed model has been written, read
//! again and planned: the estimates here only decide what is tried first. `memplan::front_end::Fit` does that, and
//! `memplan fit` is its command. The chapter for users is `docs/fit.md`.

pub mod candidate;
pub mod choice;
pub mod floor;
mod geometry;
pub mod layer;
mod live;
pub mod net;
pub mod onnx;
pub mod patch;
pub mod recompute;
pub mod region;
pub mod segment;
pub mod tflite;

pub use candidate::{Allowed, Candidate, Change, candidates};
pub use floor::floor;
pub use net::{Dialect, Net};
