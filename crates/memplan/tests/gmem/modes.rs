//! What each address mode and chip does with inputs and outputs.

use crate::text::{addresses, assign, assigned, attribute, attributes, complaints, complaints_about, module};

const T: &str = "tensor<1x16x32x32xf32>";
const BYTES: u64 = 65536;

/// Two inputs, an intermediate tensor, and an output twice as large as the others.
fn two_inputs(chip: &str, mode: &str) -> String {
    let body = format!(
        "      %a = \"tpu.Add\"(%arg0, %arg1) : ({T}, {T}) -> {T} loc(#loc)
      %b = \"tpu.Active\"(%a) : ({T}) -> {T} loc(#loc)
      %c = \"tpu.Upsample\"(%b) : ({T}) -> tensor<1x32x32x32xf32> loc(#loc)
      return %b, %c : {T}, tensor<1x32x32x32xf32> loc(#loc)\n"
    );
    let results = [T.to_owned(), "tensor<1x32x32x32xf32>".to_owned()];
    module(chip, mode, &[T.to_owned(), T.to_owned()], &results, &body)
}

/// Addresses of the inputs, a, b and c.
fn places(text: &str) -> [u64; 5] {
    let found = addresses(text);
    ["%in0", "%in1", "%a", "%b", "%c"].map(|name| found[name].0)
}

#[test]
fn io_alone_is_inputs_then_outputs() {
    let text = assigned(&two_inputs("bm1684x", "io_alone"), "assign-gmem");
    let start = 0x1_0000_0000;
    let neuron = start + 5 * BYTES;
    assert_eq!(places(&text), [start, start + BYTES, neuron, start + 2 * BYTES, start + 3 * BYTES]);
    let found = attributes(&text);
    assert_eq!((found["io_addr"], found["io_size"]), (start, 5 * BYTES));
    assert_eq!((found["neuron_addr"], found["neuron_size"]), (neuron, BYTES));
    let text = assigned(&two_inputs("bm1688", "io_alone"), "assign-gmem");
    assert_eq!(attributes(&text)["neuron_addr"], (1 << 39) | (2 << 36), "this chip has a place for them elsewhere");
}

#[test]
fn tags_go_to_the_largest() {
    let text = assigned(&two_inputs("bm1688", "io_tag"), "assign-gmem");
    let tag = |number: u64| (1 << 39) | ((3 + number) << 36);
    let neuron = (1 << 39) | (2 << 36);
    assert_eq!(places(&text), [tag(1), tag(2), neuron, tag(3), tag(0)]);
    assert_eq!(attribute(&text, "neuron_size"), Some(BYTES));
    let text = assigned(&two_inputs("bm1688", "auto"), "assign-gmem");
    assert!(text.contains("module.addr_mode = \"io_tag\""), "what this chip does if nobody says");
    let text = assigned(&two_inputs("bm1684x", "auto"), "assign-gmem");
    assert!(text.contains("module.addr_mode = \"basic\""));
}

#[test]
fn fused_tags_hold_all_inputs_and_all_outputs() {
    let text = assigned(&two_inputs("bm1688", "io_tag_fuse"), "assign-gmem");
    let (first, second) = ((1 << 39) | (3 << 36), (1 << 39) | (4 << 36));
    let [in0, in1, _, b, c] = places(&text);
    assert_eq!([in0, in1, b, c], [first, first + BYTES, second, second + BYTES]);
    let basic = assigned(&two_inputs("bm1688", "basic"), "assign-gmem");
    assert_eq!(attribute(&text, "neuron_size"), attribute(&basic, "neuron_size"));
}

#[test]
fn relocated_inputs_and_outputs_come_last() {
    let text = assigned(&two_inputs("bm1684x", "io_reloc"), "assign-gmem");
    let start = 0x1_0000_0000;
    let after = |units: u64| start + units * BYTES;
    assert_eq!(places(&text), [after(1), after(2), after(0), after(3), after(4)]);
    assert_eq!(attribute(&text, "neuron_size"), Some(6 * BYTES));
}

#[test]
fn pools_of_the_small_chips() {
    let text = assigned(&two_inputs("cv181x", "basic"), "assign-gmem");
    let tag = |number: u64| (3 + number) << 40;
    assert_eq!(places(&text), [tag(0), tag(1), 0, tag(2), tag(3)]);
    let found = attributes(&text);
    assert_eq!((found["neuron_size"], found["private_size"]), (BYTES, 0));
    assert!(!found.contains_key("neuron_addr") && !found.contains_key("dynamic_coeff_offset"));
    let some = assigned(&two_inputs("cv181x", "basic"), "assign-gmem{iomem_set=\"in0,subfunc_0/c\"}");
    assert_eq!(attribute(&some, "private_size"), Some(2 * BYTES), "in1 and b");
    assert_eq!(places(&some)[0], tag(0));
    assert_eq!(complaints(&some), Vec::<String>::new());
}

#[test]
fn on_chip_memory_is_preferred_as_long_as_there_is_some() {
    let text = assigned(&two_inputs("bm1690", "basic"), "assign-gmem");
    let on_chip = (30 << 40) | 0x69_8000_0000;
    assert_eq!(places(&text)[2], on_chip);
    assert_eq!(attribute(&text, "neuron_size"), Some(5 * BYTES));
    // 16 MiB a core: nothing of a network with larger tensors goes there.
    let large = two_inputs("bm1690", "basic").replace("x32x32xf32", "x1024x1024xf32");
    let text = assigned(&large, "assign-gmem");
    assert!(places(&text)[2] < on_chip);
    let eight = large.replace("module.cores = 1", "module.cores = 8");
    assert_eq!(places(&assigned(&eight, "assign-gmem"))[2], on_chip);
}

#[test]
fn an_output_may_take_the_place_of_an_input() {
    let source = two_inputs("bm1684x", "io_alone");
    let text = assigned(&source, "assign-gmem{same_addr=\"0:0\"}");
    let [in0, _, _, b, _] = places(&text);
    assert_eq!(in0, b);
    assert_eq!(attribute(&text, "io_size"), Some(4 * BYTES));
    for (pairs, words) in [("0:1", "smaller"), ("0:7", "2 inputs and 2 outputs"), ("x", "pairs of an input")] {
        let error = assign(&source, &format!("assign-gmem{{same_addr=\"{pairs}\"}}")).unwrap_err().to_string();
        assert!(error.contains(words), "{pairs}: {error}");
    }
    let late = source.replace("\"tpu.Active\"(%a)", "\"tpu.Active\"(%arg0)");
    let error = assign(&late, "assign-gmem{same_addr=\"0:0\"}").unwrap_err().to_string();
    assert!(error.contains("still read when the output is written"), "{error}");
}

#[test]
fn without_reuse_nothing_shares() {
    let text = assigned(&two_inputs("bm1684x", "basic"), "assign-gmem{reuse_addr=false}");
    assert_eq!(attribute(&text, "neuron_size"), Some(6 * BYTES));
}

#[test]
fn several_functions_share_their_tensors() {
    let source = format!(
        "module @net attributes {{module.addr_mode = \"io_tag\", module.chip = \"bm1688\", module.state = \"TPU_DIVIDED\"}} {{
  module @net {{
    func.func @main(%arg0: {T}) -> {T} {{
      %0 = \"top.Input\"(%arg0) : ({T}) -> {T}
      %1 = call @first(%0) : ({T}) -> {T}
      %2 = call @second(%1) : ({T}) -> {T}
      return %2 : {T}
    }}
    func.func @first(%arg0: {T}) -> {T} {{
      %3 = \"tpu.Active\"(%arg0) : ({T}) -> {T}
      %4 = \"tpu.Active\"(%3) : ({T}) -> {T}
      return %4 : {T}
    }}
    func.func @second(%arg0: {T}) -> {T} {{
      %5 = \"tpu.Active\"(%arg0) : ({T}) -> {T}
      %6 = \"tpu.Active\"(%5) : ({T}) -> {T}
      return %6 : {T}
    }}
  }}
}}
"
    );
    let rewritten = assign(&source, "assign-gmem").unwrap();
    let found = addresses(&rewritten.text);
    assert_eq!(found["%1"], found["%4"], "what a function returns is what its caller gets");
    assert_eq!(attribute(&rewritten.text, "neuron_size"), Some(3 * BYTES));
    assert!(rewritten.text.contains("module @net attributes {module.coeff_addr = "), "{}", rewritten.text);
    assert!(rewritten.text.contains("module.addr_mode = \"basic\""), "tags are for one function");
    assert!(rewritten.notes.iter().any(|note| note.contains("io_tag becomes basic")), "{:?}", rewritten.notes);
    let pooled = source.replace("bm1688", "cv183x");
    assert_eq!(attribute(&assigned(&pooled, "assign-gmem"), "private_size"), Some(BYTES), "%1 passes between the two");
}

