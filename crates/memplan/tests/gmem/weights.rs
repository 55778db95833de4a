//! Where weights go.

use std::path::PathBuf;

use crate::text::{addresses, assign, assigned, attribute, attributes, complaints, data, module, without_addresses};

const T: &str = "tensor<1x16xf32>";

/// Three weights, the first two equal in the file below.
fn three_weights(chip: &str) -> String {
    let body = format!(
        "      %w = \"top.Weight\"() : () -> tensor<1000xf32> loc(\"w\")
      %x = \"top.Weight\"() : () -> tensor<1000xf32> loc(\"x\")
      %y = \"top.Weight\"() : () -> tensor<3xi4> loc(\"y\")
      %a = \"tpu.MatMul\"(%arg0, %w, %x, %y) : ({T}, tensor<1000xf32>, tensor<1000xf32>, tensor<3xi4>) -> {T} loc(#loc)
      return %a : {T} loc(#loc)\n"
    );
    module(chip, "basic", &[T.to_owned()], &[T.to_owned()], &body)
}

#[test]
fn one_behind_the_other() {
    let text = assigned(&three_weights("bm1684x"), "assign-gmem");
    let found = addresses(&text);
    let start = 0x1_0000_0000;
    assert_eq!(["%w", "%x", "%y"].map(|name| found[name].0 - start), [0, 4096, 8192]);
    let all = attributes(&text);
    assert_eq!((all["coeff_addr"], all["coeff_size"], all["dynamic_coeff_offset"]), (start, 12288, 12288));
    assert_eq!(all["neuron_addr"], start + 12288, "activations follow");
    let text = assigned(&three_weights("cv183x"), "assign-gmem");
    assert_eq!(attribute(&text, "coeff_size"), Some(4000 + 4000 + 16));
}

#[test]
fn weights_of_functions_with_changing_shapes_come_last() {
    let dynamic = three_weights("bm1684x").replace("TPU_STATIC", "TPU_DYNAMIC");
    assert_eq!(attribute(&assigned(&dynamic, "assign-gmem"), "dynamic_coeff_offset"), Some(0));
}

#[test]
fn what_shared_an_address_still_does() {
    let recorded = data("gmem-ir/tiny_after_cv183x.mlir");
    let again = assigned(&recorded, "assign-gmem");
    assert_eq!(attributes(&again), attributes(&recorded));
    // In a module that has no addresses yet, encodings are not believed.
    let divided = recorded.replace("TPU_ADDRESSED", "TPU_DIVIDED");
    assert_eq!(attribute(&assigned(&divided, "assign-gmem"), "coeff_size"), Some(3072));
}

/// An array as a member of the file: name, type of the elements, shape, bytes.
type Array<'a> = (&'a str, &'a str, &'a str, &'a [u8]);

/// An `.npz` file with these arrays, as numpy writes it.
fn weight_file(name: &str, arrays: &[Array]) -> PathBuf {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, kind, shape, data) in arrays {
        let mut header = b"\x93NUMPY\x01\x00".to_vec();
        let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        header.extend((text.len() as u16).to_le_bytes());
        header.extend(text.as_bytes());
        let name = format!("{name}.npy");
        let size = ((header.len() + data.len()) as u32).to_le_bytes();
        let name_length = (name.len() as u16).to_le_bytes();
        let local = (file.len() as u32).to_le_bytes();
        for part in
            [b"PK\x03\x04".as_slice(), &[0; 14], &size, &size, &name_length, &[0; 2], name.as_bytes(), &header, data]
        {
            file.extend_from_slice(part);
        }
        for part in [b"PK\x01\x02".as_slice(), &[0; 16], &size, &size, &name_length, &[0; 12], &local, name.as_bytes()]
        {
            directory.extend_from_slice(part);
        }
    }
    let count = (arrays.len() as u16).to_le_bytes();
    let (length, start) = ((directory.len() as u32).to_le_bytes(), (file.len() as u32).to_le_bytes());
    for part in [&directory, b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count, &length, &start, &[0; 2]] {
        file.extend_from_slice(part);
    }
    let path = std::env::temp_dir().join(format!("memplan-{name}-{}.npz", std::process::id()));
    std::fs::write(&path, file).unwrap();
    path
}

