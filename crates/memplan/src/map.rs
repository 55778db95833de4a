//! Memory maps: a plan as a picture.
//!
//! Time runs across, addresses go up, every buffer is a rectangle: as wide as
//! its life, as high as its size, at its offset. Two rectangles that touch
//! without overlapping share memory well; white space under the extent is
//! waste.
//!
//! The steps from a plan to a picture:
//! 1. [`scene`] turns problem and plan into shapes in steps and bytes, without
//!    any idea of paper;
//! 2. `svg` puts the shapes on paper; `label` decides what text fits where;
//! 3. `page` wraps the SVG into a self-contained HTML file with a summary, the
//!    buffers alive at the peak, and details on hover.
//!
//! Pictures depend on nothing but their input: the same plan gives the same
//! bytes, on any machine.

mod label;
mod page;
mod scale;
pub mod scene;
mod svg;

use memplan_core::{Plan, Problem, Reuse};

use crate::wording::{count, sized};
use scene::Scene;

/// What a picture says about itself in words.
#[derive(Clone, Debug, Default)]
pub struct Caption {
    /// The heading: usually the name of the input.
    pub title: String,
    /// Facts under the heading, such as the strategy and the status.
    pub facts: Vec<String>,
    /// In-place reuses, to name the victims.
    reused: Vec<Reuse>,
}

impl Caption {
    /// A caption with a heading and the facts under it.
    pub fn new(title: impl Into<String>, facts: Vec<String>) -> Caption {
        Caption { title: title.into(), facts, reused: Vec::new() }
    }

    fn subtitle(&self) -> String {
        self.facts.join(" · ")
    }
}

/// A plan ready to be drawn.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    problem: &'a Problem,
    scene: Scene,
    caption: Caption,
}

impl<'a> Map<'a> {
    /// Lays out a plan. The plan need not be right: a wrong one shows its overlaps.
    pub fn new(problem: &'a Problem, plan: &Plan, caption: Caption) -> Map<'a> {
        let mut caption = caption;
        caption.reused.clone_from(&plan.reused);
        let buffers = count(problem.buffers().len(), "buffer");
        caption.facts.insert(0, format!("{buffers}, extent {}", sized(plan.extent())));
        Map { problem, scene: Scene::of(problem, plan), caption }
    }

    /// The picture as an SVG document, on white.
    pub fn svg(&self) -> String {
        svg::document(self.problem, &self.scene, &self.caption)
    }

    /// The picture as a self-contained HTML page, light or dark.
    pub fn html(&self) -> String {
        page::document(self.problem, &self.scene, &self.caption)
    }
}

#[cfg(test)]
mod tests;
