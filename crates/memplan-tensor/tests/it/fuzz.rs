//! Nothing that can be fed to the reader makes it panic, and nothing it reads is rewritten wrongly.

use crate::JUDGE;
use crate::generate::{Features, Random, program};
use crate::records::records;
use memplan_tensor::pass::fuzz_check;

const BITS: [&str; 24] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "=",
    "\n",
    "\n    ",
    "\n        ",
    "T.",
    "A",
    "0",
    "-1",
    "9223372036854775807",
    "\"",
    "#",
    "\\",
    "for i in range(4):",
    "A[i] = A[i]",
    "T.alloc_buffer((4,))",
    "if E[0] > 1:",
];

fn mutate(random: &mut Random, text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(3) {
        let at = text.floor_char_boundary(random.below(text.len().max(1)));
        let end = text.floor_char_boundary((at + random.below(12)).min(text.len()));
        match random.below(4) {
            0 => text.replace_range(at..end, ""),
            1 => text.insert_str(at, BITS[random.below(BITS.len())]),
            2 => {
                let piece = text[at..end].to_owned();
                let to = text.floor_char_boundary(random.below(text.len().max(1)));
                text.insert_str(to, &piece);
            }
            _ => text.replace_range(at..end, BITS[random.below(BITS.len())]),
        }
    }
    text
}

#[test]
fn mutated_texts() {
    let mut random = Random::new(77);
    let mut texts: Vec<String> =
        records().iter().map(|record| record.text("in_text").expect("an input").to_owned()).collect();
    for _ in 0..100 {
        let features = Features::random(&mut random);
        texts.push(program(&mut random, features, 5));
    }
    let mut readable = 0;
    for round in 0..4000 {
        let chosen = random.below(texts.len());
        let text = mutate(&mut random, &texts[chosen]);
        match fuzz_check(&text, JUDGE) {
            Ok(read) => readable += u32::from(read),
            Err(problem) => panic!("round {round}: {problem}\\n{text}"),
        }
    }
    assert!(readable > 200, "only {readable} mutants are readable");
}

#[test]
fn deep_nesting_is_refused() {
    let header = "@T.prim_func\ndef main(O: T.Buffer((4,), \"int32\")):\n";
    let deep_expression = format!("{header}    O[0] = {}1{}\n", "(".repeat(50_000), ")".repeat(50_000));
    let long_sum = format!("{header}    O[0] = {}1\n", "1 + ".repeat(50_000));
    let variables = format!("{header}    for i in range(1):\n        O[0] = {}i\n", "i + ".repeat(50_000));
    let negations = format!("{header}    O[0] = {}1\n", "-".repeat(50_000));
    let flat_regions = format!("{header}{}    O[0] = 1\n", "    T.attr({\"pragma_x\": 0})\n".repeat(50_000));
    let mut blocks = header.to_owned();
    for depth in 1..2000 {
        blocks.push_str(&format!("{}if 1 < 2:\n", " ".repeat(depth)));
    }
    blocks.push_str(&format!("{}O[0] = 1\n", " ".repeat(2000)));
    let mut chain = format!("{header}    if 1 < 2:\n        O[0] = 1\n");
    for _ in 0..5000 {
        chain.push_str("    elif 1 < 2:\n        O[0] = 1\n");
    }
    for text in [deep_expression, variables, negations, flat_regions, blocks, chain] {
        let error = memplan_tensor::script::Script::read(&text).expect_err("too deep");
        assert_eq!(error.code(), "tvmscript::too-deep", "{error}");
    }
    fuzz_check(&long_sum, JUDGE).expect("constants fold away or are refused");
}

#[test]
fn errors_have_a_place() {
    for (text, line, column, code) in [
        ("", 1, 1, "tvmscript::no-function"),
        (
            "@T.prim_func\ndef main(O: T.Buffer((4,), \"float32\")):\n    O[0] = B[0]\n",
            3,
            12,
            "tvmscript::unknown-name",
        ),
        ("@T.prim_func\ndef main(O: T.Buffer((4,), \"floaty\")):\n    O[0] = 1\n", 2, 28, "tvmscript::invalid"),
        ("@T.prim_func\ndef main(O: T.Buffer((4,), \"float32\")):\n    O[0, 1] = 1\n", 3, 5, "tvmscript::invalid"),
        ("@T.prim_func\ndef main(O: T.Buffer((4,), \"float32\")):\n    O[0] = (1\n", 4, 1, "tvmscript::syntax"),
        (
            "@T.prim_func\ndef main(O: T.Buffer((4,), \"float32\")):\n    O[0] = 1\n  O[1] = 2\n",
            4,
            1,
            "tvmscript::indentation",
        ),
        (
            "@T.prim_func\ndef main(O: T.Buffer((4,), \"float32\")):\n    for i in T.somewhere(4):\n        O[i] = 1\n",
            3,
            14,
            "tvmscript::unsupported",
        ),
    ] {
        let error = memplan_tensor::script::Script::read(text).expect_err(text);
        assert_eq!((error.code(), error.line_column(text)), (code, (line, column)), "{error}\n{text}");
    }
}
