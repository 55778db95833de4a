//! Finds out of which commit this is, for `memplan --version`.
//!
//! In a checkout git knows the commit. In a tarball of `git archive` the commit stands in the file `.commit`. A build
//! of any other package sets `MEMPLAN_COMMIT`. If none of these is there, the version is printed without a commit.

use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MEMPLAN_COMMIT");
    println!("cargo::rerun-if-changed={}", root.join(".commit").display());
    // Only a release build has to state its commit exactly. Other builds would otherwise be made anew after every
    // commit.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release")
        && let Some(head) = git(&root, &["rev-parse", "--git-path", "logs/HEAD"])
    {
        println!("cargo::rerun-if-changed={}", root.join(head).display());
    }
    let version = env!("CARGO_PKG_VERSION");
    let version = match commit(&root) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=MEMPLAN_VERSION={version}");
}

fn commit(root: &Path) -> Option<String> {
    let given = std::env::var("MEMPLAN_COMMIT").ok();
    let packed = std::fs::read_to_string(root.join(".commit")).ok();
    let is_hash = |text: &String| text.len() >= 7 && text.chars().all(|c| c.is_ascii_hexdigit());
    let named = [given, packed].into_iter().flatten().map(|text| text.trim().to_owned()).find(is_hash);
    // If this folder is no checkout itself but lies in another repository, git would give that repository's commit.
    let is_checkout = || root.join(".git").exists();
    named.or_else(|| is_checkout().then(|| git(root, &["rev-parse", "--short=9", "HEAD"])).flatten())
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
