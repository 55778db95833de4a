//! Properties of pictures: every buffer is in them, inside the frame, and no
//! name is markup, for problems and plans of every kind.

use std::collections::BTreeSet;

use memplan::core::{Buffer, Bytes, Id, Lifetime, Placement, Plan, Problem, ProblemBuilder, Reuse, SpaceId};
use memplan::map::scene::Scene;
use memplan::map::{Caption, Map, Window};
use memplan_planner::{Assign, Request, find, plan};
use memplan_testkit::Features;
use memplan_testkit::problems::{Limits, problems};
use proptest::prelude::*;
use serde_json::Value;

/// A problem whose names try to be markup.
fn with_hostile_names(problem: &Problem) -> Problem {
    let mut builder = problem.to_builder();
    for buffer in builder.buffers_mut().iter_mut() {
        buffer.name = format!("<b onclick=\"x\">&{}</script>'\u{2028}\u{7}", buffer.name).into();
    }
    builder.build().expect("only names have changed")
}

/// Plans of several kinds: by offsets, by objects, and one that is simply wrong.
fn plans(problem: &Problem) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (strategy, assign) in [("first-fit", Assign::Offsets), ("object-fit", Assign::Objects)] {
        let request = Request { assign, work_limit: Some(100), ..Request::default() };
        let outcome = find(strategy).and_then(|strategy| plan(strategy, problem, &request).ok());
        plans.extend(outcome.as_ref().and_then(|outcome| outcome.plan()).cloned());
    }
    let mut wrong = Plan::empty(problem);
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let Some(&space) = buffer.spaces.first() else { continue };
        wrong.placements[id] = Some(Placement::at(space, Bytes(37 * id.index() as u64)));
    }
    wrong.fit_extents(problem);
    plans.push(wrong);
    plans
}

/// The buffers that have something to draw.
fn expected(problem: &Problem, plan: &Plan) -> BTreeSet<usize> {
    let scene = Scene::of(problem, plan);
    let drawn: BTreeSet<usize> =
        scene.panels.iter().flat_map(|panel| &panel.shapes).map(|shape| shape.buffer.index()).collect();
    assert_eq!(drawn.len() + scene.without_area, problem.buffers().len(), "each is drawn or counted");
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let is_placed = plan.placements[id].is_some();
        let has_area = !buffer.lifetime.is_empty() && buffer.bytes().is_some_and(|bytes| bytes > Bytes::ZERO);
        if is_placed && has_area && buffer.lifetime.intervals().any(|life| life.window.is_none()) {
            assert!(drawn.contains(&id.index()), "{} is missing", buffer.name);
        }
    }
    drawn
}

fn attribute(element: &str, name: &str) -> f64 {
    let at = element.find(&format!(" {name}=\"")).expect("the attribute") + name.len() + 3;
    element[at..].split('"').next().and_then(|text| text.parse().ok()).expect("a number")
}

/// Elements are balanced, known, and all text is escaped.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('>') || open.last() == Some(&"style"), "markup in {text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("a name"));
            let known = ["svg", "style", "defs", "pattern", "rect", "title", "text", "tspan"];
            assert!(open.last().is_some_and(|name| known.contains(name)), "<{tag}>");
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn check_svg(map: &Map, drawn: &BTreeSet<usize>) {
    let svg = map.svg();
    assert_well_formed(&svg);
    let (width, height) = (attribute(&svg, "width"), attribute(&svg, "height"));
    let mut seen = BTreeSet::new();
    for element in svg.lines().filter(|line| line.contains("data-buffer=")) {
        seen.insert(attribute(element, "data-buffer") as usize);
        let (x, y) = (attribute(element, "x"), attribute(element, "y"));
        assert!(x >= 78.0 && x + attribute(element, "width") <= width - 168.0 + 0.5, "{element}");
        assert!(y >= 50.0 && y + attribute(element, "height") <= height - 30.0 + 0.5, "{element}");
    }
    assert_eq!(&seen, drawn);
    assert_eq!(svg, map.svg(), "the same picture each time");
}

fn check_page(map: &Map, problem: &Problem, drawn: &BTreeSet<usize>) {
    let page = map.html();
    let (_, rest) = page.split_once("id=\"data\">").expect("the data");
    let (json, _) = rest.split_once("</script>").expect("the end of the data");
    assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
    assert_eq!(page.matches("</script>").count(), 2);
    let data: Value = serde_json::from_str(json).expect("JSON");
    let names: Vec<&str> =
        data["buffers"]["name"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    assert!(names.iter().zip(problem.buffers().iter()).all(|(name, buffer)| *name == buffer.name));
    let mut seen = BTreeSet::new();
    for space in data["plans"][0]["spaces"].as_array().expect("spaces") {
        let numbers: Vec<u64> = space["shapes"].as_array().expect("shapes").iter().filter_map(Value::as_u64).collect();
        for shape in numbers.chunks(6) {
            seen.insert(shape[0] as usize);
            assert!(data["first"].as_u64() <= Some(shape[2]) && Some(shape[3]) <= data["last"].as_u64());
            assert!(shape[2] < shape[3] && shape[4] < shape[5]);
        }
    }
    assert_eq!(&seen, drawn);
}

fn check_terminal(map: &Map) {
    for (columns, rows) in [(100, 32), (40, 24), (24, 60)] {
        let drawn = map.terminal(Window { columns, rows, coloured: false });
        assert!(drawn.lines().count() <= rows.max(1 + 6 * 4), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() <= columns), "{columns} columns\n{drawn}");
        assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_buffer_is_in_every_picture(problem in problems(Features::ALL, Limits::SMALL)) {
        let problem = with_hostile_names(&problem);
        for plan in plans(&problem) {
            let drawn = expected(&problem, &plan);
            let map = Map::new(&problem, &plan, Caption::new("<title>", vec!["<fact>".to_owned()]));
            check_svg(&map, &drawn);
            check_page(&map, &problem, &drawn);
            check_terminal(&map);
        }
    }
}

#[test]
fn a_plan_that_names_no_space_of_the_problem_is_drawn_without_it() {
    let mut builder = ProblemBuilder::new();
    let [a, b] = [("a", 0), ("b", 1)]
        .map(|(name, start)| builder.buffer(Buffer::new(name, 64, Lifetime::new(start, start + 2))));
    let problem = builder.build().expect("two plain buffers");
    let mut plan = Plan::empty(&problem);
    let nowhere = SpaceId::from_index(problem.spaces().len());
    for buffer in [a, b] {
        plan.placements[buffer] = Some(Placement::at(nowhere, Bytes::ZERO));
    }
    plan.reused = vec![Reuse { buffer: b, over: vec![a] }];
    assert_eq!(Scene::of(&problem, &plan).without_area, 2);
}
