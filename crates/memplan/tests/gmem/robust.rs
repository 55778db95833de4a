//! Damaged modules: any answer, but an answer.

use memplan::driver::Failure;

use crate::text::{assign, assigned, data};

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

/// Attributes of a module stand beside comments, unit attributes and names in quotes, and all of these are still there
/// when addresses have been added.
#[test]
fn dictionaries_of_any_spelling() {
    let network = |dictionary: &str| {
        format!(
            "module @net attributes {{module.chip = \"bm1684x\", module.state = \"TPU_DIVIDED\"}} {{
  module @inner attributes {dictionary} {{
    func.func @main(%arg0: tensor<64xi8>) -> tensor<64xi8> {{
      %0 = \"top.Input\"(%arg0) : (tensor<64xi8>) -> tensor<64xi8>
      %1 = \"tpu.Active\"(%0) : (tensor<64xi8>) -> tensor<64xi8>
      return %1 : tensor<64xi8>
    }}
  }}
}}
"
        )
    };
    // What is written, and what must be left of it.
    let cases = [
        ("{module.a = 1 : i64 // chip }\n}", "{module.a = 1 : i64, module.coeff_addr"),
        ("{\"z z\" // last\n}", "module.neuron_size = 8192 : i64, \"z z\" // last\n}"),
        ("{module.a, module.neuron_size}", "{module.a, module.coeff_addr = 4294967296 : i64, module.coeff_size"),
        ("{}", "{module.coeff_addr = 4294967296 : i64, module.coeff_size"),
        ("{ // nothing\n}", "{module.coeff_addr = 4294967296 : i64, module.coeff_size"),
    ];
    for (dictionary, left) in cases {
        let text = assigned(&network(dictionary), "assign-gmem");
        assert!(text.contains(left), "{dictionary}\n{text}");
        assert_eq!(text.matches("module.neuron_size = ").count(), 1, "{text}");
        assert_eq!(crate::text::complaints(&text), [] as [String; 0], "{text}");
    }
}
