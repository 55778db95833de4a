//! What the pictures show, and that they show it safely.

use memplan_core::{
    Buffer, Bytes, Id, Interval, Lifetime, ObjectId, Overlay, OverlayKind, Placement, Plan, Problem, ProblemBuilder,
    Reuse, SharedObject, Size, Space, SpaceId, Tie,
};

use super::scene::{Kind, Scene};
use super::{Caption, Map, Remark, Window};

fn space(index: usize) -> SpaceId {
    SpaceId::from_index(index)
}

/// Places every buffer of the first space at the given offset.
fn plan_at(problem: &Problem, offsets: &[u64]) -> Plan {
    let mut plan = Plan::empty(problem);
    for (id, &offset) in problem.buffers().ids().zip(offsets) {
        plan.placements[id] = Some(Placement::at(space(0), Bytes(offset)));
    }
    plan.fit_extents(problem);
    plan
}

fn problem_of(buffers: impl IntoIterator<Item = Buffer>) -> Problem {
    let mut builder = ProblemBuilder::new();
    for buffer in buffers {
        builder.buffer(buffer);
    }
    builder.build().unwrap()
}

/// Kind, steps and bytes of every shape of the first panel.
fn shapes(scene: &Scene) -> Vec<(Kind, [u64; 2], [u64; 2])> {
    scene.panels[0].shapes.iter().map(|shape| (shape.kind, [shape.start, shape.end], [shape.low, shape.high])).collect()
}

fn svg(problem: &Problem, plan: &Plan) -> String {
    Map::new(problem, plan, Caption::new("test", vec![])).svg()
}

#[test]
fn gaps_and_windows_are_drawn_as_reserved() {
    let lifetime = [Interval::new(0, 2), Interval::with_window(4, 6, 8, 16)].into_iter().collect();
    let problem = problem_of([Buffer::new("a", 32, lifetime)]);
    let scene = Scene::of(&problem, &plan_at(&problem, &[100]));
    let expected = [
        (Kind::Idle, [2, 4], [100, 132]),
        (Kind::Idle, [4, 6], [116, 132]),
        (Kind::Idle, [4, 6], [100, 108]),
        (Kind::Alive, [0, 2], [100, 132]),
        (Kind::Alive, [4, 6], [108, 116]),
    ];
    assert_eq!(shapes(&scene), expected);
}

#[test]
fn every_slot_is_drawn() {
    let problem = problem_of([Buffer { slots: 2, ..Buffer::new("a", 32, Lifetime::new(0, 4)) }]);
    let mut plan = plan_at(&problem, &[0]);
    let placement = plan.placements.iter_mut().next().unwrap().as_mut().unwrap();
    placement.offsets.push(Bytes(64));
    plan.fit_extents(&problem);
    let scene = Scene::of(&problem, &plan);
    assert_eq!(shapes(&scene), [(Kind::Alive, [0, 4], [0, 32]), (Kind::Alive, [0, 4], [64, 96])]);
    assert!(svg(&problem, &plan).contains("slot 1 at bytes 64..96"));
    assert!(svg(&problem, &plan).contains(">a · slot 0<") && svg(&problem, &plan).contains(">a · slot 1<"));
}

