//! Schedule primitives by name, as a description lists them:
//!
//! ```json
//! {"do": "split", "stage": "B", "axis": "i", "factor": 8, "outer": "io", "inner": "ii"}
//! {"do": "compute_at", "stage": "A.shared", "target": "B", "axis": "io"}
//! ```
//!
//! A directive names stages, tensors and axes by texts. Applied in order, the directives make a [`Schedule`]; what a
//! primitive makes (the two loops of a split, the stage of a cache) may be given a name that later directives use.

use super::error::ScheduleError;
use super::graph::{IterId, OpKind};
use super::json::{Entry, Network, ReadTeError};
use super::schedule::{LoopKind, Schedule, SplitBy, StageId};
use std::collections::BTreeMap;

/// One primitive, with stages, tensors and axes by name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are the primitive's own arguments
pub enum Directive {
    /// Where the stage's tensors live.
    SetScope { stage: String, scope: String },
    /// Pads a dimension.
    StorageAlign { stage: String, axis: String, factor: i64, offset: i64 },
    /// Computes the next iteration's values while this one's are used.
    DoubleBuffer { stage: String },
    /// One loop as two.
    Split { stage: String, axis: String, by: SplitBy, outer: String, inner: String },
    /// Two loops as one.
    Fuse { stage: String, outer: String, inner: String, to: String },
    /// Another order of loops.
    Reorder { stage: String, order: Vec<String> },
    /// Computes a stage inside a loop of its consumer.
    ComputeAt { stage: String, target: String, axis: String },
    /// Computes a stage's elements where they are used.
    ComputeInline { stage: String },
    /// Computes a stage on its own again.
    ComputeRoot { stage: String },
    /// Reads a tensor through a copy.
    CacheRead { tensor: String, scope: String, readers: Vec<String>, name: String },
    /// Makes a tensor through a copy.
    CacheWrite { tensor: String, scope: String, name: String },
    /// How a loop runs.
    Kind { stage: String, axis: String, kind: LoopKind },
    /// A loop as threads.
    Bind { stage: String, axis: String, thread: String },
}

impl Directive {
    /// Reads a directive that gives a loop a kind.
    fn read_kind(entry: &Entry<'_>, kind: LoopKind) -> Result<Directive, ReadTeError> {
        Ok(Directive::Kind { stage: entry.text("stage")?, axis: entry.text("axis")?, kind })
    }

    /// Reads one directive of a description. Only its form is checked here; whether the names exist shows when it is
    /// applied.
    pub(super) fn read(entry: &Entry<'_>) -> Result<Directive, ReadTeError> {
        // Fields are read by name and their absence is an error with its place. An optional name that is left out is an
        // empty text: then what the primitive makes is only known by the name that the schedule gives it.
        match entry.text("do")?.as_str() {
            "set_scope" => Ok(Directive::SetScope { stage: entry.text("stage")?, scope: entry.text("scope")? }),
            "storage_align" => Ok(Directive::StorageAlign {
                stage: entry.text("stage")?,
                axis: entry.text("axis")?,
                factor: entry.number("factor")?,
                offset: if entry.get("offset").is_some() { entry.number("offset")? } else { 0 },
            }),
            "double_buffer" => Ok(Directive::DoubleBuffer { stage: entry.text("stage")? }),
            "split" => {
                let by = if entry.get("nparts").is_some() {
                    SplitBy::Parts(entry.number("nparts")?)
                } else {
                    SplitBy::Factor(entry.number("factor")?)
                };
                let (outer, inner) = (optional(entry, "outer")?, optional(entry, "inner")?);
                Ok(Directive::Split { stage: entry.text("stage")?, axis: entry.text("axis")?, by, outer, inner })
            }
            "fuse" => Ok(Directive::Fuse {
                stage: entry.text("stage")?,
                outer: entry.text("a")?,
                inner: entry.text("b")?,
                to: optional(entry, "to")?,
            }),
            "reorder" => Ok(Directive::Reorder { stage: entry.text("stage")?, order: entry.texts("order")? }),
            "compute_at" => Ok(Directive::ComputeAt {
                stage: entry.text("stage")?,
                target: entry.text("target")?,
                axis: entry.text("axis")?,
            }),
            "compute_inline" => Ok(Directive::ComputeInline { stage: entry.text("stage")? }),
            "compute_root" => Ok(Directive::ComputeRoot { stage: entry.text("stage")? }),
            "cache_read" => Ok(Directive::CacheRead {
                tensor: entry.text("tensor")?,
                scope: entry.text("scope")?,
                readers: entry.texts("readers")?,
                name: optional(entry, "as")?,
            }),
            "cache_write" => Ok(Directive::CacheWrite {
                tensor: entry.text("tensor")?,
                scope: entry.text("scope")?,
                name: optional(entry, "as")?,
            }),
            "parallel" => Directive::read_kind(entry, LoopKind::Parallel),
            "vectorize" => Directive::read_kind(entry, LoopKind::Vectorized),
            "unroll" => Directive::read_kind(entry, LoopKind::Unrolled),
            "bind" => Ok(Directive::Bind {
                stage: entry.text("stage")?,
                axis: entry.text("axis")?,
                thread: entry.text("thread")?,
            }),
            other => Err(entry.wrong("do", format!("there is no primitive called `{other}`"))),
        }
    }
}

