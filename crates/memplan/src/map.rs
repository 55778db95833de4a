//! Memory maps: a plan as a picture.
//!
//! Time runs across, addresses go up, every buffer is a rectangle: as wide as
//! its life, as high as its size, at its offset. Two rectangles that touch
//! without overlapping share memory well; white space under the extent is
//! waste.
//!
//! The steps from a plan to a picture:
//! 1. [`scene`] turns problem and plan into shapes in steps and bytes, without
//!    any idea of paper; `occupancy` adds up the bytes in use over time;
//! 2. `svg` puts the shapes on paper; `label` decides what text fits where;
//! 3. `page` writes the shapes as data into a self-contained HTML file, whose
//!    script draws them, explains them and compares plans;
//! 4. `terminal` draws with characters.
//!
//! Pictures depend on nothing but their input: the same plan gives the same
//! bytes, on any machine.

mod label;
mod occupancy;
mod page;
mod scale;
pub mod scene;
mod svg;
mod terminal;

use memplan_core::{BufferId, Bytes, IndexVec, Outcome, Plan, Problem, Span, Stop};

use crate::front_end::Planned;
use crate::network::Network;
use crate::trade_off::Point;
use crate::wording::{count, sized};
use scene::Scene;
pub use terminal::Window;

/// What a picture says about itself in words.
#[derive(Clone, Debug, Default)]
pub struct Caption {
    /// The heading: usually the name of the input.
    pub title: String,
    /// Facts under the heading, such as the strategy and the status.
    pub facts: Vec<String>,
}

impl Caption {
    /// A caption with a heading and the facts under it.
    pub fn new(title: impl Into<String>, facts: Vec<String>) -> Caption {
        Caption { title: title.into(), facts }
    }

    /// All facts on one line.
    fn subtitle(&self) -> String {
        self.facts.join(" · ")
    }
}

/// Something known about buffers that neither problem nor plan says, such as
/// the line of the source where each is allocated.
#[derive(Clone, Debug)]
pub struct Remark {
    /// What is known: `source`, `level`.
    pub what: String,
    /// A text for each buffer; `None` where there is none.
    pub of: IndexVec<BufferId, Option<String>>,
}

impl Remark {
    /// The line of a source in which each buffer is allocated, with its text: `kernel.mlir:12  %a = memref.alloc() …`.
    /// `name` is the file's, `spans` says where in `text` each buffer is allocated.
    pub fn source(name: &str, text: &str, spans: &IndexVec<BufferId, Span>) -> Remark {
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of = |span: &Span| {
            // Lines count from 1: the number of lines that begin at or before the span is the number of its line.
            let line = starts.partition_point(|&start| start <= span.range().start);
            let start = *starts.get(line.checked_sub(1)?)?;
            let excerpt: String = text.get(start..)?.lines().next()?.trim().chars().take(EXCERPT).collect();
            Some(format!("{name}:{line}  {excerpt}"))
        };
        Remark { what: "source".to_owned(), of: spans.iter().map(line_of).collect() }
    }
}

/// What the user may try if the plan is not known to be the best; `None` if it is, or if there is no plan.
pub fn advice(outcome: &Outcome) -> Option<String> {
    let Outcome::Feasible { plan, lower_bound, stop } = outcome else { return None };
    // How far the plan is above the bound, in bytes and in per cent of the bound.
    let over = plan.extent().0.saturating_sub(lower_bound.0);
    let share = 100.0 * over as f64 / lower_bound.0.max(1) as f64;
    let next = match stop {
        Stop::Finished => "the strategy auto searches on",
        Stop::WorkLimit => "--effort thorough searches longer",
        Stop::TimeLimit => "a longer time limit, or none, searches on",
        Stop::Interrupted => "the search was interrupted; let it go on",
    };
    let why = "memplan explain names the buffers that stand in the way";
    Some(format!(
        "A plan may exist that needs up to {} ({share:.1} %) less. What to try: {next}; {why}.",
        sized(Bytes(over))
    ))
}

/// Characters of a source line that are shown.
const EXCERPT: usize = 120;

