//! The picture as a self-contained HTML page.
//!
//! The page is the SVG, a table of what is alive at the peak, a style sheet
//! and a small script. Without the script everything is still there: the
//! tooltips are the SVG's own titles. Nothing is loaded from anywhere.

use std::fmt::Write;

use memplan_core::Problem;

use super::Caption;
use super::label::escape;
use super::scene::{Panel, Scene};
use super::svg;

/// The table lists this many buffers; the rest is summed up.
const ROWS: usize = 40;

/// A complete HTML document.
pub(super) fn document(problem: &Problem, scene: &Scene, caption: &Caption) -> String {
    let title = escape(&caption.title);
    let style = concat!(include_str!("style.css"), include_str!("page.css"));
    let script = include_str!("page.js");
    let picture = svg::element(problem, scene, caption);
    let tables: String = scene.panels.iter().map(|panel| peak_table(problem, panel, scene.panels.len() > 1)).collect();
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title} · memory map</title>
<style>
{style}</style>
</head>
<body>
<main>
{picture}{tables}</main>
<div id="tip" role="tooltip" hidden></div>
<script>
{script}</script>
</body>
</html>
"#
    )
}

/// What is alive at the peak of a space, largest first, with a running share.
fn peak_table(problem: &Problem, panel: &Panel, several: bool) -> String {
    let Some(step) = panel.peak.step else { return String::new() };
    let alive = &panel.alive_at_peak;
    let place = if several { format!(" in {}", escape(&panel.name)) } else { String::new() };
    let mut table = format!("<h2>Alive at the peak{place}, step {step}</h2>\n<table>\n");
    table.push_str("<tr><th scope=\"col\">buffer<th scope=\"col\">size<th scope=\"col\">bytes<th scope=\"col\">share so far</tr>\n");
    let mut sum = 0u64;
    for &(buffer, bytes) in alive.iter().take(ROWS) {
        sum = sum.saturating_add(bytes.0);
        let name = escape(&problem.buffers()[buffer].name);
        let share = 100.0 * sum as f64 / panel.peak.bytes.0.max(1) as f64;
        let _ = writeln!(table, "<tr><td>{name}<td>{}<td>{bytes}<td>{share:.1} %</tr>", bytes.human());
    }
    if alive.len() > ROWS {
        let _ = writeln!(table, "<tr><td colspan=\"4\">and {} smaller ones</tr>", alive.len() - ROWS);
    }
    table.push_str("</table>\n");
    table
}
