//! The committed header is what cbindgen makes of the crate.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).expect("cbindgen.toml");
    let bindings = cbindgen::Builder::new().with_crate(crate_dir).with_config(config).generate().expect("a header");
    let mut header = Vec::new();
    bindings.write(&mut header);
    let header = String::from_utf8(header).expect("UTF-8");
    let path = crate_dir.join("include/memplan.h");
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        std::fs::write(&path, &header).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == header, "include/memplan.h is out of date; run the test with MEMPLAN_BLESS=1");
}