/// A plan ready to be drawn.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    /// What was planned.
    problem: &'a Problem,
    /// The plan.
    plan: &'a Plan,
    /// Its shapes, in steps and bytes.
    scene: Scene,
    /// What the picture says in words.
    caption: Caption,
    /// What else is known about the buffers.
    remarks: Vec<Remark>,
    /// What the axis of time counts.
    steps: Steps,
    /// What the user may try next.
    advice: Option<String>,
    /// What is wrong with the plan.
    violations: Vec<String>,
    /// What other capacities would cost.
    trade_off: Option<Vec<Point>>,
}

/// What the axis of time counts.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// What one step is: `an op of the network, in the order of execution`. Empty if nobody knows.
    pub what: String,
    /// What runs at some of them: a step and a text.
    pub names: Vec<(u64, String)>,
}

impl<'a> Map<'a> {
    /// Lays out a plan. The plan need not be right: a wrong one shows its overlaps.
    pub fn new(problem: &'a Problem, plan: &'a Plan, caption: Caption) -> Map<'a> {
        let mut caption = caption;
        let buffers = count(problem.buffers().len(), "buffer");
        caption.facts.insert(0, format!("{buffers}, extent {}", sized(plan.extent())));
        let scene = Scene::of(problem, plan);
        Map {
            problem,
            plan,
            scene,
            caption,
            remarks: Vec::new(),
            steps: Steps::default(),
            advice: None,
            violations: Vec::new(),
            trade_off: None,
        }
    }

    /// The map of what was planned, with everything that is known about it; `None` if there is no plan.
    pub fn of(planned: &'a Planned, title: &str) -> Option<Map<'a>> {
        let facts = vec![format!("strategy {}", planned.strategy), planned.outcome.status().to_owned()];
        let mut map = Map::new(&planned.problem, planned.outcome.plan()?, Caption::new(title, facts));
        map = map.with_advice(advice(&planned.outcome));
        Some(map.with_origin(planned.network.as_deref(), !planned.spans.is_empty()))
    }

    /// The same map with what is known about the input: the ops of a network and the notes about its tensors, or that
    /// steps are places in a program.
    #[must_use]
    pub fn with_origin(mut self, network: Option<&Network>, is_program: bool) -> Map<'a> {
        if let Some(network) = network {
            self.remarks.extend(network.remarks());
            let what = "an op of the network, in the order of execution; before the first, the inputs are written";
            self.steps = Steps { what: what.to_owned(), names: network.step_names() };
        } else if is_program {
            self.steps.what = "a place in the program, counted in the order of its text".to_owned();
        }
        self
    }

    /// The same map with something more to say about its buffers.
    #[must_use]
    pub fn with_remark(mut self, remark: Remark) -> Map<'a> {
        self.remarks.push(remark);
        self
    }

    /// The same map with a sentence about what to do next.
    #[must_use]
    pub fn with_advice(mut self, advice: Option<String>) -> Map<'a> {
        self.advice = advice;
        self
    }

    /// The same map with a list of what is wrong with the plan.
    #[must_use]
    pub fn with_violations(mut self, violations: Vec<String>) -> Map<'a> {
        self.violations = violations;
        self
    }

    /// The same map with what other capacities would cost; the page draws it.
    #[must_use]
    pub fn with_trade_off(mut self, points: Vec<Point>) -> Map<'a> {
        self.trade_off = Some(points);
        self
    }

    /// The picture as an SVG document, on white.
    pub fn svg(&self) -> String {
        svg::document(self.problem, &self.scene, &self.caption, &self.plan.reused)
    }

    /// The picture in characters, no larger than a window.
    pub fn terminal(&self, window: Window) -> String {
        terminal::draw(self.problem, &self.scene, &self.caption, window)
    }

    /// The picture as a self-contained HTML page, light or dark.
    pub fn html(&self) -> String {
        page::document(std::slice::from_ref(self))
    }

    /// Several plans of one problem in one HTML page, to compare them side by
    /// side. The title and what is said about buffers come from the first.
    pub fn html_of(maps: &[Map]) -> String {
        page::document(maps)
    }
}

#[cfg(test)]
mod tests;
