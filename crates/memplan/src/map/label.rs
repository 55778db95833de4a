//! Text inside rectangles: what fits, in which direction, and safely.

/// Font size of names, as in `style.css`.
const FONT: f64 = 11.0;
/// Distance between two lines of a name.
pub(super) const LINE: f64 = 13.0;
/// Room kept free at each end of a line.
const MARGIN: f64 = 4.0;
/// A name cut to fewer characters says nothing.
const FEWEST: usize = 8;

/// A text that fits into its rectangle.
#[derive(Debug, PartialEq)]
pub(super) struct Label {
    /// The name and, below it, the size if there is room.
    pub(super) lines: Vec<String>,
    /// Turned by a quarter, for rectangles taller than wide.
    pub(super) upright: bool,
}

impl Label {
    /// Fits the name, and under it the size if there is room, into a rectangle of `width` times `height` (in pixels),
    /// across or upright, whichever shows more. `None` if not even a shortened name fits.
    pub(super) fn fit(name: &str, size: Option<&str>, width: f64, height: f64) -> Option<Label> {
        let across = fit_lines(name, size, width, height);
        let upright = fit_lines(name, size, height, width);
        let (lines, upright) = match (across, upright) {
            (Some(across), Some(upright)) if shown(&across) >= shown(&upright) => (across, false),
            (_, Some(upright)) => (upright, true),
            (Some(across), None) => (across, false),
            (None, None) => return None,
        };
        Some(Label { lines, upright })
    }
}

/// How many characters of a label can be read.
fn shown(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().filter(|&c| c != '…').count()).sum()
}

/// The lines of a label in a rectangle that is `length` long in the direction of the text: the name, shortened if need
/// be, and the size if it fits as it is. `None` if the rectangle is too thin for a line or too short for a name.
fn fit_lines(name: &str, size: Option<&str>, length: f64, thickness: f64) -> Option<Vec<String>> {
    if thickness < LINE {
        return None;
    }
    let room = length - 2.0 * MARGIN;
    let mut lines = vec![shorten(name, room)?];
    lines.extend(size.filter(|size| thickness >= 2.0 * LINE + 2.0 && width_of(size) <= room).map(str::to_owned));
    Some(lines)
}

/// The text, or as much of its two ends around an ellipsis as has room: `conv2d…weight`. Both ends stay, because names
/// often differ in one of them only. `None` if fewer than [`FEWEST`] characters would be left.
fn shorten(text: &str, room: f64) -> Option<String> {
    if width_of(text) <= room {
        return Some(text.to_owned());
    }
    let characters: Vec<char> = text.chars().collect();
    // Hardly any text has characters that are less than half as wide as the font is high on average, so longer cuts
    // are not tried.
    let most = characters.len().min((room / (FONT * 0.5)).max(0.0) as usize);
    (FEWEST..most).rev().find_map(|keep| {
        let (head, tail) = (keep.div_ceil(2), keep / 2);
        let cut: String =
            characters[..head].iter().chain(&['…']).chain(&characters[characters.len() - tail..]).collect();
        (width_of(&cut) <= room).then_some(cut)
    })
}

/// About how wide a text is: there is no font at hand to ask.
fn width_of(text: &str) -> f64 {
    FONT * text.chars().map(width_of_character).sum::<f64>()
}

/// In units of the height of the font; letters outside of ASCII are taken to be as wide as Chinese ones.
fn width_of_character(c: char) -> f64 {
    match c {
        'i' | 'l' | 'j' | '.' | ',' | '|' | '\'' | ' ' | 'f' | 't' | 'r' => 0.36,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        'A'..='Z' => 0.7,
        c if c.is_ascii() || c == '…' => 0.58,
        _ => 1.05,
    }
}

/// Makes a text safe inside XML and HTML, in content and in attributes.
/// Characters that XML cannot contain become U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(character),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(name: &str, width: f64, height: f64) -> Option<(Vec<String>, bool)> {
        Label::fit(name, Some("1 KiB"), width, height).map(|label| (label.lines, label.upright))
    }

    #[test]
    fn names_turn_and_shrink_with_their_rectangle() {
        assert_eq!(lines("conv", 100.0, 40.0), Some((vec!["conv".into(), "1 KiB".into()], false)));
        assert_eq!(lines("conv", 100.0, 14.0), Some((vec!["conv".into()], false)));
        assert_eq!(lines("conv", 14.0, 100.0), Some((vec!["conv".into()], true)));
        assert_eq!(lines("conv", 10.0, 10.0), None);
        let (cut, _) = lines("a_very_long_name_of_a_tensor", 90.0, 14.0).unwrap();
        assert!(cut[0].contains('…') && cut[0].starts_with('a') && cut[0].ends_with('r'), "{cut:?}");
    }

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(escape("<script>\"&'\u{0}"), "&lt;script&gt;&quot;&amp;&#39;\u{fffd}");
    }
}
