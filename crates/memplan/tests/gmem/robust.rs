//! Damaged modules: any answer, but an answer.

use memplan::driver::Failure;

use crate::text::{assign, data};

const FILES: [&str; 4] = [
    "gmem-ir/tiny_after_bm1684x_basic_layergroup.mlir",
    "gmem-ir/tiny_after_cv183x.mlir",
    "gmem-ir/slice_reshape_after_bm1684x_basic.mlir",
    "gmem/figure.mlir",
];

/// A module of the user's making is never a bug of ours.
fn answers(text: &str, pass: &str) {
    if let Err(Failure::Unsound(bug)) = assign(text, pass) {
        panic!("{bug}\n{text}");
    }
}

#[test]
fn without_any_of_its_lines() {
    for name in FILES {
        let text = data(name);
        let lines: Vec<&str> = text.lines().collect();
        for left_out in 0..lines.len() {
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, line)| *line).collect();
            answers(&rest.join("\n"), "assign-gmem");
            answers(&rest.join("\n"), "assign-gmem{mode=documented addr_mode=basic}");
        }
    }
}

#[test]
fn with_any_word_replaced() {
    const WORDS: [&str; 6] = ["0", "-1", "18446744073709551615", "none", "tensor<?xf32>", "%arg0"];
    for name in FILES {
        let text = data(name);
        let starts: Vec<usize> = text.match_indices([' ', ',', '<', '(']).map(|(at, _)| at + 1).collect();
        for (number, &start) in starts.iter().enumerate().step_by(5) {
            let length = text[start..].find([' ', ',', '>', ')', '<']).unwrap_or(0);
            let word = WORDS[number % WORDS.len()];
            let damaged = format!("{}{word}{}", &text[..start], &text[start + length..]);
            answers(&damaged, "assign-gmem");
        }
    }
}
