//! Output files: written whole or not at all.
//!
//! The content goes into a draft beside the file, which is renamed when it is complete. A file that
//! exists keeps its permissions, and links to it stay links. A read-only file is not replaced, although
//! the permissions of its folder would allow the renaming. Devices and pipes are written to directly.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::answer::Failure;

/// The draft that is being filled, so that it can be removed if the process has to end.
static DRAFT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes the draft that is being filled, if there is one: the process is about to end.
pub(crate) fn discard_draft() {
    if let Some(draft) = DRAFT.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // If that fails, a file `.memplan-….tmp` stays behind. The process is ending, so nobody can be told.
        let _ = std::fs::remove_file(draft);
    }
}

/// Remembers the draft that is being filled; `None` if there is none any more.
fn note_draft(draft: Option<PathBuf>) {
    *DRAFT.lock().unwrap_or_else(PoisonError::into_inner) = draft;
}

/// The extension of an output file in small letters, which says what the file is to contain; empty if it has none.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// The name of an output file without folder and extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether an output would replace the file that is read. Files are compared as
/// the system knows them, so links and other spellings of a path do not matter.
pub(crate) fn is_input(output: &Path, input: &str) -> bool {
    let known = |path: &Path| path.canonicalize().ok();
    input != "-" && known(output).is_some_and(|output| Some(output) == known(Path::new(input)))
}

/// What to say if an output has replaced the file that was read.
pub(crate) fn replaced_input(output: &Path, was_input: bool) -> Option<String> {
    was_input.then(|| format!("{} was the input: it has been replaced", output.display()))
}

/// Refuses an output that would replace the file that is read. A plan written over its CSV file, for example,
/// would be read as records with fixed offsets the next time.
pub(crate) fn refuse_input(output: &Path, input: &str) -> Result<(), Failure> {
    if !is_input(output, input) {
        return Ok(());
    }
    let message = format!("{} is the input; the output would replace it", output.display());
    Err(Failure::usage_with_help(message, "write to another file"))
}

/// Writes beside the target and renames, so that a reader never sees half a
/// file and a failure leaves the old one.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_with(path, &|out| out.write_all(content.as_ref()))
}

/// The same as [`write`] for content that is written piece by piece by `fill`.
pub(crate) fn write_with(path: &Path, fill: Fill) -> Result<(), Failure> {
    try_write(path, fill).map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))
}

/// Writes the content of a file.
type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> std::io::Result<()>;

/// Writes a draft beside the file and renames it when it is complete, so that there is never half a file.
fn try_write(path: &Path, fill: Fill) -> std::io::Result<()> {
    // A device or a pipe is written to, never replaced.
    let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    if is_special {
        return fill(&mut File::options().write(true).open(path)?);
    }
    let path = &behind_links(path)?;
    // What the system knows about the old file; `None` if there is none.
    let old = path.metadata().ok();
    if old.is_some() {
        // The renaming would replace a read-only file, too, because it asks only for permission to
        // change the folder. So the file is opened for writing, which fails if it is read-only.
        // Nothing is written through this opening.
        File::options().append(true).open(path)?;
    }
    let mut draft = draft_beside(path, old.is_none())?;
    note_draft(Some(draft.path().to_owned()));
    // `sync_all` makes sure that the content is on the disk before the renaming is: after a crash there is the old file
    // or the new one.
    let filled = fill(&mut draft).and_then(|()| {
        if let Some(old) = old {
            draft.as_file().set_permissions(old.permissions())?;
        }
        draft.as_file().sync_all()
    });
    // From here on the draft becomes the file, or `NamedTempFile` removes it when it is dropped.
    note_draft(None);
    filled?;
    draft.persist(path)?;
    Ok(())
}

/// A new file in the same folder as `path`, so that it can be renamed to it. It is removed when it is dropped without
/// that. If there is no old file (`is_new`), the draft gets the permissions that every new file gets. If there is one,
/// nobody else may read the draft while it is filled, since they may not be allowed to read the old file.
fn draft_beside(path: &Path, is_new: bool) -> std::io::Result<NamedTempFile> {
    // A path such as `..` names no file.
    path.file_name().ok_or(std::io::ErrorKind::InvalidFilename)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Opened here and not by `tempfile_in`, which would put the name of the draft into messages.
    tempfile::Builder::new().prefix(".memplan-").suffix(".tmp").make_in(folder, |path| {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_new { 0o666 } else { 0o600 });
        options.open(path)
    })
}