impl Network {
    /// The schedule with every directive applied. An error has the position of the directive that does not apply.
    pub fn schedule(&self) -> Result<Schedule, (usize, ScheduleError)> {
        let mut names = Names {
            schedule: Schedule::new(&self.graph, &self.outputs),
            stages: BTreeMap::new(),
            axes: BTreeMap::new(),
        };
        for (position, directive) in self.directives.iter().enumerate() {
            names.apply(directive).map_err(|error| (position, error))?;
        }
        Ok(names.schedule)
    }
}

/// A schedule under construction, and the names that directives gave to the stages and axes they made.
struct Names {
    schedule: Schedule,
    stages: BTreeMap<String, StageId>,
    axes: BTreeMap<(StageId, String), IterId>,
}

impl Names {
    /// A stage by the name that a directive gave it, or else by the name of its operation.
    fn stage(&self, name: &str) -> Result<StageId, ScheduleError> {
        let by_alias = self.stages.get(name).copied();
        by_alias
            .or_else(|| self.schedule.stage_named(name))
            .ok_or_else(|| ScheduleError::UnknownStage { name: name.to_owned() })
    }

    /// An axis of a stage by the name that a directive gave it, or else by its own; of several, the newest.
    fn axis(&self, stage: StageId, name: &str) -> Result<IterId, ScheduleError> {
        if let Some(axis) = self.axes.get(&(stage, name.to_owned())) {
            return Ok(*axis);
        }
        self.schedule.axis_named(stage, name).ok_or_else(|| ScheduleError::UnknownAxis {
            stage: self.schedule.name(stage).to_owned(),
            axis: name.to_owned(),
        })
    }

    /// A stage and one of its axes, both by name.
    fn at(&self, stage: &str, axis: &str) -> Result<(StageId, IterId), ScheduleError> {
        let stage = self.stage(stage)?;
        Ok((stage, self.axis(stage, axis)?))
    }

    /// Enters the name that a directive gives to an axis; an empty name gives none.
    fn call(&mut self, stage: StageId, name: &str, axis: IterId) {
        if !name.is_empty() {
            self.axes.insert((stage, name.to_owned()), axis);
        }
    }

    /// Enters the name that a directive gives to a stage; an empty name gives none.
    fn call_stage(&mut self, name: &str, stage: StageId) {
        if !name.is_empty() {
            self.stages.insert(name.to_owned(), stage);
        }
    }

