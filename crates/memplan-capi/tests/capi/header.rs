//! The committed header is what cbindgen makes of the crate.

use std::path::Path;

/// What cbindgen writes and C of 1990 does not know: comments to the end of the line, a comma behind the last name.
fn for_c90(header: &str) -> String {
    let text = header
        .replace("#endif // __cplusplus", "#endif /* __cplusplus */")
        .replace("#endif  // __cplusplus", "#endif /* __cplusplus */")
        .replace("}  // extern \"C\"", "} /* extern \"C\" */");
    let mut lines: Vec<&str> = text.lines().collect();
    for index in 1..lines.len() {
        if lines[index] == "} memplan_status;" {
            lines[index - 1] = lines[index - 1].trim_end_matches(',');
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_header_is_up_to_date() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).expect("cbindgen.toml");
    let bindings = cbindgen::Builder::new().with_crate(crate_dir).with_config(config).generate().expect("a header");
    let mut header = Vec::new();
    bindings.write(&mut header);
    let header = for_c90(&String::from_utf8(header).expect("UTF-8"));
    let path = crate_dir.join("include/memplan.h");
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        std::fs::write(&path, &header).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == header, "include/memplan.h is out of date; run the test with MEMPLAN_BLESS=1");
}