#[test]
fn every_device_has_memory_of_its_own() {
    let one = two_inputs("bm1684x", "basic");
    let start = one.find("  module @net").unwrap();
    let end = one.rfind("  } loc(#loc)\n}").unwrap() + "  } loc(#loc)\n".len();
    let inner = one[start..end].to_owned();
    let two = format!("{}{inner}{}{}", &one[..start], inner.replace("@net", "@net_1"), &one[end..]);
    let text = assigned(&two, "assign-gmem");
    assert_eq!(text.matches("module.neuron_size = ").count(), 2);
    let sizes: Vec<&str> = text.match_indices("module.neuron_size = ").map(|(at, _)| &text[at..at + 30]).collect();
    assert_eq!(sizes[0], sizes[1]);
}

/// The text says once which mode all devices are in, so they must be in the same one: here the first has several
/// functions and cannot be tagged, and the second could.
#[test]
fn all_devices_are_in_one_mode() {
    let body = |name: &str, calls: &str, functions: &str| {
        format!(
            "  module @{name} {{
    func.func @main(%arg0: {T}) -> {T} {{
      %0 = \"top.Input\"(%arg0) : ({T}) -> {T}
{calls}
      return %r : {T}
    }}
{functions}  }}\n"
        )
    };
    let call = |result: &str, name: &str, of: &str| format!("      %{result} = call @{name}(%{of}) : ({T}) -> {T}\n");
    let function = |name: &str| {
        format!(
            "    func.func @{name}(%arg0: {T}) -> {T} {{
      %{name}_r = \"tpu.Active\"(%arg0) : ({T}) -> {T}
      return %{name}_r : {T}
    }}\n"
        )
    };
    let several = body("several", &(call("1", "a", "0") + &call("r", "b", "1")), &(function("a") + &function("b")));
    let single = body("single", &call("r", "c", "0"), &function("c"));
    for devices in [several.clone() + &single, single + &several] {
        let source = format!(
            "module @net attributes {{module.addr_mode = \"io_tag\", module.chip = \"bm1688\", module.state = \"TPU_DIVIDED\"}} {{
{devices}}}
"
        );
        let found = assign(&source, "assign-gmem").unwrap();
        let text = found.text;
        assert!(text.contains("module.addr_mode = \"basic\""), "{text}");
        // The user is told why, although the devices are planned a second time.
        let notes = format!("{:?}", found.notes);
        assert!(notes.contains("not tagged"), "{notes}");
        let tag = (1 << 39) | (3 << 36);
        let places = addresses(&text);
        assert!(places["%0"].0 < tag && places["%c_r"].0 < tag, "nothing is tagged in mode basic\n{text}");
    }
}

