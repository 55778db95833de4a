//! When each op runs: a step for each, bodies inside their op.
//!
//! ```text
//!   step 0        the inputs are written
//!   step 1        CONV
//!   step 2        IF              ┐
//!   step 3          then: inputs  │ the op covers steps 2 to 6;
//!   step 4            ADD         │ its bodies come one after the other,
//!   step 5          else: inputs  │ each with a step for its inputs
//!   step 6            MUL         ┘
//!   step 7        SOFTMAX
//! ```
//!
//! TensorFlow Lite Micro counts in the same way. A body that several ops run
//! appears several times.

use memplan_core::Id;

use super::{GraphId, Model, OpId};

/// Models with more steps than this are refused. A small file can have very many: each level of bodies within bodies
/// can double them.
pub const MAX_STEPS: u64 = 4_000_000;

/// An event in the course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// A graph begins; its inputs are there.
    Enter {
        /// The graph.
        graph: GraphId,
        /// The step at which its inputs are written.
        step: u64,
    },
    /// An op begins, at a step of its own.
    Start {
        /// Its graph.
        graph: GraphId,
        /// The op.
        op: OpId,
        /// The step.
        step: u64,
    },
    /// An op ends.
    End {
        /// Its graph.
        graph: GraphId,
        /// The op.
        op: OpId,
        /// The step at which it began.
        start: u64,
        /// The last step of its bodies, or its own.
        step: u64,
    },
    /// A graph ends; its outputs are still needed.
    Leave {
        /// The graph.
        graph: GraphId,
        /// The last step.
        step: u64,
    },
}

/// All ticks of a run.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// In order.
    pub ticks: Vec<Tick>,
    /// The last step.
    pub last: u64,
}

/// Why a model cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineError {
    /// A graph runs itself.
    Recursion(GraphId),
    /// There is no such graph.
    NoGraph(GraphId),
    /// More than [`MAX_STEPS`].
    TooLong,
}

impl std::fmt::Display for TimelineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TimelineError::Recursion(graph) => write!(f, "graph {} runs itself", graph.index()),
            TimelineError::NoGraph(graph) => write!(f, "an op runs graph {}, and there is none", graph.index()),
            TimelineError::TooLong => write!(f, "bodies within bodies make more than {MAX_STEPS} steps"),
        }
    }
}

/// A graph that is being run.
struct Frame {
    graph: GraphId,
    /// The op that starts next.
    next: usize,
    /// The op that is running now: the op, the step at which it started, and how many of its bodies have been entered.
    /// `None` between two ops.
    within: Option<(OpId, u64, usize)>,
}

impl Timeline {
    /// Runs through a model and gives each op its step.
    pub fn new(model: &Model) -> Result<Timeline, TimelineError> {
        let mut timeline = Timeline::default();
        if model.graphs.is_empty() {
            return Ok(timeline);
        }
        // The graphs that are being run, the innermost last. There is a stack instead of recursion, because bodies
        // may be nested deeper than the program's stack allows.
        let mut frames = Vec::new();
        timeline.enter(model, GraphId::from_index(0), &mut frames)?;
        while let Some(frame) = frames.last_mut() {
            let graph = frame.graph;
            let ops = &model.graphs[graph].ops;
            // An op of this graph is running: its next body begins, or, if there is none, the op ends.
            if let Some((op, start, run)) = frame.within {
                match ops[op].bodies.get(run) {
                    Some(&body) => {
                        frame.within = Some((op, start, run + 1));
                        timeline.enter(model, body, &mut frames)?;
                    }
                    None => {
                        frame.within = None;
                        timeline.ticks.push(Tick::End { graph, op, start, step: timeline.last });
                    }
                }
                continue;
            }
            // All ops of this graph have run.
            if frame.next == ops.len() {
                timeline.ticks.push(Tick::Leave { graph, step: timeline.last });
                frames.pop();
                continue;
            }
            let op = OpId::from_index(frame.next);
            frame.next += 1;
            // The next op starts, at a step of its own.
            timeline.last += 1;
            if timeline.last > MAX_STEPS {
                return Err(TimelineError::TooLong);
            }
            timeline.ticks.push(Tick::Start { graph, op, step: timeline.last });
            frame.within = Some((op, timeline.last, 0));
        }
        Ok(timeline)
    }

    /// Begins to run a graph: puts it on the stack `frames`. Errors: there is no such graph; the graph is running
    /// already, so that the run would never end; the model has too many steps.
    fn enter(&mut self, model: &Model, graph: GraphId, frames: &mut Vec<Frame>) -> Result<(), TimelineError> {
        if frames.iter().any(|frame| frame.graph == graph) {
            return Err(TimelineError::Recursion(graph));
        }
        if model.graphs.get(graph).is_none() {
            return Err(TimelineError::NoGraph(graph));
        }
        // The caller checks the number of steps when an op starts. Bodies without ops take steps as well, so it is
        // checked here, too: a step has at most four ticks (enter, start, end, leave), so a list of more than four
        // ticks for each permitted step has too many steps.
        if self.ticks.len() as u64 > 4 * MAX_STEPS {
            return Err(TimelineError::TooLong);
        }
        // The inputs of a body are written at a step of their own; those of the main graph at step 0.
        self.last += u64::from(!frames.is_empty());
        self.ticks.push(Tick::Enter { graph, step: self.last });
        frames.push(Frame { graph, next: 0, within: None });
        Ok(())
    }

    /// The op that starts at each step, from step 1 on.
    pub fn starts(&self) -> impl Iterator<Item = (u64, GraphId, OpId)> + '_ {
        self.ticks.iter().filter_map(|tick| match *tick {
            Tick::Start { graph, op, step } => Some((step, graph, op)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, Op};
    use super::*;

    fn graph(bodies: &[&[usize]]) -> Graph {
        let op = |graphs: &&[usize]| Op {
            bodies: graphs.iter().map(|&graph| GraphId::from_index(graph)).collect(),
            ..Op::default()
        };
        Graph { ops: bodies.iter().map(op).collect(), ..Graph::default() }
    }

    #[test]
    fn bodies_run_inside_their_op() {
        let graphs = [graph(&[&[], &[1, 1], &[]]), graph(&[&[]])].into_iter().collect();
        let timeline = Timeline::new(&Model { graphs, ..Model::default() }).unwrap();
        let starts: Vec<(u64, usize)> = timeline.starts().map(|(step, graph, _)| (step, graph.index())).collect();
        assert_eq!(starts, [(1, 0), (2, 0), (4, 1), (6, 1), (7, 0)]);
        let end = timeline.ticks.iter().find(|tick| matches!(tick, Tick::End { start: 2, .. }));
        assert!(matches!(end, Some(Tick::End { step: 6, .. })));
    }

    #[test]
    fn endless_models_are_refused() {
        let model = |graphs: Vec<Graph>| Model { graphs: graphs.into_iter().collect(), ..Model::default() };
        let own = Timeline::new(&model(vec![graph(&[&[0]])])).unwrap_err();
        assert_eq!(own, TimelineError::Recursion(GraphId::from_index(0)));
        assert!(Timeline::new(&model(vec![graph(&[&[7]])])).is_err());
        let deep: Vec<Graph> =
            (0..40).map(|n| if n < 39 { graph(&[&[n + 1, n + 1]]) } else { graph(&[&[]]) }).collect();
        assert_eq!(Timeline::new(&model(deep)).unwrap_err(), TimelineError::TooLong);
    }
}