#[test]
fn tied_buffers_have_a_frame() {
    let mut builder = ProblemBuilder::new();
    let group = builder.group("concat");
    let tie = |at| Some(Tie { group, at: Bytes(at) });
    let left = builder.buffer(Buffer::new("left", 32, Lifetime::new(0, 4)).with_tie(tie(0)));
    let right = builder.buffer(Buffer::new("right", 32, Lifetime::new(2, 6)).with_tie(tie(32)));
    let problem = builder.build().unwrap();
    let both = svg(&problem, &plan_at(&problem, &[64, 96]));
    assert_eq!(both.matches(r#"<rect class="tied""#).count(), 1);
    assert!(both.contains("tied together: concat") && both.contains("framed: tied together"));
    let mut alone = plan_at(&problem, &[64, 96]);
    alone.placements[right] = None;
    assert!(alone.placements[left].is_some() && !svg(&problem, &alone).contains("framed"), "one is no group");
}

#[test]
fn bytes_taken_over_in_place_are_marked() {
    let mut builder = ProblemBuilder::new();
    let victim = builder.buffer(Buffer::new("v", 64, Lifetime::new(0, 4)));
    let newcomer = builder.buffer(Buffer::new("w", 32, Lifetime::new(3, 6)));
    builder.overlay(Overlay { buffer: newcomer, over: victim, kind: OverlayKind::SameBase });
    let problem = builder.build().unwrap();
    let mut plan = plan_at(&problem, &[0, 0]);
    plan.reused.push(Reuse { buffer: newcomer, over: vec![victim] });
    assert_eq!(shapes(&Scene::of(&problem, &plan))[2], (Kind::Taken, [3, 4], [0, 32]));
    assert!(svg(&problem, &plan).contains("in place over v"));
    let live = &Scene::of(&problem, &plan).panels[0].live;
    assert_eq!(live.iter().map(|&(_, bytes)| bytes.0).collect::<Vec<_>>(), [64, 32, 0], "shared bytes count once");
}

#[test]
fn shared_objects_are_stacked() {
    let problem = problem_of((0..3).map(|i| Buffer::new(format!("{i}"), 16, Lifetime::new(i, i + 2))));
    let mut plan = Plan::empty(&problem);
    for size in [16, 24] {
        plan.objects.push(SharedObject { size: Size::Fixed(Bytes(size)), space: space(0) });
    }
    for (id, object) in problem.buffers().ids().zip([0, 1, 0]) {
        plan.placements[id] = Some(Placement::in_object(space(0), ObjectId::from_index(object)));
    }
    plan.fit_extents(&problem);
    let scene = Scene::of(&problem, &plan);
    let bytes: Vec<[u64; 2]> = shapes(&scene).iter().map(|&(_, _, bytes)| bytes).collect();
    assert_eq!(bytes, [[0, 16], [16, 32], [0, 16]]);
    assert_eq!((scene.panels[0].extent, scene.panels[0].lower_bound), (Bytes(40), Bytes(32)));
}

#[test]
fn one_panel_a_space_that_is_used() {
    let mut builder = ProblemBuilder::new();
    for name in ["ub", "l1", "unused"] {
        builder.space(Space { capacity: Some(Bytes(1 << 20)), ..Space::new(name) });
    }
    for (name, index) in [("a", 0), ("b", 1)] {
        let mut buffer = Buffer::new(name, 8, Lifetime::new(0, 2));
        buffer.spaces.push(space(index));
        builder.buffer(buffer);
    }
    let problem = builder.build().unwrap();
    let mut plan = plan_at(&problem, &[0, 0]);
    plan.placements.iter_mut().next_back().unwrap().as_mut().unwrap().space = space(1);
    plan.fit_extents(&problem);
    let picture = svg(&problem, &plan);
    assert!(picture.contains(">space ub<") && picture.contains(">space l1<") && !picture.contains("unused"));
    assert!(picture.contains("1.000 MiB ↑"), "a capacity far above the plan is only named");
}

#[test]
fn plans_that_make_no_sense_are_still_drawn() {
    let problem = problem_of([
        Buffer::new("zero", 0, Lifetime::new(0, 2)),
        Buffer::new("never", 8, Lifetime::default()),
        Buffer::new("far", 1 << 40, Lifetime::new(0, 1 << 60)),
    ]);
    let mut plan = plan_at(&problem, &[u64::MAX, u64::MAX, u64::MAX - 1]);
    assert!(svg(&problem, &plan).contains("2 buffers without bytes or life, not drawn"));
    plan = Plan::empty(&problem);
    assert!(svg(&problem, &plan).contains("3 buffers without bytes"));
    assert!(svg(&problem_of([]), &Plan::default()).contains("</svg>"));
}

#[test]
fn names_are_never_markup() {
    let evil = "</title></svg><script>alert(1)</script>\"'&\u{0}\u{1b}";
    let mut builder = ProblemBuilder::new();
    builder.space(Space::new(format!("space {evil}")));
    builder.space(Space::new("other"));
    let group = builder.group(evil);
    let tie = Some(memplan_core::Tie { group, at: Bytes(0) });
    builder.buffer(Buffer::new(evil, 1 << 20, Lifetime::new(0, 4)).with_tie(tie));
    let mut other = Buffer::new("other", 1, Lifetime::new(0, 4));
    other.spaces.push(space(1));
    builder.buffer(other);
    let problem = builder.build().unwrap();
    let mut plan = plan_at(&problem, &[0, 0]);
    plan.placements.iter_mut().next_back().unwrap().as_mut().unwrap().space = space(1);
    plan.fit_extents(&problem);
    let map = Map::new(&problem, &plan, Caption::new(evil, vec![evil.to_owned()]));
    for text in [map.svg(), map.html()] {
        assert!(!text.contains("alert(1)<") && !text.contains("<script>alert"), "{text}");
        assert!(!text.contains('\0') && !text.contains('\u{1b}'));
        assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
    }
    assert_eq!(map.html().matches("<script").count(), 2, "our data and our script");
    let window = Window { columns: 80, rows: 24, coloured: false };
    assert!(!map.terminal(window).contains(|c: char| c.is_control() && c != '\n'));
}

#[test]
fn a_page_loads_nothing() {
    let problem = problem_of([Buffer::new("a", 64, Lifetime::new(0, 2))]);
    let page = Map::new(&problem, &plan_at(&problem, &[0]), Caption::default()).html();
    // The name of SVG looks like an address, and nothing is loaded from there.
    let names = ["http-equiv", "http://www.w3.org/2000/svg\""].map(|name| page.matches(name).count());
    assert_eq!(page.matches("http").count(), names.iter().sum::<usize>());
    assert!(!page.contains("src=") && !page.contains("@import") && !page.contains("url(") && !page.contains("fetch("));
}

#[test]
fn huge_plans_leave_out_the_smallest_and_say_so() {
    let problem = problem_of((0..20_005u64).map(|i| Buffer::new(i.to_string(), 1 + i % 7, Lifetime::new(i, i + 1))));
    let plan = plan_at(&problem, &vec![0; 20_005]);
    let picture = svg(&problem, &plan);
    assert_eq!(picture.matches("data-buffer=").count(), 20_000);
    assert!(picture.contains("the 5 smallest rectangles are not drawn"));
}

#[test]
fn the_terminal_gets_what_fits() {
    let problem = problem_of([
        Buffer::new("a", 64, Lifetime::new(0, 4)),
        Buffer::new("b", 32, Lifetime::new(2, 6)),
        Buffer::new("c", 64, Lifetime::new(4, 8)),
    ]);
    let plan = plan_at(&problem, &[0, 64, 0]);
    let map = Map::new(&problem, &plan, Caption::new("test", vec![]));
    let drawn = map.terminal(Window { columns: 29, rows: 8, coloured: false });
    let shape = |text: &str| text.lines().map(|line| line.chars().count()).max();
    assert!(shape(&drawn) <= Some(29) && drawn.lines().count() <= 8, "{drawn}");
    for part in ["▒ b ▒", "░ a ░", "▓ c ▓", "96 B ┤", "0 B ┤"] {
        assert!(drawn.contains(part), "{part} in\n{drawn}");
    }
    let wide = Map::new(&problem, &plan, Caption::new("記憶域記憶域記憶域記憶域", vec![]));
    let title = wide.terminal(Window { columns: 29, rows: 8, coloured: false });
    assert!(unicode_width::UnicodeWidthStr::width(title.lines().next().unwrap()) <= 29, "{title}");
    let coloured = map.terminal(Window { columns: 29, rows: 8, coloured: true });
    assert!(coloured.contains("\u{1b}[48;5;110m") && coloured.contains("\u{1b}[0m"));
}

#[test]
fn a_page_says_where_buffers_come_from() {
    let problem = problem_of([Buffer::new("a", 64, Lifetime::new(0, 2)), Buffer::new("b", 64, Lifetime::new(0, 2))]);
    let text = "one\n  %a = alloc\n%b = alloc";
    let spans = [6, 17].into_iter().map(|at| memplan_core::Span::new(at, at + 1)).collect();
    let remark = Remark::source("f.mlir", text, &spans);
    let texts: Vec<Option<&str>> = remark.of.iter().map(Option::as_deref).collect();
    assert_eq!(texts, [Some("f.mlir:2  %a = alloc"), Some("f.mlir:3  %b = alloc")]);
    let plan = plan_at(&problem, &[0, 64]);
    let page = Map::new(&problem, &plan, Caption::default()).with_remark(remark).html();
    assert!(page.contains(r#"{"what":"source","of":["f.mlir:2  %a = alloc","#));
}

/// Ten columns for a hundred steps. The peak is alive in steps 19 to 28, so it is in two columns, and in only a part of
/// each of them.
#[test]
fn bytes_in_use_are_drawn_in_each_column_that_they_touch() {
    let problem =
        problem_of([Buffer::new("low", 10, Lifetime::new(0, 100)), Buffer::new("peak", 90, Lifetime::new(19, 29))]);
    let plan = plan_at(&problem, &[0, 10]);
    let drawn = Map::new(&problem, &plan, Caption::new("test", vec![])).terminal(Window {
        columns: 23,
        rows: 8,
        coloured: false,
    });
    let line = drawn.lines().find(|line| line.contains("in use")).unwrap();
    assert_eq!(line.trim_start(), "in use  ▁██▁▁▁▁▁▁▁");
}
