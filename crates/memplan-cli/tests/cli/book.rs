//! The book and the README do what they say.
//!
//! A chapter is played in a folder of its own, from top to bottom. A code block
//! whose first line names a file (```` ```csv buffers.csv ````) is written to
//! that file. In a `console` block every line that starts with `$ ` is run by
//! the shell (a line that ends in `\` goes on in the next), and what it prints is
//! compared with the lines that follow, times aside; a line `...` stands for any
//! lines. `needs=TOOL` or `needs=python:MODULE` behind `console` skips the block
//! where that is not installed, and `elsewhere` leaves it to another test (`commands`
//! says which). A picture a chapter makes is the one in `docs/images` of the same name.
//!
//! `MEMPLAN_BLESS=1` puts the real output, and the real pictures, in their places.

use std::path::{Path, PathBuf};
use std::process::Command;

use memplan_testkit::peers;

use crate::run::{Folder, assert_current, without_times};

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn is_blessing() -> bool {
    std::env::var_os("MEMPLAN_BLESS").is_some()
}

/// The chapters in the order of the table of contents, as paths in the workspace.
fn chapters() -> Vec<String> {
    let summary = std::fs::read_to_string(workspace().join("docs/SUMMARY.md")).unwrap();
    links(&summary).iter().filter(|link| link.ends_with(".md")).map(|link| format!("docs/{link}")).collect()
}

/// Targets of all links and pictures of a page, outside of code.
pub(crate) fn links(markdown: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code {
            continue;
        }
        let without_code: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let targets = without_code.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        found.extend(targets.map(str::to_owned));
    }
    found
}

/// The anchors of a page: its headings as mdBook and code hosts spell them.
fn anchors(markdown: &str) -> Vec<String> {
    let headings =
        markdown.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept = heading.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
    };
    headings.map(anchor).collect()
}