#[test]
fn quantised_tensors_of_neighbouring_batches_share_words() {
    let ty = "tensor<5x10x!quant.uniform<i8:f32, 0.5>>";
    let body =
        format!("      %a = \"tpu.Active\"(%arg0) : ({ty}) -> {ty} loc(#loc)\n      return %a : {ty} loc(#loc)\n");
    let source = |chip: &str| module(chip, "basic", &[ty.to_owned()], &[ty.to_owned()], &body);
    let chips = std::env::temp_dir().join(format!("memplan-chips-{}.toml", std::process::id()));
    std::fs::write(
        &chips,
        "[[chip]]\nname = \"plain\"\nalign = 16\nweights = 0x1000\n[[chip]]\nname = \"packs\"\nalign = 16\nweights = 0x1000\npacks-batches = true\n",
    )
    .unwrap();
    let pass = format!("assign-gmem{{chips={}}}", chips.display());
    assert_eq!(attribute(&assigned(&source("plain"), &pass), "neuron_size"), Some(2 * 64));
    assert_eq!(attribute(&assigned(&source("packs"), &pass), "neuron_size"), Some(2 * 80));
    std::fs::remove_file(chips).unwrap();
}

#[test]
fn what_a_region_computes_lives_as_long_as_its_op() {
    let body = format!(
        "      %c = \"tpu.Active\"(%arg0) : ({T}) -> {T} loc(#loc)
      %r = \"tpu.If\"(%c) ({{
        %d = \"tpu.Concat\"(%c) {{axis = 1 : si32, only_merge = true}} : ({T}) -> {T} loc(#loc)
        %x = \"tpu.Active\"(%d) : ({T}) -> {T} loc(#loc)
        \"tpu.Yield\"(%x) : ({T}) -> () loc(#loc)
      }}, {{
        %y = \"tpu.Active\"(%arg0) : ({T}) -> {T} loc(#loc)
        \"tpu.Yield\"(%y) : ({T}) -> () loc(#loc)
      }}) : ({T}) -> {T} loc(#loc)
      return %r : {T} loc(#loc)\n"
    );
    let text = assigned(&module("bm1684x", "basic", &[T.to_owned()], &[T.to_owned()], &body), "assign-gmem");
    let found = addresses(&text);
    let all: std::collections::BTreeSet<u64> = ["%c", "%d", "%x", "%y"].iter().map(|name| found[*name].0).collect();
    assert_eq!(all.len(), 4);
    assert_eq!(attribute(&text, "neuron_size"), Some(6 * BYTES));
    assert!(text.contains("only_merge = false"), "its operand does not lie in it");
}

