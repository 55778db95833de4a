//! The scene as SVG: one panel for each space, time across, address up.
//!
//! The drawing is a function of the scene and nothing else, so the same plan
//! gives the same bytes. Every name goes through [`escape`].
//!
//! A `Scene` has a `Panel` for each space, and a panel has the `Shape`s to draw in it: rectangles of steps and
//! bytes. A `Scale` says where a step or a byte lies on the paper. In SVG, y grows downwards, so higher addresses
//! have smaller y.

use std::collections::BTreeMap;
use std::fmt::Write;

use memplan_core::{BufferId, Bytes, GroupId, Id, Problem, Reuse, Step};

use super::Caption;
use super::label::{self, Label, escape};
use super::scale::{Scale, byte_label};
use super::scene::{Handover, Kind, Panel, Scene, Shape};
use crate::wording::{Unit, count, sized};

/// Distinct fills; `style.css` gives them their colours.
const FILLS: usize = 8;

/// Width of a picture of few shapes. This and all lengths below are in user units of SVG, which are pixels at normal
/// size.
const WIDTH: f64 = 1200.0;
/// Up to this many shapes fit onto the usual page. More shapes need larger paper, because text does not
/// shrink.
const FEW_SHAPES: f64 = 200.0;
/// The largest paper, as a multiple of the usual one.
const LARGEST_PAPER: f64 = 2.5;
/// Room for the labels of the byte axis.
const LEFT: f64 = 78.0;
/// Room for the names of the horizontal lines.
const RIGHT: f64 = 168.0;
/// Room for the heading.
const TOP: f64 = 50.0;
/// Height of the address axis if there is one panel.
const SINGLE_PANEL: f64 = 460.0;
/// Height of each address axis if several panels share the page.
const SHARED_PANEL: f64 = 300.0;
/// Room above a panel for the names of the space and of the peak.
const PANEL_TITLE: f64 = 40.0;
/// Height of the strip under a panel that shows the live bytes over time.
const STRIP: f64 = 64.0;
/// Room between a panel and its strip.
const STRIP_GAP: f64 = 10.0;
/// Room under a strip for the labels of the steps.
const AXIS: f64 = 46.0;
/// Room for the line of notes at the bottom.
const FOOTER: f64 = 30.0;

/// A picture with more shapes than this leaves out the smallest and says so.
const MOST_SHAPES: usize = 20_000;

/// At most this many priced reuses are drawn, those with the largest prices; more would be a red surface.
const MOST_HANDOVERS: usize = 2_000;

/// Colours and line styles.
const STYLE: &str = include_str!("style.css");

/// A complete SVG document. `reused` are the plan's in-place reuses.
pub(super) fn document(problem: &Problem, scene: &Scene, caption: &Caption, reused: &[Reuse]) -> String {
    let mut scene = scene.clone();
    // A copy of the scene, from which the smallest shapes are taken if there are too many.
    let left_out = leave_out_smallest(&mut scene.panels, MOST_SHAPES);
    let paper = paper_for(scene.panels.iter().map(|panel| panel.shapes.len()).sum());
    let plot = (WIDTH - LEFT - RIGHT) * paper;
    let time = Scale::new(scene.first, scene.last, LEFT, LEFT + plot);
    let right = LEFT + plot;
    Drawing { problem, scene: &scene, caption, reused, time, paper, right, left_out, out: String::new() }.draw()
}

/// How many times wider and higher than usual the plots are, for a number of shapes: from 1 to [`LARGEST_PAPER`], in
/// quarters. The square root makes the area grow with the number of shapes.
fn paper_for(shapes: usize) -> f64 {
    let wanted = (shapes as f64 / FEW_SHAPES).sqrt();
    ((wanted * 4.0).floor() / 4.0).clamp(1.0, LARGEST_PAPER)
}

/// A picture that is being drawn.
struct Drawing<'a> {
    /// The buffers, for their names and sizes.
    problem: &'a Problem,
    /// What there is to draw.
    scene: &'a Scene,
    /// The words of the heading.
    caption: &'a Caption,
    /// In-place reuses, to name the victims.
    reused: &'a [Reuse],
    /// Where each step lies, from left to right.
    time: Scale,
    /// How many times wider and higher than usual the plots are ([`paper_for`]).
    paper: f64,
    /// Where the plots end.
    right: f64,
    /// Shapes left out because there are too many.
    left_out: usize,
    /// The document so far.
    out: String,
}

