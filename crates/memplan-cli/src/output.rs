//! Output files: written whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::answer::Failure;

/// What an output file is to contain, by its extension.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// The name of an output file without folder and extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Writes beside the target and renames, so that a reader never sees half a
/// file and a failure leaves the old one.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_with(path, &|out| out.write_all(content.as_ref()))
}

/// The same for content that is written piece by piece.
pub(crate) fn write_with(path: &Path, fill: Fill) -> Result<(), Failure> {
    try_write(path, fill).map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))
}

type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> std::io::Result<()>;

fn try_write(path: &Path, fill: Fill) -> std::io::Result<()> {
    // A device or a pipe is written to, never replaced.
    let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    if is_special {
        return fill(&mut File::options().write(true).open(path)?);
    }
    // A link keeps pointing where it does; the file behind it is replaced.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let draft = Draft::beside(path)?;
    draft.fill(fill)?;
    std::fs::rename(&draft.path, path)
}

/// A file that becomes the output by its last rename, and goes if that fails.
struct Draft {
    path: PathBuf,
}

impl Draft {
    /// In the same folder, so that the rename stays inside one file system.
    fn beside(path: &Path) -> std::io::Result<Draft> {
        let name = path.file_name().ok_or(std::io::ErrorKind::InvalidFilename)?.to_string_lossy();
        Ok(Draft { path: path.with_file_name(format!(".{name}.{}.tmp", std::process::id())) })
    }

    fn fill(&self, fill: Fill) -> std::io::Result<()> {
        let mut file = File::create(&self.path)?;
        fill(&mut file)?;
        file.sync_all()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After the rename there is nothing left to remove.
        let _ = std::fs::remove_file(&self.path);
    }
}
