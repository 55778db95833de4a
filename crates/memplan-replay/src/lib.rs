//! An allocator that gives every allocation of a step the place that a plan has for it.
//!
//! A training loop asks for the same memory in the same order in every step. This crate
//! records what a step asks for ([`recording`]), takes a plan for it ([`plan`]) and from
//! then on answers the n-th request of a step with the n-th planned address ([`lane`]).
//! Everything else, and everything that deviates, comes from a pool ([`region`]).
//!
//! ```text
//!  one lane: a device and a stream                        addresses
//!  ┌──────────────┬───────────────────────┬─────────────────────────────┐
//!  │ arena        │ large pool            │ small pool                  │
//!  │ planned steps│ parameters, optimiser │ the same, below one mebibyte│
//!  │              │ state, what deviates  │                             │
//!  └──────────────┴───────────────────────┴─────────────────────────────┘
//!  address ranges are reserved once and are far larger than the device;
//!  pages are mapped where bytes are in use and unmapped where they are not
//! ```
//!
//! # Why it is a crate
//!
//! An allocator is called a million times in an hour, from several threads, while a program runs. So it depends on
//! nothing of memplan that plans or reads: it takes a finished plan, checks it once, and only looks up addresses from
//! then on. Three promises:
//! - *No byte has two owners.* The plan is verified when it is loaded. As long as no recorded
//!   free is late, what is alive is a part of what was alive in the recording, and the planned
//!   address is free. Once a free is late, or something foreign lies in the arena, every planned
//!   address is looked up in the arena's map of free bytes before it is handed out.
//! - *Streams never meet.* Each stream of each device is a [`lane`] with pages of its own. Bytes
//!   move from one lane to another only as whole pages, after the device has come to rest.
//! - *Nothing of CUDA is needed to build.* Memory is behind the trait [`backing::Backing`]:
//!   plain host memory ([`backing::Host`]), or the CUDA driver, loaded at run time (`cuda`).
//!
//! # Example
//!
//! The plan says that the second request of a step takes the place of the first:
//!
//! ```
//! use std::sync::Arc;
//!
//! use memplan_replay::allocator::Allocator;
//! use memplan_replay::backing::Host;
//! use memplan_replay::plan::{Moment, Slot, StepPlan};
//!
//! let slot = || Slot { offset: Some(0), most: 4096, least: 4096 };
//! let moments = vec![Moment::Alloc(0), Moment::Free(0), Moment::Alloc(1), Moment::Free(1)];
//! let allocator = Allocator::new(Arc::new(Host::new(1 << 26)));
//! allocator.adopt(vec![StepPlan::verified((0, 0, 0), vec![slot(), slot()], moments)?])?;
//!
//! allocator.begin(0);
//! let first = allocator.allocate(4096, 0, 0)?.address;
//! assert!(allocator.free(first, 0, 0));
//! let second = allocator.allocate(4096, 0, 0)?.address;
//! assert_eq!(first, second);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where next
//!
//! [`allocator::Allocator`] is the whole of it for Rust, [`abi`] the same for C and Python. The Python
//! module `memplan.torch` records, plans and replays with it; the chapter "PyTorch: the step that fits"
//! of the book shows how, and what it saves.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod abi;
pub mod allocator;
pub mod arena;
pub mod backing;
#[allow(unsafe_code)]
mod cuda;
mod hashing;
pub mod lane;
mod live;
mod pages;
mod parked;
pub mod plan;
pub mod recording;
pub mod region;
mod report;
mod runs;
mod sorted;