#[test]
fn a_merged_concat_is_marked_however_it_is_written() {
    let wide = "tensor<1x32x32x32xf32>";
    let body = |attributes: &str| {
        format!(
            "      %a = \"tpu.Active\"(%arg0) : ({T}) -> {T} loc(#loc)
      %b = \"tpu.Active\"(%a) : ({T}) -> {T} loc(#loc)
      %c = \"tpu.Concat\"(%a, %b){attributes} : ({T}, {T}) -> {wide} loc(#loc)
      return %c : {wide} loc(#loc)\n"
        )
    };
    for (written, expected) in [
        ("", " {only_merge = true}"),
        (" {}", " {only_merge = true}"),
        (" {axis = 1 : si32}", " {axis = 1 : si32, only_merge = true}"),
        (
            " {axis = 1 : si32, relu_limit = -1.0 : f64}",
            " {axis = 1 : si32, only_merge = true, relu_limit = -1.0 : f64}",
        ),
        (" {only_merge = false}", " {only_merge = true}"),
    ] {
        let source = module("bm1684x", "basic", &[T.to_owned()], &[wide.to_owned()], &body(written));
        let text = assigned(&source, "assign-gmem");
        assert!(text.contains(&format!("(%a, %b){expected} : ")), "{text}");
        assert_eq!(attribute(&text, "neuron_size"), Some(3 * BYTES));
    }
}

/// The network without addresses says what is computed, the other text what was decided.
#[test]
fn what_the_pass_wrote_is_right_for_the_network_it_read() {
    for (asked, pass) in [
        ("auto", "assign-gmem"),
        ("auto", "assign-gmem{mode=documented}"),
        ("basic", "assign-gmem{mode=documented}"),
        ("auto", "assign-gmem{addr_mode=in_reuse}"),
        ("basic", "assign-gmem{addr_mode=in_reuse}"),
        ("auto", "assign-gmem{addr_mode=io_alone}"),
        ("auto", "assign-gmem{addr_mode=io_alone same_addr=\"0:0\"}"),
        ("auto", "assign-gmem{addr_mode=io_reloc}"),
    ] {
        let network = two_inputs("bm1684x", asked);
        let written = assigned(&network, pass);
        assert_eq!(complaints_about(&network, &written), Vec::<String>::new(), "{pass}\n{written}");
    }
    // Mode basic keeps the inputs: addresses that were made for another mode do not.
    let network = two_inputs("bm1684x", "basic");
    let reused = assigned(&network, "assign-gmem{addr_mode=in_reuse}").replace("\"in_reuse\"", "\"basic\"");
    assert_ne!(complaints_about(&network, &reused), Vec::<String>::new());
}

#[test]
fn tensors_without_elements_take_no_memory() {
    let (one, none) = ("tensor<1x16xf32>", "tensor<1x0xf32>");
    let body = format!(
        "      %a = \"tpu.Active\"(%arg0) : ({one}) -> {one} loc(#loc)
      %b = \"tpu.Active\"(%a) : ({one}) -> {none} loc(#loc)
      %c = \"tpu.Add\"(%b, %a) : ({none}, {one}) -> {one} loc(#loc)
      %d = \"tpu.Add\"(%b, %c) : ({none}, {one}) -> {one} loc(#loc)
      return %d : {one} loc(#loc)\n"
    );
    let network = module("bm1684x", "basic", &[one.to_owned()], &[one.to_owned()], &body);
    for pass in ["assign-gmem", "assign-gmem{mode=documented}"] {
        let text = assigned(&network, pass);
        assert_eq!(complaints_about(&network, &text), Vec::<String>::new(), "{pass}\n{text}");
        assert_eq!(complaints(&text), Vec::<String>::new(), "{pass}");
    }
    let source = memplan::source::Source::new("network.mlir", network.as_str());
    assert!(memplan::front_end::assign_gmem::reuse_table(&source).unwrap().contains("tpu.Add"));
}
