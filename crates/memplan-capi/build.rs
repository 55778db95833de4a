//! Gives the shared library the name under which an installed one is found.
//!
//! Programs that were linked against `libmemplan.so` ask for `libmemplan.so.0` when they start: the part of the version
//! that changes when old callers stop working.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_elf = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux" || os.ends_with("bsd"));
    if is_elf {
        let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmemplan.so.{major}");
    }
}
