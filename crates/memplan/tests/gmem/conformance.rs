//! Networks that another compiler has given addresses, taken out and assigned anew.

use crate::text::{assigned, attribute, attributes, complaints, data, without_addresses};

const FILES: [&str; 14] = [
    "slice_reshape_after_bm1684x_basic",
    "tiny_after_bm1684",
    "tiny_after_bm1684x_basic",
    "tiny_after_bm1684x_basic_layergroup",
    "tiny_after_bm1684x_in_reuse",
    "tiny_after_bm1684x_io_alone",
    "tiny_after_bm1684x_io_reloc",
    "tiny_after_bm1688_basic",
    "tiny_after_bm1688_io_alone",
    "tiny_after_bm1688_io_tag",
    "tiny_after_bm1688_io_tag_fuse",
    "tiny_after_bm1690_basic",
    "tiny_after_cv183x",
    "tiny_after_cv184x",
];

#[test]
fn recorded_networks_get_the_same_sizes_or_smaller_ones() {
    for name in FILES {
        let recorded = data(&format!("gmem-ir/{name}.mlir"));
        let stripped = without_addresses(&recorded);
        assert!(!stripped.contains(" : i64>"), "{name}");
        let ours = assigned(&stripped, "assign-gmem");
        // Nothing but addresses has changed.
        assert_eq!(without_addresses(&ours), stripped, "{name}");
        assert!(ours.contains("module.state = \"TPU_ADDRESSED\""));
        let (theirs, mut found) = (attributes(&recorded), attributes(&ours));
        if name == "tiny_after_cv183x" {
            // Which weights are equal is in a weight file that is not there: see `weights`.
            assert_eq!(found.insert("coeff_size", 2048), Some(3072));
        }
        let (before, after) = (theirs["neuron_size"], found["neuron_size"]);
        assert!(after <= before, "{name}: {after}, recorded {before}");
        let expected = match name {
            "tiny_after_bm1684x_io_reloc" => 458_752,
            "tiny_after_bm1688_io_tag" => 196_608,
            _ => before,
        };
        assert_eq!(after, expected, "{name}");
        found.insert("neuron_size", before);
        assert_eq!(found, theirs, "{name}");
    }
}

#[test]
fn recorded_addresses_are_right() {
    for name in FILES {
        let recorded = data(&format!("gmem-ir/{name}.mlir"));
        assert_eq!(complaints(&recorded), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_module_right_before_address_assignment() {
    let text = assigned(&data("gmem-ir/tiny_before_address_assign_bm1684x.mlir"), "assign-gmem");
    assert_eq!(attribute(&text, "neuron_size"), Some(458_752));
    // The concat is merged: nothing is copied, and that costs no memory.
    assert!(text.contains("only_merge = true"));
    let recorded = attributes(&data("gmem-ir/tiny_after_bm1684x_basic.mlir"));
    assert_eq!(attributes(&text), recorded);
}

#[test]
fn addresses_are_assigned_again_in_another_mode() {
    let once = data("gmem-ir/tiny_after_bm1684x_io_alone.mlir");
    let again = assigned(&once, "assign-gmem{addr_mode=in_reuse}");
    assert_eq!(attribute(&again, "io_addr"), None);
    assert_eq!(attribute(&again, "neuron_size"), Some(393_216));
    assert!(again.contains("module.addr_mode = \"in_reuse\""));
    assert_eq!(assigned(&again, "assign-gmem"), again, "nothing changes any more");
}
