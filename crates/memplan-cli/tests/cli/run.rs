//! Running the command in a folder of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with input files, gone when the test ends.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new();
        for (name, content) in files {
            std::fs::write(folder.path(name), content).unwrap();
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the command with blank-separated arguments.
    pub(crate) fn run(&self, args: &str) -> Ran {
        self.run_with_input(args, b"")
    }

    /// Runs the command with arguments that may contain blanks.
    pub(crate) fn run_args(&self, args: &[&str]) -> Ran {
        Ran::of(command(self.folder.path()).args(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs the command as users do: what a check rejects is made again.
    pub(crate) fn run_with_repairs(&self, args: &str) -> Ran {
        let mut command = command(self.folder.path());
        Ran::of(command.env_remove("MEMPLAN_STRICT").args(args.split_whitespace()).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, args: &str, input: &[u8]) -> Ran {
        let mut child = command(self.folder.path()).args(args.split_whitespace()).spawn().unwrap();
        // A command that does not read its input is no error.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(child.wait_with_output().unwrap())
    }
}

/// The built command, its streams piped.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memplan"));
    command.current_dir(folder).env_remove("NO_COLOR").env("MEMPLAN_STRICT", "1").stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What came out.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Everything in one text, for snapshots.
    pub(crate) fn all(&self) -> String {
        let part = |name: &str, text: &str| if text.is_empty() { String::new() } else { format!("--- {name}\n{text}") };
        let text = format!("exit code {}\n{}{}", self.code, part("stdout", &self.stdout), part("stderr", &self.stderr));
        without_times(&text)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Times become `[time]`; blanks before them go, as they depend on the width.
pub(crate) fn without_times(text: &str) -> String {
    let mut result: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |index: usize| {
            let is_unit = |word: &&str| matches!(word.trim_end_matches([',', '\n']), "ms" | "s");
            words[index].parse::<f64>().is_ok() && words.get(index + 1).is_some_and(is_unit)
        };
        let mut kept: Vec<&str> = Vec::new();
        let mut index = 0;
        while index < words.len() {
            if is_time(index) {
                while kept.last().is_some_and(|word| word.is_empty()) {
                    kept.pop();
                }
                kept.push("[time]");
                index += 2;
            } else {
                kept.push(words[index]);
                index += 1;
            }
        }
        result.push(kept.join(" "));
    }
    result.join("\n")
}

/// Compares with a committed file, or rewrites it under `MEMPLAN_BLESS=1`.
pub(crate) fn assert_current(path_in_workspace: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path_in_workspace);
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{path_in_workspace} is out of date; run the tests with MEMPLAN_BLESS=1");
}