    /// Applies one directive to the schedule.
    fn apply(&mut self, directive: &Directive) -> Result<(), ScheduleError> {
        match directive {
            Directive::SetScope { stage, scope } => {
                let stage = self.stage(stage)?;
                self.schedule.set_scope(stage, scope)
            }
            Directive::StorageAlign { stage, axis, factor, offset } => {
                let (stage, axis) = self.at(stage, axis)?;
                self.schedule.storage_align(stage, axis, *factor, *offset)
            }
            Directive::DoubleBuffer { stage } => {
                let stage = self.stage(stage)?;
                self.schedule.double_buffer(stage)
            }
            // A split or a fusion makes loops that later directives want to name, so they are entered under the names
            // that the description gives them.
            Directive::Split { stage, axis, by, outer, inner } => {
                let (stage, axis) = self.at(stage, axis)?;
                let (first, second) = self.schedule.split(stage, axis, *by)?;
                self.call(stage, outer, first);
                self.call(stage, inner, second);
                Ok(())
            }
            Directive::Fuse { stage, outer, inner, to } => {
                let (stage, outer) = self.at(stage, outer)?;
                let inner = self.axis(stage, inner)?;
                let fused = self.schedule.fuse(stage, outer, inner)?;
                self.call(stage, to, fused);
                Ok(())
            }
            Directive::Reorder { stage, order } => {
                let stage = self.stage(stage)?;
                let order: Result<Vec<IterId>, ScheduleError> =
                    order.iter().map(|axis| self.axis(stage, axis)).collect();
                self.schedule.reorder(stage, &order?)
            }
            Directive::ComputeAt { stage, target, axis } => {
                let stage = self.stage(stage)?;
                let (target, axis) = self.at(target, axis)?;
                self.schedule.compute_at(stage, target, axis)
            }
            Directive::ComputeInline { stage } => {
                let stage = self.stage(stage)?;
                self.schedule.compute_inline(stage)
            }
            Directive::ComputeRoot { stage } => {
                let stage = self.stage(stage)?;
                self.schedule.compute_root(stage);
                Ok(())
            }
            // The stages of caches are entered under their names, too.
            Directive::CacheRead { tensor, scope, readers, name } => {
                let readers: Result<Vec<StageId>, ScheduleError> =
                    readers.iter().map(|reader| self.stage(reader)).collect();
                let tensor = self.tensor(tensor)?;
                let stage = self.schedule.cache_read(tensor, scope, &readers?)?;
                self.call_stage(name, stage);
                Ok(())
            }
            Directive::CacheWrite { tensor, scope, name } => {
                let tensor = self.tensor(tensor)?;
                let stage = self.schedule.cache_write(tensor, scope)?;
                self.call_stage(name, stage);
                Ok(())
            }
            // The last two only set an attribute of one loop.
            Directive::Kind { stage, axis, kind } => {
                let (stage, axis) = self.at(stage, axis)?;
                self.schedule.set_kind(stage, axis, *kind)
            }
            Directive::Bind { stage, axis, thread } => {
                let (stage, axis) = self.at(stage, axis)?;
                self.schedule.bind(stage, axis, thread)
            }
        }
    }

    /// A tensor by its own name, or the first output of a stage that a directive has made and named (a cache).
    fn tensor(&self, name: &str) -> Result<crate::ir::BufId, ScheduleError> {
        let unknown = || ScheduleError::UnknownTensor { name: name.to_owned() };
        if let Some(stage) = self.stages.get(name) {
            let op = &self.schedule.graph.ops[self.schedule.stages[*stage].op];
            return op.outputs.first().copied().filter(|_| op.kind != OpKind::Placeholder).ok_or_else(unknown);
        }
        self.schedule.tensor_named(name).ok_or_else(unknown)
    }
}

/// A field that may be left out; it is an empty text then.
fn optional(entry: &Entry<'_>, key: &str) -> Result<String, ReadTeError> {
    if entry.get(key).is_some() { entry.text(key) } else { Ok(String::new()) }
}