/// Vertical layout of one panel: the upper and lower edge of its plot, and where a byte lies between them.
struct Frame {
    /// The upper edge of the plot.
    top: f64,
    /// Its lower edge.
    bottom: f64,
    /// Where each byte lies between them.
    address: Scale,
}

impl Drawing<'_> {
    /// Draws the heading, the spaces one below the other, and the footer.
    fn draw(mut self) -> String {
        let panel_height = self.paper * if self.scene.panels.len() > 1 { SHARED_PANEL } else { SINGLE_PANEL };
        // How far the tops of two neighbouring panels lie apart.
        let pitch = PANEL_TITLE + panel_height + STRIP_GAP + STRIP + AXIS;
        let height = TOP + pitch * self.scene.panels.len() as f64 + FOOTER;
        self.open(height);
        self.heading();
        for (index, panel) in self.scene.panels.iter().enumerate() {
            let top = TOP + pitch * index as f64 + PANEL_TITLE;
            self.panel(panel, top, panel_height);
        }
        self.footer(height);
        self.out.push_str("</svg>\n");
        self.out
    }

    /// The beginning of the picture: its size, its style, and the pattern of bytes that are taken over in place.
    fn open(&mut self, height: f64) {
        let title = escape(&self.caption.title);
        let (width, height) = (px(self.right + RIGHT), px(height));
        self.line(&format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="memplan" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="Memory map of {title}">"#
        ));
        self.line(&format!("<style>\n{STYLE}</style>"));
        self.line(concat!(
            r#"<defs><pattern id="memplan-taken" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">"#,
            r#"<rect class="hatch" width="2" height="6"/></pattern></defs>"#
        ));
        self.line(&format!(r#"<rect class="paper" width="{width}" height="{height}"/>"#));
    }

    /// The title and, below it, the facts about the plan.
    fn heading(&mut self) {
        self.text("title", LEFT, 26.0, "start", &self.caption.title);
        self.text("subtitle", LEFT, 46.0, "start", &self.caption.subtitle());
    }

    /// Draws one space, with its plot from `top` on, `height` high, and the strip of live bytes under it. What is drawn
    /// later lies on top: the grid and the band of the peak lie under the shapes, which they must not cover, and lines
    /// and marks lie over them.
    fn panel(&mut self, panel: &Panel, top: f64, height: f64) {
        let frame = Frame::of(panel, top, height);
        // The only space of a plan needs no name. The name stands one line above that of the peak ([`Self::peak`]).
        if self.scene.panels.len() > 1 {
            self.text("space", LEFT, top - 21.0, "start", &format!("space {}", panel.name));
        }
        self.grid(&frame);
        self.peak(panel, &frame);
        self.shapes(panel, &frame);
        self.ties(panel, &frame);
        self.object_edges(panel, &frame);
        self.handovers(panel, &frame);
        self.bounds(panel, &frame);
        self.strip(panel, frame.bottom + STRIP_GAP);
    }

    /// Byte ticks with their lines, and the frame.
    fn grid(&mut self, frame: &Frame) {
        let (left, right) = (px(LEFT), px(self.right));
        for tick in frame.address.binary_ticks((8.0 * self.paper) as u64) {
            let y = frame.address.at(tick);
            self.line(&format!(r#"<path class="grid" d="M{left} {y}H{right}"/>"#, y = px(y)));
            self.text("tick", LEFT - 7.0, y + 4.0, "end", &byte_label(tick, self.scene.unit));
        }
        let (top, width, height) = (px(frame.top), px(self.right - LEFT), px(frame.bottom - frame.top));
        self.line(&format!(r#"<rect class="frame" x="{left}" y="{top}" width="{width}" height="{height}"/>"#));
    }

    /// A band over the step where most bytes are alive, from the plot down through the strip of live bytes, with its
    /// name above. Nothing if no byte is ever alive.
    fn peak(&mut self, panel: &Panel, frame: &Frame) {
        let Some(step) = panel.peak.step else { return };
        let (x, width) = self.band(step);
        let bottom = frame.bottom + STRIP_GAP + STRIP;
        self.line(&format!(
            r#"<rect class="peak" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>"#,
            px(x),
            px(frame.top),
            px(width),
            px(bottom - frame.top),
            escape(&format!("peak: {} alive at step {step}", sized(panel.peak.bytes))),
        ));
        // In the right half of the picture the name ends at the band instead of starting there, to stay inside.
        let anchor = if x > self.right / 2.0 { "end" } else { "start" };
        let at = if anchor == "end" { x + width } else { x };
        self.text("peak-name", at, frame.top - 5.0, anchor, &format!("peak at step {step}"));
    }

    /// Left edge and width of one step. At least 1.5 wide, to be seen, and moved left where that would leave the plot.
    fn band(&self, step: Step) -> (f64, f64) {
        let (start, end) = (self.time.at(step.0), self.time.at(step.0.saturating_add(1)));
        let width = (end - start).max(1.5);
        (start.min(self.right - width), width)
    }

    /// Draws the shapes of a space, bottom layer first. A name is drawn right after its shape, so that whatever lies on
    /// top covers both.
    fn shapes(&mut self, panel: &Panel, frame: &Frame) {
        let named = named(&panel.shapes);
        for (index, shape) in panel.shapes.iter().enumerate() {
            self.shape(shape, frame);
            if named.binary_search(&index).is_ok() {
                self.name(shape, frame);
            }
        }
    }

    /// Writes the buffer's name, its slot if it has several, and its size into a shape, as far as they fit.
    fn name(&mut self, shape: &Shape, frame: &Frame) {
        let (x, y, width, height) = self.rectangle(shape, frame);
        let buffer = &self.problem.buffers()[shape.buffer];
        let size = buffer.size.volume().map(|size| byte_label(size.0, self.scene.unit));
        let copy = if buffer.slots > 1 { format!(" · slot {}", shape.slot) } else { String::new() };
        if let Some(label) = Label::fit(&format!("{}{copy}", buffer.name), size.as_deref(), width, height) {
            self.label(&label, x + width / 2.0, y + height / 2.0);
        }
    }

    /// One rectangle, with a text that is shown on hovering.
    fn shape(&mut self, shape: &Shape, frame: &Frame) {
        let (x, y, width, height) = self.rectangle(shape, frame);
        let class = match shape.kind {
            Kind::Idle => "idle".to_owned(),
            Kind::Taken => "taken".to_owned(),
            // An outline would hide a shape this thin.
            Kind::Alive if width.min(height) < 2.0 => format!("b thin f{}", shape.buffer.index() % FILLS),
            Kind::Alive => format!("b f{}", shape.buffer.index() % FILLS),
        };
        // A thinner rectangle would not be seen at all.
        let (x, y, width, height) = (px(x), px(y), px(width.max(0.4)), px(height.max(0.4)));
        let (buffer, title) = (shape.buffer.index(), escape(&self.describe(shape)));
        self.line(&format!(
            r#"<rect class="{class}" data-buffer="{buffer}" x="{x}" y="{y}" width="{width}" height="{height}"><title>{title}</title></rect>"#
        ));
    }

    /// Left, top, width, height on the paper.
    fn rectangle(&self, shape: &Shape, frame: &Frame) -> (f64, f64, f64, f64) {
        let (left, right) = (self.time.at(shape.start), self.time.at(shape.end));
        let (top, bottom) = (frame.address.at(shape.high), frame.address.at(shape.low));
        (left, top, right - left, bottom - top)
    }

    /// The text that is shown on hovering over a shape, one fact a line.
    fn describe(&self, shape: &Shape) -> String {
        let buffer = &self.problem.buffers()[shape.buffer];
        let mut text = buffer.name.to_string();
        if let Some(size) = buffer.bytes() {
            let _ = write!(text, "\nsize {}", sized(size));
        }
        let slot = if buffer.slots > 1 { format!("slot {} at ", shape.slot) } else { String::new() };
        let _ = write!(text, "\n{slot}bytes {}..{}", shape.low, shape.high);
        let _ = write!(text, "\nsteps {}..{}", shape.start, shape.end);
        match shape.kind {
            Kind::Idle => text.push_str("\nreserved, not in use here"),
            Kind::Taken => {
                let _ = write!(text, "\nin place over {}", self.victims(shape.buffer));
            }
            Kind::Alive => {}
        }
        if let Some(tie) = buffer.tie() {
            let _ = write!(text, "\ntied to {} at {}", self.problem.groups()[tie.group], tie.at);
        }
        text
    }

    /// The names of the buffers on whose bytes a buffer starts in place.
    fn victims(&self, buffer: BufferId) -> String {
        let over = self.reused.iter().filter(|reuse| reuse.buffer == buffer).flat_map(|reuse| &reuse.over);
        let names: Vec<&str> = over.map(|&victim| self.problem.buffers()[victim].name.as_str()).collect();
        names.join(", ")
    }

    /// Writes the lines of a name around a point, upright in a shape that is narrow and tall.
    fn label(&mut self, label: &Label, x: f64, y: f64) {
        let turn =
            if label.upright { format!(r#" transform="rotate(-90 {} {})""#, px(x), px(y)) } else { String::new() };
        // The baseline of the first line. The lines are centred around `y`; a baseline lies about a third of a line
        // below the middle of its line.
        let first = y - label::LINE * (label.lines.len() as f64 - 1.0) / 2.0 + label::LINE * 0.32;
        let _ = write!(self.out, r#"<text class="name"{turn}>"#);
        for (index, text) in label.lines.iter().enumerate() {
            let baseline = px(first + label::LINE * index as f64);
            let _ = write!(self.out, r#"<tspan x="{}" y="{baseline}">{}</tspan>"#, px(x), escape(text));
        }
        self.out.push_str("</text>\n");
    }

    /// A frame around buffers that are tied to each other.
    fn ties(&mut self, panel: &Panel, frame: &Frame) {
        for (group, span) in tied(self.problem, panel) {
            let (x, y, width, height) = self.rectangle(&span, frame);
            let title = escape(&format!("tied together: {}", self.problem.groups()[group]));
            self.line(&format!(
                r#"<rect class="tied" x="{}" y="{}" width="{}" height="{}"><title>{title}</title></rect>"#,
                px(x - 1.5),
                px(y - 1.5),
                px(width + 3.0),
                px(height + 3.0)
            ));
        }
    }

    /// Draws the lines between shared objects. An edge close to the last one drawn is left out: many lines side by side
    /// would make a grey area.
    fn object_edges(&mut self, panel: &Panel, frame: &Frame) {
        // Edges ascend, so `y` goes down. The edge at byte 0 is the frame's, and is left out by the same test.
        let mut last = frame.bottom;
        for &edge in &panel.object_edges {
            let y = frame.address.at(edge);
            if last - y >= 4.0 {
                self.line(&format!(r#"<path class="object" d="M{} {}H{}"/>"#, px(LEFT), px(y), px(self.right)));
                last = y;
            }
        }
    }

    /// Draws reuse that costs something: an upright bar over the common bytes where the later buffer begins, and a
    /// horizontal line to it from where the earlier buffer ends.
    fn handovers(&mut self, panel: &Panel, frame: &Frame) {
        let mut drawn: Vec<&Handover> = panel.handovers.iter().collect();
        drawn.sort_by_key(|handover| std::cmp::Reverse(handover.weight));
        drawn.truncate(MOST_HANDOVERS);
        for handover in drawn {
            let (from, to) = (self.time.at(handover.from), self.time.at(handover.to));
            let (top, bottom) = (frame.address.at(handover.high), frame.address.at(handover.low));
            let name = |buffer: BufferId| &self.problem.buffers()[buffer].name;
            let (later, earlier) = (name(handover.later), name(handover.earlier));
            let title = escape(&format!("{later} reuses bytes of {earlier}: costs {}", handover.weight));
            let (x, middle) = (px(to), px((top + bottom) / 2.0));
            self.line(&format!(
                r#"<path class="handover" d="M{} {middle}H{x}M{x} {}V{}"><title>{title}</title></path>"#,
                px(from),
                px(top + 1.0),
                // The bar stays inside of the common bytes, but is at least one unit high.
                px((bottom - 1.0).max(top + 2.0))
            ));
        }
    }

    /// The horizontal lines of a space: the plan's extent, the lower bound and the capacity, each with its name and
    /// bytes. A line above the drawing is only named, with an arrow.
    fn bounds(&mut self, panel: &Panel, frame: &Frame) {
        // The baseline of the last name written. The lines come from low to high, so names move up the page.
        let mut free_below = f64::INFINITY;
        for (class, name, bytes) in lines_of(panel) {
            let beyond = bytes.0 > frame.address.highest();
            let y = frame.address.at(bytes.0);
            if !beyond {
                let (left, right) = (px(LEFT), px(self.right + 6.0));
                self.line(&format!(r#"<path class="{class}" d="M{left} {y}H{right}"/>"#, y = px(y)));
            }
            // A name and its bytes are two lines of text, 28 units. Where two lines of the picture lie closer
            // together, the upper one's name is pushed up.
            let at = (y + 4.0).min(free_below - 28.0);
            free_below = at;
            let arrow = if beyond { " ↑" } else { "" };
            self.text(&format!("{class}-name"), self.right + 10.0, at - 7.0, "start", &name);
            self.text(
                &format!("{class}-name"),
                self.right + 10.0,
                at + 6.0,
                "start",
                &format!("{}{arrow}", self.scene.unit.amount(bytes)),
            );
        }
    }

    /// Live bytes over time as a filled outline of stairs, and under it the axis of the steps. `top` is where the strip
    /// begins.
    fn strip(&mut self, panel: &Panel, top: f64) {
        // The outline starts at the lower left corner, goes across to each change and up or down there, and closes
        // along the bottom.
        let bottom = top + STRIP;
        let live = Scale::new(0, panel.peak.bytes.0, bottom, top + 4.0);
        let mut path = format!("M{} {}", px(self.time.at(self.scene.first)), px(bottom));
        for &(step, bytes) in &panel.live {
            let _ = write!(path, "H{}V{}", px(self.time.at(step.0)), px(live.at(bytes.0)));
        }
        let _ = write!(path, "H{}V{}Z", px(self.time.at(self.scene.last)), px(bottom));
        self.line(&format!(r#"<path class="live" d="{path}"/>"#));
        // What the strip shows, at its right; then the axis of steps with its ticks.
        let in_use = match self.scene.unit {
            Unit::Bytes => "bytes in use",
            Unit::Elements => "elements in use",
        };
        self.text("live-name", self.right + 10.0, top + 14.0, "start", in_use);
        let peak = self.scene.unit.amount(panel.peak.bytes);
        self.text("live-name", self.right + 10.0, top + 28.0, "start", &format!("peak {peak}"));
        self.line(&format!(r#"<path class="axis" d="M{} {}H{}"/>"#, px(LEFT), px(bottom), px(self.right)));
        for tick in self.time.decimal_ticks((12.0 * self.paper) as u64) {
            let x = self.time.at(tick);
            self.line(&format!(r#"<path class="axis" d="M{} {}v4"/>"#, px(x), px(bottom)));
            self.text("tick", x, bottom + 17.0, "middle", &tick.to_string());
        }
        self.text("tick", self.right + 24.0, bottom + 17.0, "start", "step");
    }

    /// Writes a line at the bottom of a picture of this `height`: what its patterns mean and what is not drawn.
    fn footer(&mut self, height: f64) {
        // Only what the picture shows is explained: a legend of things that are not there is noise.
        let mut notes = Vec::new();
        if self.scene.has(Kind::Idle) {
            notes.push("dashed: reserved, but not in use at that time".to_owned());
        }
        if self.scene.has(Kind::Taken) {
            notes.push("hatched: taken over in place".to_owned());
        }
        if self.scene.panels.iter().any(|panel| !tied(self.problem, panel).is_empty()) {
            notes.push("framed: tied together".to_owned());
        }
        if self.scene.panels.iter().any(|panel| panel.object_edges.len() > 1) {
            notes.push("dotted: edges of shared objects".to_owned());
        }
        let priced: usize = self.scene.panels.iter().map(|panel| panel.handovers.len()).sum();
        if priced > 0 {
            notes.push(format!("red bars: {} that cost something", count(priced, "reuse")));
        }
        if self.scene.without_area > 0 {
            notes.push(format!("{} without bytes or life, not drawn", count(self.scene.without_area, "buffer")));
        }
        if self.left_out > 0 {
            notes.push(format!("the {} smallest rectangles are not drawn", self.left_out));
        }
        self.text("note", LEFT, height - 14.0, "start", &notes.join(" · "));
    }

    /// Writes a text at a point, escaped. `anchor` says which part of the text lies there: `start`, `middle` or `end`.
    fn text(&mut self, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
        if !text.is_empty() {
            let (x, y, text) = (px(x), px(y), escape(text));
            self.line(&format!(r#"<text class="{class}" x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>"#));
        }
    }

    /// Adds a line to the document.
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }
}

impl Frame {
    /// Lays out the plot of a space from `top` downwards. Its address axis reaches a little (1/40) above the extent,
    /// the lower bound and the capacity. A capacity of more than one and a half times the others would squeeze the
    /// shapes, so the axis ends below it, and [`Drawing::bounds`] only names it.
    fn of(panel: &Panel, top: f64, height: f64) -> Frame {
        let needed = panel.extent.max(panel.lower_bound).0;
        let in_sight = |capacity: &Bytes| capacity.0 <= needed.saturating_add(needed / 2);
        let highest = needed.max(panel.capacity.filter(in_sight).unwrap_or_default().0);
        let margin = highest.saturating_add(highest / 40);
        let bottom = top + height;
        Frame { top, bottom, address: Scale::new(0, margin, bottom, top) }
    }
}

/// The horizontal lines from low to high: class in `style.css`, name, bytes. Lines that
/// coincide become one with both names: `extent = lower bound`.
fn lines_of(panel: &Panel) -> Vec<(&'static str, String, Bytes)> {
    let mut lines = vec![("lower", "lower bound".to_owned(), panel.lower_bound)];
    // A bound counts the buffers that can live in this space only. Where there are none it is zero and gets no line.
    lines.retain(|line| line.2 > Bytes::ZERO);
    let others = [("extent", Some(panel.extent)), ("capacity", panel.capacity)];
    for (name, bytes) in others.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))) {
        match lines.iter_mut().find(|line| line.2 == bytes) {
            Some(line) => line.1 = format!("{name} = {}", line.1),
            None => lines.push((name, name.to_owned(), bytes)),
        }
    }
    lines.sort_by_key(|line| line.2);
    lines
}

/// The smallest rectangle around each group of two or more tied buffers, as a shape of one of them.
fn tied(problem: &Problem, panel: &Panel) -> BTreeMap<GroupId, Shape> {
    // For each group, the rectangle so far and whether it holds a second buffer.
    let mut spans: BTreeMap<GroupId, (Shape, bool)> = BTreeMap::new();
    for shape in panel.shapes.iter().filter(|shape| shape.kind != Kind::Taken) {
        let Some(tie) = problem.buffers()[shape.buffer].tie() else { continue };
        let (span, has_others) = spans.entry(tie.group).or_insert((*shape, false));
        *has_others |= span.buffer != shape.buffer;
        (span.start, span.end) = (span.start.min(shape.start), span.end.max(shape.end));
        (span.low, span.high) = (span.low.min(shape.low), span.high.max(shape.high));
    }
    spans.into_iter().filter(|(_, (_, has_others))| *has_others).map(|(group, (span, _))| (group, span)).collect()
}

/// Positions, in order, of the shapes that carry a name: of each buffer and slot
/// the largest part alive.
fn named(shapes: &[Shape]) -> Vec<usize> {
    let mut alive: Vec<usize> = (0..shapes.len()).filter(|&index| shapes[index].kind == Kind::Alive).collect();
    let owner = |index: usize| (shapes[index].buffer, shapes[index].slot);
    // The largest shape of each slot comes first among its own, so that it is the one that stays.
    alive.sort_by_key(|&index| (owner(index), std::cmp::Reverse(shapes[index].area())));
    alive.dedup_by_key(|index| owner(*index));
    alive.sort_unstable();
    alive
}

/// Keeps the `most` largest shapes of all panels; returns how many are gone.
fn leave_out_smallest(panels: &mut [Panel], most: usize) -> usize {
    let mut areas: Vec<u128> = panels.iter().flat_map(|panel| &panel.shapes).map(Shape::area).collect();
    let before = areas.len();
    if before <= most {
        return 0;
    }
    areas.sort_unstable_by_key(|&area| std::cmp::Reverse(area));
    // All shapes larger than the last one that fits are drawn, and as many of its size as there is room for.
    let smallest_drawn = areas[most - 1];
    let mut room_for_equals = most - areas.partition_point(|&area| area > smallest_drawn);
    for panel in panels {
        panel.shapes.retain(|shape| match shape.area().cmp(&smallest_drawn) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal if room_for_equals > 0 => {
                room_for_equals -= 1;
                true
            }
            _ => false,
        });
    }
    before - most
}

/// A coordinate with at most two decimals.
fn px(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
