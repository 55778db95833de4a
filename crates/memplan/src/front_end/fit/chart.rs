//! The trade-off as a picture: memory from left to right, multiply-adds from bottom to top.
//!
//! ```text
//!   + 8 %  │ ●
//!          │  ╲
//!   + 2 %  │   ●───●
//!     0 %  │        ╲──────●      the model as it is, on the right
//!          └──────────────────
//!            100    200 KiB
//! ```

use std::fmt::Write;

use memplan_core::Bytes;

use super::{Counted, Version};

/// Width of the picture in pixels.
const WIDTH: f64 = 720.0;
/// Height of the picture in pixels.
const HEIGHT: f64 = 360.0;
/// Pixels at the left of the plot, for the percentages.
const LEFT: f64 = 70.0;
/// Pixels at the right of the plot, so that the last number of bytes has room.
const RIGHT: f64 = 30.0;
/// Pixels above the plot, for the title.
const TOP: f64 = 40.0;
/// Pixels below the plot, for the numbers of bytes.
const BOTTOM: f64 = 50.0;
/// The axes are cut into this many equal parts, with a line or a label at each cut.
const LINES: u32 = 4;

/// How numbers become positions in the picture.
struct Scale {
    /// Which part of the memory a version is drawn by.
    counted: Counted,
    /// The multiply-adds of the first version, with which all others are compared.
    base: f64,
    /// Bytes at the right edge.
    most: f64,
    /// Percent of additional multiply-adds at the upper edge.
    highest: f64,
}

impl Scale {
    /// The scale in which all versions have room, and in which no length is divided by zero.
    fn of(versions: &[Version], counted: Counted) -> Scale {
        let most = versions.iter().map(|version| version.needs(counted).0).max().unwrap_or(0).max(1) as f64;
        let base = versions.first().map_or(1, |version| version.macs).max(1) as f64;
        let mut scale = Scale { counted, base, most, highest: 1.0 };
        scale.highest = versions.iter().map(|version| scale.percent(version)).fold(1.0, f64::max);
        scale
    }

    /// How many percent of multiply-adds a version has beyond the first.
    fn percent(&self, version: &Version) -> f64 {
        (100.0 * (version.macs as f64 / self.base - 1.0)).max(0.0)
    }

    /// The horizontal position of a number of bytes: 0 bytes at the axis, `most` at the right edge.
    fn x(&self, bytes: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * bytes / self.most
    }

    /// The vertical position of a percentage. In SVG, y grows downwards, so more percent is a smaller y.
    fn y(&self, percent: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * percent / self.highest
    }

    /// Where the point of a version is.
    fn point(&self, version: &Version) -> (f64, f64) {
        (self.x(version.needs(self.counted).0 as f64), self.y(self.percent(version)))
    }
}

/// Draws versions, which come from cheap to dear, as an SVG document; each point says on hovering
/// what was changed. `name` is that of the model. (Writing into a `String` cannot fail, so the
/// results of `writeln!` are dropped.)
pub fn svg(name: &str, versions: &[Version], counted: Counted) -> String {
    let scale = Scale::of(versions, counted);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"#444\">\n<text x=\"{LEFT}\" y=\"22\" font-weight=\"bold\">{}: {}</text>\n",
        escaped(name),
        what(counted)
    );
    for line in 0..=LINES {
        // One line across with its percentage at the left, and one number of bytes below the picture. `across` is the
        // height of the line, `up` the horizontal position of the number.
        let share = f64::from(line) / f64::from(LINES);
        let (across, up) = (scale.y(scale.highest * share), scale.x(scale.most * share));
        let bytes = Bytes((scale.most * share) as u64).human();
        _ = writeln!(
            out,
            "<path d=\"M{LEFT} {across:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">+{:.1} %</text><text x=\"{up:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{bytes}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            across + 4.0,
            scale.highest * share,
            HEIGHT - BOTTOM + 20.0
        );
    }
    // A line from point to point, and then the points on top of it.
    let points: Vec<String> =
        versions.iter().map(|version| scale.point(version)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#2a6fbb\" stroke-width=\"2\"/>",
        points.join(" ")
    );
    for version in versions {
        let (x, y) = scale.point(version);
        let (needs, percent) = (version.needs(counted).human(), scale.percent(version));
        let title = escaped(&format!("{needs}, +{percent:.1} %: {}", version.in_words()));
        _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#2a6fbb\"><title>{title}</title></circle>"
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The picture of [`svg`] as an HTML page, with a table of all versions below. The columns: the
/// whole arena, the tensors and scratch memory in it, multiply-adds of a run, bytes that are copied
/// only, ops, and what was changed.
pub fn html(name: &str, versions: &[Version], counted: Counted) -> String {
    let row = |version: &Version| {
        format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            version.arena,
            version.tensors,
            version.macs,
            Bytes(version.copied),
            version.ops,
            escaped(&version.in_words())
        )
    };
    let rows: String = versions.iter().map(row).collect();
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>body{{font-family:sans-serif;max-width:60em;\
         margin:2em auto}}td,th{{padding:.2em .6em;text-align:right}}td:last-child,th:last-child{{text-align:left}}\
         </style>\n{}<table>\n<tr><th>arena</th><th>tensors</th><th>multiply-adds</th><th>copied</th><th>ops</th>\
         <th>changes</th></tr>\n{rows}</table>\n",
        escaped(name),
        svg(name, versions, counted)
    )
}

/// The title of the picture, after the name of the model.
fn what(counted: Counted) -> &'static str {
    match counted {
        Counted::Arena => "arena against more multiply-adds",
        Counted::Tensors => "tensors and scratch memory against more multiply-adds",
    }
}

/// A text that is no markup in SVG and HTML. Names of tensors may hold any character.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_a_point_and_names_are_escaped() {
        let version = |arena: u64, macs: u64, change: &str| Version {
            changes: vec![change.to_owned()],
            arena: Bytes(arena),
            tensors: Bytes(arena / 2),
            start: Bytes(0),
            records: Bytes(0),
            is_exact: true,
            macs,
            copied: 0,
            ops: 3,
            file: 100,
        };
        let versions = [version(2000, 100, "none"), version(1000, 104, "`<script>` in 2 tiles")];
        let picture = svg("a & b", &versions, Counted::Arena);
        assert_eq!(picture.matches("<circle").count(), 2);
        assert!(picture.contains("a &amp; b") && picture.contains("&lt;script&gt;") && !picture.contains("<script>"));
        // The model as it is stands on the right, at the bottom.
        assert!(picture.contains("cx=\"690.0\" cy=\"310.0\""), "{picture}");
        let page = html("a & b", &versions, Counted::Tensors);
        let picture = svg("a & b", &versions, Counted::Tensors);
        assert!(picture.contains("tensors and scratch memory against") && page.contains(&picture));
        assert_eq!(page.matches("<tr>").count(), 3);
    }
}
