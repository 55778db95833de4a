//! The toy language of the book goes through planning, checking, emitting and the map.

#[path = "../../../../examples/front-end/steps.rs"]
#[allow(missing_docs, unreachable_pub, reason = "an example for readers")]
mod steps;

use memplan::driver::{self, Failure, How};
use memplan::map::{Caption, Map};
use memplan::source::Source;
use steps::Steps;

use crate::mutated::Mutated;

const TEXT: &str = "x 64 =\ny 64 = x\nz 32 = y\nw 64 = z\nlast 32 = w z\n";

#[test]
fn a_toy_language_is_planned_checked_written_and_drawn() {
    let output = driver::run(&Steps, &Source::new("net.steps", TEXT), &How::default().strict()).unwrap();
    assert_eq!(output.text().lines().count(), 5);
    assert!(output.text().lines().all(|line| line.contains(" @")), "{}", output.text());
    let layout = output.layout.as_ref().unwrap();
    assert_eq!(layout.plan.extent().0, 128, "x and y, or z, w and last, side by side");
    let page = Map::new(&layout.problem, &layout.plan, Caption::new("net", Vec::new())).html();
    assert!(page.contains("last"));
}

#[test]
fn its_mistakes_are_found() {
    let error = driver::run(&Steps, &Source::new("net.steps", "x 64 =\ny 64 = q\n"), &How::default()).unwrap_err();
    assert!(matches!(&error, Failure::Input(error) if error.line == 2), "{error}");
    for (from, to) in [("@64", "@32"), ("x 64", "x 63"), ("= y", "= x"), ("z 32", "v 32")] {
        let wrong = Mutated { inner: Steps, mutate: |text: &str| text.replacen(from, to, 1) };
        let error = driver::run(&wrong, &Source::new("net.steps", TEXT), &How::default()).unwrap_err();
        assert!(matches!(error, Failure::Unsound(_)), "{from} to {to}: {error}");
    }
}

#[test]
fn it_is_as_short_as_the_book_says() {
    let text = include_str!("../../../../examples/front-end/steps.rs");
    let code = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"));
    assert!(code.count() < 100);
}
