//! How the dataflow check grows with the program.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memplan_core::{Bytes, Placement};
use memplan_program::{Control, OpDraft, Program, ProgramBuilder, Size, Trips, ValueId};
use memplan_verify::dataflow::{SitePlan, check};

/// A program of about `ops` ops and a plan for it that is right.
struct Case {
    program: Program,
    plan: SitePlan,
}

struct Maker {
    builder: ProgramBuilder,
    offsets: Vec<u64>,
}

impl Maker {
    fn new() -> Maker {
        let mut builder = ProgramBuilder::new();
        builder.open_function("main", &[]);
        Maker { builder, offsets: Vec::new() }
    }

    fn buffer(&mut self, offset: u64) -> ValueId {
        let space = self.builder.space("default");
        let value = self.builder.alloc("x", Size::Known(Bytes(64)), space);
        self.builder.push(OpDraft::new("alloc").result(value));
        self.offsets.push(offset);
        value
    }

    fn open(&mut self, control: Control) {
        self.builder.open_op(OpDraft::new("region").control(control));
        self.builder.open_region(&[]);
    }

    fn close(&mut self) {
        self.builder.leave(&[]);
        self.builder.close_region();
        self.builder.close_op();
    }

    fn finish(mut self) -> Case {
        self.builder.leave(&[]);
        self.builder.close_function();
        let program = self.builder.finish().expect("well formed");
        let mut plan = SitePlan::empty(&program);
        for (site, &offset) in program.sites().ids().zip(&self.offsets) {
            plan.placements[site] = Some(Placement::at(program.site(site).space, Bytes(offset)));
        }
        Case { program, plan }
    }
}

/// Layers that reuse two buffers in turn, each with an inner loop and a branch.
fn nested_loops(ops: usize) -> Case {
    let mut maker = Maker::new();
    let mut previous = maker.buffer(0);
    maker.builder.push(OpDraft::new("fill").write(previous));
    for layer in 0..ops / 12 {
        let next = maker.buffer(64 * (1 + layer as u64) % 128);
        maker.builder.push(OpDraft::new("compute").read(previous).write(next));
        maker.open(Control::Loop(Trips::any()));
        let temporary = maker.buffer(128);
        maker.builder.push(OpDraft::new("load").read(next).write(temporary));
        maker.open(Control::Alternatives { may_skip: true });
        maker.builder.push(OpDraft::new("adjust").update(temporary));
        maker.close();
        maker.open(Control::Loop(Trips::any()));
        let inner = maker.buffer(192);
        maker.builder.push(OpDraft::new("step").read(temporary).write(inner));
        maker.builder.push(OpDraft::new("store").read(inner).update(next));
        maker.close();
        maker.close();
        previous = next;
    }
    maker.builder.push(OpDraft::new("return").escape(previous));
    maker.finish()
}

/// A straight line in which every buffer has bytes of its own: nothing is ever lost.
fn all_apart(ops: usize) -> Case {
    let mut maker = Maker::new();
    let mut previous = maker.buffer(0);
    maker.builder.push(OpDraft::new("fill").write(previous));
    for layer in 1..ops as u64 / 2 {
        let next = maker.buffer(64 * layer);
        maker.builder.push(OpDraft::new("compute").read(previous).write(next));
        previous = next;
    }
    maker.finish()
}

/// Loops in loops in loops, a thousand deep.
fn deep(ops: usize) -> Case {
    let mut maker = Maker::new();
    let depth = 1000.min(ops / 4);
    for level in 0..depth {
        let buffer = maker.buffer(64 * level as u64);
        maker.builder.push(OpDraft::new("fill").write(buffer));
        maker.open(Control::Loop(Trips::any()));
        maker.builder.push(OpDraft::new("use").update(buffer));
    }
    for _ in 0..depth {
        maker.close();
    }
    maker.finish()
}

fn growth(c: &mut Criterion) {
    let cases = [("nested", nested_loops as fn(usize) -> Case), ("apart", all_apart), ("deep", deep)];
    let largest = std::env::var("MEMPLAN_OPS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let mut group = c.benchmark_group("dataflow");
    group.sample_size(10);
    for (name, make) in cases {
        for ops in [1_000, 10_000, 100_000, 1_000_000] {
            if ops > largest || (name == "deep" && ops > 10_000) {
                continue;
            }
            let case = make(ops);
            assert_eq!(check(&case.program, &case.plan), []);
            group.throughput(Throughput::Elements(case.program.ops().len() as u64));
            group.bench_with_input(BenchmarkId::new(name, ops), &case, |b, case| {
                b.iter(|| check(&case.program, &case.plan));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, growth);
criterion_main!(benches);