/// The largest number of links that are followed, one to the next.
const LONGEST_CHAIN_OF_LINKS: usize = 40;

/// The file that a link leads to, whether it exists or not. That file is replaced, and the link itself stays.
fn behind_links(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN_OF_LINKS {
        // An error means that this is no link.
        let Ok(target) = std::fs::read_link(&path) else { return Ok(path) };
        // The target of a link counts from the link's own folder; `join` takes an absolute target as it is.
        let folder = path.parent().unwrap_or(Path::new(""));
        path = folder.join(target);
    }
    Err(std::io::Error::other("its links lead round in a circle"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A folder of its own that goes with the test.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Folder {
            Folder(tempfile::tempdir().expect("a folder of our own"))
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("a file of our own").permissions().mode() & 0o777
    }

    #[test]
    fn permissions_stay_as_they_are() {
        let folder = Folder::new();
        for wanted in [0o600, 0o640, 0o666, 0o755] {
            let path = folder.path(&wanted.to_string());
            fs::write(&path, "old").expect("a file of our own");
            fs::set_permissions(&path, Permissions::from_mode(wanted)).expect("a file of our own");
            write(&path, "new").expect("a file of our own");
            assert_eq!((fs::read_to_string(&path).expect("a file of our own").as_str(), mode(&path)), ("new", wanted));
        }
        // A new file is as open as any file that this process makes.
        fs::write(folder.path("by hand"), "").expect("a file of our own");
        write(&folder.path("new"), "new").expect("a file of our own");
        assert_eq!(mode(&folder.path("new")), mode(&folder.path("by hand")));
        assert_eq!(fs::read_dir(folder.0.path()).expect("a file of our own").count(), 6, "nothing is left beside them");
    }

    #[test]
    fn what_must_not_be_written_is_not_replaced() {
        let folder = Folder::new();
        let path = folder.path("old");
        fs::write(&path, "old").expect("a file of our own");
        fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("a file of our own");
        // Nothing is read-only for an administrator.
        if File::options().append(true).open(&path).is_err() {
            assert!(write(&path, "new").is_err());
            assert_eq!(fs::read_to_string(&path).expect("a file of our own"), "old");
        }
    }

    #[test]
    fn links_stay_whether_they_lead_anywhere_or_not() {
        let folder = Folder::new();
        fs::create_dir(folder.path("sub")).expect("a file of our own");
        for (link, target) in [("good", "sub/there"), ("dangling", "sub/not-there")] {
            symlink(target, folder.path(link)).expect("a file of our own");
        }
        fs::write(folder.path("sub/there"), "old").expect("a file of our own");
        symlink("good", folder.path("again")).expect("a file of our own");
        for (link, target) in [("good", "sub/there"), ("dangling", "sub/not-there"), ("again", "sub/there")] {
            write(&folder.path(link), link).expect("a file of our own");
            assert!(folder.path(link).is_symlink(), "{link}");
            assert_eq!(fs::read_to_string(folder.path(target)).expect("a file of our own"), link);
        }
        symlink("round", folder.path("round")).expect("a file of our own");
        assert!(write(&folder.path("round"), "new").is_err());
    }

    #[test]
    fn the_input_is_known_by_any_name() {
        let folder = Folder::new();
        fs::write(folder.path("in.csv"), "").expect("a file of our own");
        symlink("in.csv", folder.path("link.csv")).expect("a file of our own");
        let input = folder.path("in.csv");
        let input = input.to_str().expect("a file of our own");
        for name in ["in.csv", "./in.csv", "link.csv"] {
            assert!(is_input(&folder.path(name), input), "{name}");
            assert!(refuse_input(&folder.path(name), input).is_err(), "{name}");
        }
        assert!(!is_input(&folder.path("other.csv"), input) && !is_input(&folder.path("in.csv"), "-"));
    }
}
