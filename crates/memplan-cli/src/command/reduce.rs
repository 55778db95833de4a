//! `memplan reduce`: shrink an input while a command keeps failing on it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use memplan::reduce::reduce;
use memplan::wording::count;

use crate::answer::{Answer, Failure};
use crate::args::ReduceArgs;
use crate::output;

/// Makes a file smaller as long as a command keeps failing on it in the same way.
pub(super) fn run(args: &ReduceArgs) -> Result<Answer, Failure> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", args.file.display()));
    let text = std::fs::read_to_string(&args.file).map_err(unreadable)?;
    let output = args.output.clone().unwrap_or_else(|| reduced_name(&args.file));
    let trial = Trial::new(args)?;
    // The exit status on the whole input. A smaller input is interesting if the command ends with the same one.
    let Some(failing) = trial.status(&text)?.filter(|status| !status.success()) else {
        let help = "give a command that exits with a code other than 0, within --timeout";
        return Err(Failure::usage_with_help("the command does not fail on the whole input", help));
    };
    let mut runs = 1;
    let name = args.file.to_string_lossy();
    // A run that cannot be started or takes too long is not interesting.
    let smaller = reduce(&text, &name, &mut |candidate| {
        runs += 1;
        trial.status(candidate).ok().flatten() == Some(failing)
    });
    output::write(&output, &smaller)?;
    let lines = |text: &str| count(text.lines().count(), "line");
    let what = format!("{} of {} left after {}", lines(&smaller), lines(&text), count(runs, "run"));
    Ok(Answer::yes(format!("{}: {what}, still {failing}\n", output.display())))
}

/// `dir/a.csv` becomes `dir/a.reduced.csv`.
fn reduced_name(file: &Path) -> PathBuf {
    match file.extension() {
        Some(extension) => file.with_extension(format!("reduced.{}", extension.to_string_lossy())),
        None => file.with_extension("reduced"),
    }
}

/// Runs the command on texts, one after the other.
struct Trial<'a> {
    /// The command, and how long it may take.
    args: &'a ReduceArgs,
    /// The folder in which `file` is; it is removed with this value.
    folder: Scratch,
    /// Holds the text under trial. It has the name of the input, from which programs may take its format.
    file: PathBuf,
}

impl Trial<'_> {
    /// Prepares a folder for the texts.
    fn new(args: &ReduceArgs) -> Result<Trial<'_>, Failure> {
        let folder = Scratch::new()?;
        let name = args.file.file_name().unwrap_or(args.file.as_os_str());
        let file = folder.path.join(name);
        Ok(Trial { args, folder, file })
    }

    /// How the command ends on a text; `None` if it takes too long.
    fn status(&self, text: &str) -> Result<Option<ExitStatus>, Failure> {
        let failed = |error| Failure::usage(format!("cannot run `{}`: {error}", self.args.command.join(" ")));
        // The folder lives as long as this value, and the file is in it.
        debug_assert!(self.folder.path.is_dir());
        std::fs::write(&self.file, text).map_err(failed)?;
        let mut child = self.command().spawn().map_err(failed)?;
        let start = Instant::now();
        // Most runs are short, so the first looks come soon after each other.
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(Some(status));
            }
            // The run takes too long: its process is ended, and waited for, so that it does not
            // stay behind.
            if start.elapsed() > self.args.timeout {
                let _ = child.kill();
                child.wait().map_err(failed)?;
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// The command of the user, with the name of the file in place of `{}` or at the end.
    fn command(&self) -> Command {
        let file = self.file.to_string_lossy();
        let mut words: Vec<String> = self.args.command.iter().map(|word| word.replace("{}", &file)).collect();
        // No word has changed, so there is no `{}` among them.
        if words == self.args.command {
            words.push(file.into_owned());
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// A folder of our own that is removed at the end.
struct Scratch {
    /// Where it is.
    path: PathBuf,
}

impl Scratch {
    /// Makes the folder. Its name has the number of this process, so that two reductions do not meet.
    fn new() -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("memplan-reduce-{}", std::process::id()));
        let failed = |error| Failure::usage(format!("cannot make {}: {error}", path.display()));
        std::fs::create_dir_all(&path).map_err(failed)?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
