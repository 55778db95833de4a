//! Models in another order: what is written has its ops where the order says, and a wrong order does not get out.

use std::path::Path;

use memplan::driver::{self, Failure, How, Solver};
use memplan::format::Input;
use memplan::front_end::{Claim, FrontEnd, Output, Places, Reorder};
use memplan::models::graph::order::Reordered;
use memplan::source::Source;

/// The reordering front end with an emitter, or a search, that makes a mistake.
struct Misordered {
    right: Reorder,
    /// Ops that the output swaps, though the layout does not say so.
    swapped: Option<(usize, usize)>,
    /// Whether the layout itself turns the order around.
    is_backwards: bool,
}

impl FrontEnd for Misordered {
    type Input = Input;
    type Laid = Reordered;

    fn name(&self) -> &str {
        "misordered"
    }

    fn read(&self, source: &Source) -> Result<Input, Failure> {
        self.right.read(source)
    }

    fn lay_out(&self, input: &Input, solver: &mut Solver) -> Result<Reordered, Failure> {
        let mut laid = self.right.lay_out(input, solver)?;
        if self.is_backwards {
            laid.order.reverse();
        }
        Ok(laid)
    }

    fn claim<'a>(&self, input: &'a Input, laid: &'a Reordered) -> Claim<'a> {
        self.right.claim(input, laid)
    }

    fn emit(&self, input: &Input, laid: &Reordered) -> Result<Output, Failure> {
        let mut laid = laid.clone();
        if let Some((one, other)) = self.swapped {
            laid.order.swap(one, other);
        }
        self.right.emit(input, &laid)
    }

    fn places(&self, input: &Input, output: &Output) -> Result<Places, Failure> {
        self.right.places(input, output)
    }
}

#[test]
fn a_reordered_model_has_its_ops_where_the_order_says() {
    let how = How::default().strict();
    for (file, least) in [("tflite/branches.tflite", 4), ("onnx/batch.onnx", 2)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(file);
        let mut source = Source::open(&path, None).unwrap();
        source.options.models.dimensions.insert("batch".to_owned(), 1);
        let right = Misordered { right: Reorder::default(), swapped: None, is_backwards: false };
        let input = right.read(&source).unwrap();
        let laid = driver::lay_out(&right, &input, &how).unwrap();
        driver::emit(&right, &input, &laid).unwrap();
        let ops = laid.order.len();
        assert!(ops >= least, "{file} has {ops} ops");
        for one in 0..ops {
            for other in one + 1..ops {
                let wrong = Misordered { swapped: Some((one, other)), right: Reorder::default(), is_backwards: false };
                let failure = driver::emit(&wrong, &input, &laid).unwrap_err();
                assert!(matches!(failure, Failure::Unsound(_)), "{file}, {one} and {other}: {failure}");
            }
        }
        let wrong = Misordered { is_backwards: true, right: Reorder::default(), swapped: None };
        let failure = driver::lay_out(&wrong, &input, &how).unwrap_err();
        assert!(failure.to_string().contains("reads version"), "{file}: {failure}");
    }
}
