//! Programs a few changes away from the recorded ones: other sizes, types, memories, loop kinds, extents, orders of statements.

use crate::generate::Random;

const SIZES: [&str; 16] = ["1", "2", "3", "4", "5", "7", "8", "9", "12", "16", "17", "30", "32", "64", "128", "1024"];
const TYPES: [&str; 13] = [
    "float32",
    "float32",
    "int8",
    "int16",
    "int32",
    "float64",
    "float16",
    "uint8",
    "int64",
    "bool",
    "uint16",
    "float32x4",
    "int8x4",
];
const SCOPES: [&str; 14] = [
    "global",
    "global",
    "shared",
    "local",
    "warp",
    "local.L0A",
    "global.Y",
    "shared.dyn",
    "shared_T2",
    "global:tag",
    "global.workspace",
    "global.vtcm",
    "wmma.matrix_a",
    "local.W",
];
/// Sizes that depend on parameters.
pub(crate) const EXTENTS: [&str; 32] = [
    "n",
    "m",
    "n + 1",
    "n * 2",
    "m * 4",
    "n * m",
    "n + m",
    "n - 1",
    "n // 2",
    "n // 2 * 2",
    "n % 4 + 8",
    "T.max(n, m)",
    "T.min(n, m)",
    "n * 4 + 8",
    "m * 2 + n",
    "n * 2 + 2",
    "n * m * 2",
    "(n + 3) // 4 * 4",
    "n * 4",
    "m * 2",
    "n * 8",
    "m + 1",
    "m - 1",
    "n * 2 + m * 2",
    "n * n",
    "m * n",
    "n + m + 1",
    "2 * n",
    "n + n",
    "(n + 1) * 2",
    "(n + 1) * m",
    "n - m + 4",
];
const LOOPS: [&str; 4] = ["range(", "T.parallel(", "T.unroll(", "T.serial("];
const WRAPS: [&str; 10] = [
    "for w in range(2):",
    "for w in T.parallel(2):",
    "if E[0] > T.float32(2.0):",
    "with T.attr({\"pragma_note\": 0}):",
    "with T.attr({\"extern_scope\": 0}):",
    "with T.attr({\"volatile_scope\": 0}):",
    "for w in T.unroll(3):",
    "with T.launch_thread(\"blockIdx.x\", 2) as w:",
    "with T.launch_thread(\"threadIdx.x\", 4) as w:",
    "with T.launch_thread(\"vthread\", 2) as w:",
];

/// A few random changes; the result need not be a valid program.
pub(crate) fn neighbour(random: &mut Random, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    for _ in 0..1 + random.below(4) {
        let Some(def) = lines.iter().position(|line| line.starts_with("def ")).filter(|def| def + 1 < lines.len())
        else {
            break;
        };
        let at = def + 1 + random.below(lines.len() - def - 1);
        match random.below(14) {
            0..=2 => resize(random, &mut lines, def, None),
            3 => make_symbolic(random, &mut lines, def),
            4 | 5 => redeclare(random, &mut lines, def, true),
            6 | 7 => redeclare(random, &mut lines, def, false),
            8 => change_loop(random, &mut lines[at]),
            9 => copy_block(random, &mut lines, def, at),
            10 if !lines[at].contains("alloc") => drop(lines.drain(block(&lines, at))),
            11 => wrap(random, &mut lines, at),
            12 => change_number(random, &mut lines[at]),
            _ => change_operand(random, &mut lines, at),
        }
    }
    lines.join("\n") + "\n"
}

fn make_symbolic(random: &mut Random, lines: &mut [String], def: usize) {
    if !lines[def].contains("n: T.int32, m: T.int32") {
        lines[def] = lines[def].replacen('(', "(n: T.int32, m: T.int32, ", 1);
    }
    for _ in 0..2 {
        let extent = *random.pick(&EXTENTS);
        resize(random, lines, def, Some(extent));
    }
}

