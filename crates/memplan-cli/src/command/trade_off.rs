//! `memplan plan --trade-off`: what the reuse of memory costs with less and less of it.

use memplan::core::Bytes;
use memplan::driver::How;
use memplan::format::Input;
use memplan::front_end::Plain;
use memplan::source::Source;
use memplan::trade_off::{self, Point};
use serde_json::json;

use super::failure;
use crate::answer::Failure;
use crate::paint::Style;
use crate::table::Table;

/// Plans with less and less memory; a failure if reuse has no price in this problem.
pub(super) fn sweep(source: &Source, plain: &Plain, input: &Input, how: &How) -> Result<Vec<Point>, Failure> {
    if input.problem.reuse_costs().is_empty() {
        return Err(Failure::usage_with_help(
            "--trade-off sweeps capacity against the cost of reuse, and this problem puts no price on any",
            "list pairs of buffers with weights as `reuse_costs`",
        ));
    }
    trade_off::sweep(plain, input, how).map_err(|error| failure(source, error))
}

/// The points as a table; nothing without any.
pub(super) fn table(points: &[Point]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let mut table = Table::with_heading(&["space", ">capacity", ">bytes", ">cost", ">at least", ">extent", "status"]);
    for point in points {
        // A dash where there is no plan.
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let bytes = |bytes: Option<Bytes>| bytes.map_or_else(|| "-".to_owned(), Bytes::human);
        table.row([
            (point.space.clone(), Style::Plain),
            (point.capacity.map_or_else(|| "any".to_owned(), Bytes::human), Style::Plain),
            (number(point.capacity.map(|bytes| bytes.0)), Style::Faint),
            (number(point.cost), Style::Strong),
            (number(point.lower_bound), Style::Plain),
            (bytes(point.extent), Style::Plain),
            (point.status.to_owned(), Style::Faint),
        ]);
    }
    format!("\ncost of reuse against capacity\n\n{}", table.render(2))
}

/// A plan on one line of JSON, with the points as one more field before the last brace, if they were asked for:
/// `{…}` becomes `{…,"trade_off":[…]}`.
pub(super) fn in_json(plan: String, points: &[Point], is_asked: bool) -> String {
    let Some(open) = plan.trim_end().strip_suffix('}').filter(|_| is_asked) else { return plan };
    // The points are added to the text of the plan, so that the plan is written in one place only.
    let number = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0);
    let point = |point: &Point| {
        json!({
            "space": point.space, "capacity": number(point.capacity), "extent": number(point.extent),
            "cost": point.cost, "cost_lower_bound": point.lower_bound, "status": point.status,
        })
    };
    let points: Vec<_> = points.iter().map(point).collect();
    format!("{open},\"trade_off\":{}}}\n", json!(points))
}