/// Every page of the documents, and the README.
pub(crate) fn pages() -> Vec<String> {
    let files = std::fs::read_dir(workspace().join("docs")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect();
    pages.extend(["README.md", "README.zh.md"].map(str::to_owned));
    pages.sort();
    pages
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(workspace().join(&page)).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = workspace().join(&page).parent().unwrap().join(file);
            let target = if file.is_empty() { workspace().join(&page) } else { target };
            let has_anchor =
                || anchors(&std::fs::read_to_string(&target).unwrap_or_default()).contains(&anchor.to_owned());
            if !target.exists() || !(anchor.is_empty() || has_anchor()) {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_book_has_no_chapter_twice() {
    let mut chapters = chapters();
    assert!(chapters.len() > 10, "{chapters:?}");
    chapters.sort();
    assert!(chapters.windows(2).all(|pair| pair[0] != pair[1]), "{chapters:?}");
}

/// A fenced code block.
pub(crate) struct Block<'a> {
    /// What stands behind the opening fence.
    pub(crate) info: &'a str,
    pub(crate) lines: Vec<&'a str>,
}

/// A page taken apart into text and code, each line exactly once.
pub(crate) enum Part<'a> {
    Text(&'a str),
    Code(Block<'a>),
}

pub(crate) fn parts(markdown: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut code: Option<Block> = None;
    for line in markdown.lines() {
        match (&mut code, line.strip_prefix("```")) {
            (Some(_), Some("")) => parts.extend(code.take().map(Part::Code)),
            (Some(block), _) => block.lines.push(line),
            (None, Some(info)) => code = Some(Block { info, lines: Vec::new() }),
            (None, None) => parts.push(Part::Text(line)),
        }
    }
    assert!(code.is_none(), "a code block does not end");
    parts
}

/// Plays a page in a folder; its text as it should be.
pub(crate) fn play(page: &str, folder: &Path) -> String {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    let mut played = String::new();
    for part in parts(&text) {
        match part {
            Part::Text(line) => played.push_str(&format!("{line}\n")),
            Part::Code(block) => {
                let mut words = block.info.split_whitespace();
                let lines = match (words.next(), words.next()) {
                    (Some("console"), Some("elsewhere")) => block.lines.join("\n"),
                    (Some("console"), needs) if is_there(needs) => run_all(page, folder, &block.lines),
                    (Some("console"), _) | (_, None) => block.lines.join("\n"),
                    (_, Some(file)) => {
                        std::fs::write(folder.join(file), format!("{}\n", block.lines.join("\n"))).unwrap();
                        block.lines.join("\n")
                    }
                };
                played.push_str(&format!("```{}\n{lines}\n```\n", block.info));
            }
        }
    }
    played
}

/// Whether `needs=TOOL` or `needs=python:MODULE` is satisfied.
pub(crate) fn is_there(needs: Option<&str>) -> bool {
    let Some(tool) = needs.and_then(|needs| needs.strip_prefix("needs=")) else { return true };
    let look = match tool.strip_prefix("python:") {
        Some(module) => format!("python3 -c 'import {module}'"),
        None => format!("command -v {tool}"),
    };
    let found = Command::new("sh").args(["-c", &look]).env("PATH", path()).output().unwrap().status.success();
    peers::is_there(found, tool)
}

/// Runs the commands of a block; the block as it should be.
fn run_all(page: &str, folder: &Path, lines: &[&str]) -> String {
    let mut result: Vec<String> = Vec::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        assert!(first.starts_with("$ "), "{page}: no command before {first}");
        let length = 1 + rest.iter().take_while(|line| line.ends_with('\\')).count();
        let (command, behind) = rest.split_at(length.min(rest.len()));
        let command = command.join("\n").split_off(2);
        let next = behind.iter().position(|line| line.starts_with("$ ")).unwrap_or(behind.len());
        let (expected, after) = behind.split_at(next);
        let printed = run(page, folder, &command);
        let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
        result.push(format!("$ {command}"));
        if agrees(expected, &printed) {
            result.extend(expected.iter().map(|line| (*line).to_owned()));
        } else {
            let blank = if after.is_empty() { "" } else { "\n" };
            result.push(format!("{}{blank}", printed.join("\n")).trim_start_matches('\n').to_owned());
        }
        rest = after;
    }
    result.join("\n").trim_end().to_owned()
}

/// Where programs are looked for: ours first, then the Python of the peers, then everything else.
pub(crate) fn path() -> String {
    let memplan = Path::new(env!("CARGO_BIN_EXE_memplan")).parent().unwrap();
    let python = std::env::var("MEMPLAN_PYTHON").unwrap_or_default();
    let python = Path::new(&python).parent().unwrap_or(Path::new(""));
    format!("{}:{}:{}", memplan.display(), python.display(), std::env::var("PATH").unwrap())
}

fn run(page: &str, folder: &Path, command: &str) -> String {
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(folder).env("PATH", path());
    shell.env("COLUMNS", "96").env("LINES", "24");
    let output = shell.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{page}: `{command}` failed:\n{printed}");
    printed
}

/// Whether a command printed what the page says; blank lines at the end do not matter.
fn agrees(expected: &[&str], printed: &[&str]) -> bool {
    let normal = |lines: &[&str]| -> Vec<String> {
        let lines: Vec<String> =
            without_times(&lines.join("\n")).lines().map(|line| line.trim_end().to_owned()).collect();
        let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        lines[..end].to_vec()
    };
    let (expected, printed) = (normal(expected), normal(printed));
    let mut at = 0;
    let pieces: Vec<&[String]> = expected.split(|line| line == "...").collect();
    for (index, piece) in pieces.iter().enumerate() {
        let (is_first, is_last) = (index == 0, index + 1 == pieces.len());
        let mut starts = at..=printed.len().saturating_sub(piece.len());
        let fits = |&start: &usize| {
            printed[start..].starts_with(piece)
                && (!is_first || start == 0)
                && (!is_last || piece.is_empty() && !is_first || start + piece.len() == printed.len())
        };
        let Some(start) = starts.find(fits) else { return false };
        at = start + piece.len();
    }
    true
}

/// Pictures that the page shows and its commands have made are the ones in the repository.
fn compare_pictures(page: &str, folder: &Folder) {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    let shown = links(&text).into_iter().filter(|link| link.contains("images/"));
    for link in shown {
        let name = link.rsplit('/').next().unwrap();
        if folder.files().iter().any(|file| file == name) {
            assert_current(&format!("docs/images/{name}"), &folder.read(name));
        }
    }
}

#[test]
fn every_command_of_the_book_does_what_it_says() {
    let readmes = ["README.md", "README.zh.md"].map(str::to_owned);
    let pages: Vec<String> = chapters().into_iter().chain(readmes).collect();
    let mut wrong = Vec::new();
    for page in pages {
        let folder = Folder::new();
        // Corpus and models are where they are for somebody who has just cloned the repository.
        for shared in ["corpus", "tests"] {
            std::os::unix::fs::symlink(workspace().join(shared), folder.path(shared)).unwrap();
        }
        let played = play(&page, &folder.path(""));
        let written = std::fs::read_to_string(workspace().join(&page)).unwrap();
        if played != written && is_blessing() {
            std::fs::write(workspace().join(&page), &played).unwrap();
        } else if played != written {
            let differs = played.lines().zip(written.lines()).find(|(one, other)| one != other);
            wrong.push(format!("{page}: {differs:?}"));
        }
        compare_pictures(&page, &folder);
    }
    assert!(wrong.is_empty(), "run with MEMPLAN_BLESS=1 and read the difference: {wrong:#?}");
}

/// The programs of the comparison: file, words, whose plan, alignment that plan keeps.
const COMPARED: [(&str, &str, &str, &str); 6] = [
    ("xla_maxtext_train_step", "MaxText, training step", "XLA", "64"),
    ("xla_resnet_train_step", "ResNet, training step", "XLA", "64"),
    ("xla_transformer_train_step", "Transformer, training step", "XLA", "64"),
    ("vela_mobilenet_v2_quantized_1x3x224x224", "MobileNet v2, int8", "Vela", "16"),
    ("vela_person_detect", "Person detection", "Vela", "16"),
    ("iree_densenet121", "DenseNet-121", "IREE", "64"),
];

/// The extent of the plan in a file's own column of offsets; `None` if it has none.
fn their_extent(file: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let offsets = header.iter().position(|name| name.ends_with("_offset"))?;
    let sizes = header.iter().position(|name| *name == "size").unwrap();
    let number = |text: &str| text.parse::<u64>().unwrap();
    lines.map(|fields| number(fields[offsets]) + number(fields[sizes])).max()
}

#[test]
fn the_comparison_in_the_readme_is_measured() {
    let folder = Folder::new();
    let mut table =
        "| program | buffers | lower bound | other planners | memplan |\n|---|---|---|---|---|\n".to_owned();
    for (name, words, compiler, align) in COMPARED {
        let file = workspace().join("corpus/real").join(format!("{name}.csv"));
        let plan = |strategy: &str| {
            let file = file.to_str().unwrap();
            let limits = ["--align", align, "--json"];
            let ran = folder.run_args(&[["plan", file, "-s", strategy].as_slice(), &limits].concat());
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            ran.json()
        };
        let (greedy, ours) = (plan("greedy-by-size"), plan("auto"));
        assert_eq!(ours["status"], "optimal", "{name}");
        let bound = ours["lower_bound"].as_u64().unwrap();
        let ratio = |extent: u64| format!("{:.4}", extent as f64 / bound as f64);
        // IREE's file has lifetimes only, so that its own plan cannot be named.
        let theirs = their_extent(&file).map_or(String::new(), |extent| format!("{compiler} {}, ", ratio(extent)));
        table.push_str(&format!(
            "| {words} | {} | {} | {theirs}`greedy-by-size` {} | **{}** |\n",
            ours["buffers"].as_array().unwrap().len(),
            memplan::core::Bytes(bound).human(),
            ratio(greedy["extent"].as_u64().unwrap()),
            ratio(ours["extent"].as_u64().unwrap()),
        ));
    }
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    if readme.contains(&table) {
        return;
    }
    assert!(is_blessing(), "the table in README.md is out of date; it should begin with\n{table}");
    // The rows after the measured ones belong to other tests and stay.
    let start = readme.find("| program | buffers").unwrap();
    let old: usize = readme[start..].split_inclusive('\n').take(COMPARED.len() + 2).map(str::len).sum();
    let (before, after) = (&readme[..start], &readme[start + old..]);
    std::fs::write(workspace().join("README.md"), format!("{before}{table}{after}")).unwrap();
}

#[test]
fn output_may_be_cut_short() {
    let printed = ["a", "b", "c", "took 1.50 ms"];
    assert!(agrees(&["a", "...", "took 9.00 ms"], &printed) && agrees(&["a", "..."], &printed));
    assert!(agrees(&["a", "b", "c", "took 2.00 ms", ""], &printed) && agrees(&["..."], &[]));
    assert!(!agrees(&["b", "..."], &printed) && !agrees(&["a", "...", "b"], &printed) && !agrees(&[], &printed));
}