fn change_loop(random: &mut Random, line: &mut String) {
    if let Some(kind) = LOOPS.iter().find(|kind| line.contains(&format!("in {kind}"))) {
        let new = format!("in {}", random.pick(&LOOPS));
        *line = line.replacen(&format!("in {kind}"), &new, 1);
    }
}

fn copy_block(random: &mut Random, lines: &mut Vec<String>, def: usize, at: usize) {
    let range = block(lines, at);
    let to = def + 1 + random.below(lines.len() - def - 1);
    if indent(&lines[to]) == indent(&lines[at]) && !range.contains(&to) {
        let piece = lines[range].to_vec();
        lines.splice(to..to, piece);
    }
}

fn wrap(random: &mut Random, lines: &mut Vec<String>, at: usize) {
    let header = format!("{}{}", " ".repeat(indent(&lines[at])), random.pick(&WRAPS));
    let range = block(lines, at);
    for line in &mut lines[range] {
        line.insert_str(0, "    ");
    }
    lines.insert(at, header);
}

/// Another value for the first number of a line.
fn change_number(random: &mut Random, line: &mut String) {
    let Some(start) = line.find(|c: char| c.is_ascii_digit()).filter(|_| !line.contains('"')) else { return };
    if !line[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        let digits = line[start..].bytes().take_while(u8::is_ascii_digit).count();
        line.replace_range(start..start + digits, random.pick::<&str>(&SIZES));
    }
}

/// One buffer for another.
fn change_operand(random: &mut Random, lines: &mut [String], at: usize) {
    let name = |line: &String| line.trim().split_once(" = T.alloc").map(|(name, _)| format!("{name}["));
    let names: Vec<String> = lines.iter().filter_map(name).collect();
    if names.len() > 1 && !lines[at].contains("alloc") {
        let (from, to) = (random.pick(&names), random.pick(&names));
        lines[at] = lines[at].replacen(from, to, 1);
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines of the statement that starts at `at`.
fn block(lines: &[String], at: usize) -> std::ops::Range<usize> {
    let depth = indent(&lines[at]);
    let inner = lines[at + 1..].iter().take_while(|line| indent(line) > depth).count();
    at..at + 1 + inner
}

fn allocation(random: &mut Random, lines: &[String], def: usize) -> Option<usize> {
    let found: Vec<usize> = (def..lines.len()).filter(|at| lines[*at].contains("= T.alloc_")).collect();
    (!found.is_empty()).then(|| *random.pick(&found))
}

fn resize(random: &mut Random, lines: &mut [String], def: usize, extent: Option<&str>) {
    let Some(at) = allocation(random, lines, def) else { return };
    let extent = extent.unwrap_or_else(|| *random.pick(&SIZES)).to_owned();
    if let (Some(open), Some(close)) = (lines[at].find("(("), lines[at].find(",)")) {
        lines[at].replace_range(open + 2..close, &extent);
    }
}

/// Another element type or memory for one allocation.
fn redeclare(random: &mut Random, lines: &mut [String], def: usize, element: bool) {
    let Some(at) = allocation(random, lines, def) else { return };
    let line = lines[at].clone();
    let Some((head, rest)) = line.split_once(" = T.alloc_") else { return };
    let (Some(open), Some(close)) = (rest.find("(("), rest.find(",)")) else { return };
    let extent = &rest[open + 2..close];
    let quoted: Vec<&str> = rest.split('"').skip(1).step_by(2).collect();
    let has_scope = rest.contains("scope=");
    let mut scope = match &rest[..open] {
        "shared" => "shared",
        "local" => "local",
        _ if has_scope => quoted.last().copied().unwrap_or("global"),
        _ => "global",
    };
    let mut dtype: &str = if quoted.len() > usize::from(has_scope) { quoted[0] } else { "float32" };
    if element {
        dtype = *random.pick(&TYPES);
    } else {
        scope = *random.pick(&SCOPES);
    }
    lines[at] = format!("{head} = T.alloc_buffer(({extent},), \"{dtype}\", scope=\"{scope}\")");
}