/// What the pass makes of the three weights with a file of these arrays.
fn with_file(name: &str, arrays: &[Array]) -> Result<String, String> {
    let path = weight_file(name, arrays);
    let result = assign(&three_weights("bm1684x"), &format!("assign-gmem{{weights={}}}", path.display()));
    std::fs::remove_file(path).unwrap();
    result.map(|rewritten| rewritten.text).map_err(|error| error.to_string())
}

#[test]
fn equal_weights_lie_in_one_place() {
    let same = [7; 4000];
    for nibbles in [("y", "|u1", "(3,)", b"abc".as_slice()), ("y", "|i1", "(1, 3)", b"abc")] {
        let text = with_file("three", &[("w", "<f4", "(1000,)", &same), ("x", "<f4", "(1000, 1)", &same), nibbles]);
        let text = text.unwrap();
        let found = addresses(&text);
        assert_eq!(found["%w"].0, found["%x"].0);
        assert_eq!(attribute(&text, "coeff_size"), Some(8192));
    }
}

/// numpy writes the arrays: plainly, and compressed, where shapes are not known and equal bytes still are.
#[test]
fn files_that_numpy_writes() {
    let Some(python) = memplan_testkit::peers::python("numpy") else { return };
    for write in ["savez", "savez_compressed"] {
        let path = std::env::temp_dir().join(format!("memplan-{write}-{}.npz", std::process::id()));
        let arrays = "w=np.ones(1000, 'f4'), x=np.ones((1000, 1), 'f4').reshape(1000), y=np.zeros(3, 'u1')";
        let program = format!("import numpy as np; np.{write}({:?}, {arrays})", path.display().to_string());
        assert!(std::process::Command::new(&python).args(["-c", &program]).status().unwrap().success());
        let pass = format!("assign-gmem{{weights={}}}", path.display());
        let text = assigned(&three_weights("bm1684x"), &pass);
        std::fs::remove_file(path).unwrap();
        let found = addresses(&text);
        assert_eq!((found["%w"].0, attribute(&text, "coeff_size")), (found["%x"].0, Some(8192)), "{write}");
    }
}

#[test]
fn a_file_of_other_weights_is_refused() {
    let (many, few) = ([7; 4000], [7; 3996]);
    let w: Array = ("w", "<f4", "(1000,)", &many);
    let y: Array = ("y", "|u1", "(3,)", b"abc");
    let refused = |name: &str, arrays: &[Array], why: &str| {
        let message = with_file(name, arrays).unwrap_err();
        assert!(message.contains(why), "{message}");
    };
    refused("missing", &[w, y], "the weight file has no array `x`");
    refused("shape", &[w, ("x", "<f4", "(10, 100)", &many), y], "array `x` of the weight file has shape [10, 100]");
    refused("fewer", &[w, ("x", "<f4", "(999,)", &few), y], "has shape [999], the weight has [1000]");
    refused("type", &[w, ("x", "<f2", "(1000,)", &many[..2000]), y], "has 2 bytes an element");
    refused("short", &[w, ("x", "<f4", "(1000,)", &few), y], "not as many bytes as its header says");
}

#[test]
fn the_recorded_network_with_equal_tables() {
    let names = ["s1", "t2", "s5"];
    let contents = [1, 2, 1];
    let labels: Vec<(String, Vec<u8>)> = names
        .iter()
        .zip(contents)
        .flat_map(|(name, content)| {
            [("slope_table_bf16", content), ("slope_slope_table_bf16", content + 10)]
                .map(|(table, byte)| (format!("{name}_{table}"), vec![byte; 512]))
        })
        .collect();
    let arrays: Vec<Array> =
        labels.iter().map(|(name, data)| (name.as_str(), "<u2", "(1, 1, 32, 8)", data.as_slice())).collect();
    let path = weight_file("tables", &arrays);
    let recorded = data("gmem-ir/tiny_after_cv183x.mlir");
    let pass = format!("assign-gmem{{weights={}}}", path.display());
    let text = assigned(&without_addresses(&recorded), &pass);
    std::fs::remove_file(path).unwrap();
    assert_eq!(attributes(&text), attributes(&recorded));
    assert_eq!(complaints(&text), Vec::<String>::new());
}
