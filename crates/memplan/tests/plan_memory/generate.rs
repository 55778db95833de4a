//! Generated kernels with little more memory than they need at their peak: every
//! one is planned, the dataflow check is silent, and most of them really share.
//! With a mistake of the original put back, it is noticed.

use std::fmt::Write;

use memplan_core::Bytes;
use memplan_mlir::pass::PassError;
use memplan_mlir::pass::plan_memory::{self, Defect, Options, Planned, Target};
use memplan_mlir::{Dialects, Document, Lowered, lower};
use memplan_planner::Request;
use memplan_verify::{dataflow, packing};

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Elements of the buffers; those of one class work on each other.
const CLASSES: [usize; 3] = [256, 1024, 4096];

struct Writer {
    random: Random,
    text: String,
    depth: usize,
    names: usize,
    /// Buffers that may be read, each with its class.
    ready: Vec<(String, usize)>,
}

fn ty(class: usize) -> String {
    format!("memref<{}xf16, #hivm.address_space<ub>>", CLASSES[class])
}

impl Writer {
    fn line(&mut self, text: &str) {
        writeln!(self.text, "{}{text}", "  ".repeat(self.depth)).unwrap();
    }

    fn fresh(&mut self, word: &str) -> String {
        self.names += 1;
        format!("%{word}{}", self.names)
    }

    fn alloc(&mut self, class: usize, slots: usize) -> String {
        let name = self.fresh("b");
        self.line(&format!("{name} = memref.alloc() : {}", ty(class)));
        if slots > 1 {
            self.line(&format!("annotation.mark {name} {{hivm.multi_buffer = {slots} : i32}} : {}", ty(class)));
        }
        name
    }

    fn slots(&mut self) -> usize {
        if self.depth > 1 && self.random.chance(30) { 2 } else { 1 }
    }

    fn load(&mut self) {
        let (class, slots) = (self.random.below(CLASSES.len()), self.slots());
        let name = self.alloc(class, slots);
        let gm = format!("memref<{}xf16, #hivm.address_space<gm>>", CLASSES[class]);
        self.line(&format!("hivm.hir.load ins(%gm{class} : {gm}) outs({name} : {})", ty(class)));
        self.ready.push((name, class));
    }

    fn pick(&mut self) -> Option<(String, usize)> {
        let recent = self.ready.len().saturating_sub(6);
        let at = recent + self.random.below(self.ready.len() - recent);
        self.ready.get(at).cloned()
    }

    fn compute(&mut self) {
        let Some((input, class)) = self.pick() else { return self.load() };
        let slots = self.slots();
        let output = self.alloc(class, slots);
        let other = self.ready.iter().rev().find(|(name, c)| *c == class && *name != input).cloned();
        let t = ty(class);
        match (self.random.below(4), other) {
            (0, Some((other, _))) => {
                self.line(&format!("hivm.hir.vadd ins({input}, {other} : {t}, {t}) outs({output} : {t})"));
            }
            (1, _) => self.line(&format!("hivm.hir.vexp ins({input} : {t}) outs({output} : {t})")),
            (2, _) => self.line(&format!("hivm.hir.vcumsum ins({input} : {t}) outs({output} : {t})")),
            _ => self.line(&format!("hivm.hir.vmul ins({input}, {input} : {t}, {t}) outs({output} : {t})")),
        }
        self.ready.push((output, class));
    }

    fn store(&mut self) {
        let Some((name, class)) = self.pick() else { return };
        let gm = format!("memref<{}xf16, #hivm.address_space<gm>>", CLASSES[class]);
        self.line(&format!("hivm.hir.store ins({name} : {}) outs(%gm{class} : {gm})", ty(class)));
    }

    fn body(&mut self, ops: usize) {
        for _ in 0..ops {
            match self.random.below(24) {
                0..6 => self.load(),
                6..13 => self.compute(),
                13..16 => self.store(),
                16 => self.select(),
                17 => self.part(),
                18 => self.with_temporary(),
                19 => self.preload(),
                20 if self.depth < 4 => self.branch(),
                21 if self.depth < 4 => self.repeat(),
                22 if self.depth < 4 => self.carry(),
                _ if self.depth < 4 => self.decide(),
                _ => self.store(),
            }
        }
    }

    /// One buffer or another, decided at run time.
    fn select(&mut self) {
        let Some((one, class)) = self.pick() else { return };
        let other = self.of_class(class);
        let (result, flag) = (self.fresh("s"), self.random.below(2));
        self.line(&format!("{result} = arith.select %flag{flag}, {one}, {other} : {}", ty(class)));
        self.ready.push((result, class));
    }

    /// Half of a buffer is computed anew, in place of itself or not.
    fn part(&mut self) {
        let Some((name, class)) = self.pick() else { return };
        let half = CLASSES[class] / 2;
        let view = format!("memref<{half}xf16, strided<[1], offset: {half}>, #hivm.address_space<ub>>");
        let (from, to) = (self.fresh("v"), self.fresh("v"));
        let target = self.alloc(class, 1);
        self.line(&format!("{from} = memref.subview {name}[{half}] [{half}] [1] : {} to {view}", ty(class)));
        self.line(&format!("{to} = memref.subview {target}[{half}] [{half}] [1] : {} to {view}", ty(class)));
        self.line(&format!("hivm.hir.vrelu ins({from} : {view}) outs({to} : {view})"));
        self.ready.push((target, class));
    }

    fn with_temporary(&mut self) {
        let Some((input, class)) = self.pick() else { return };
        let (output, temporary) = (self.alloc(class, 1), self.alloc(0, 1));
        let t = ty(class);
        self.line(&format!(
            "hivm.hir.vtranspose ins({input} : {t}) outs({output} : {t}) temp_buffer({temporary} : {})",
            ty(0)
        ));
        self.ready.push((output, class));
    }

    /// Filled ahead of its loop's next iteration.
    fn preload(&mut self) {
        if self.depth == 1 {
            return self.load();
        }
        self.load();
        let (name, class) = self.ready[self.ready.len() - 1].clone();
        self.line(&format!("annotation.mark {name} {{hivm.preload_local_buffer = 1 : i32}} : {}", ty(class)));
    }

    /// A loop that decides in its first region and carries a buffer.
    fn decide(&mut self) {
        let class = self.random.below(CLASSES.len());
        let (init, t) = (self.of_class(class), ty(class));
        let (argument, passed, result) = (self.fresh("x"), self.fresh("y"), self.fresh("r"));
        self.line(&format!("{result} = scf.while ({argument} = {init}) : ({t}) -> {t} {{"));
        for region in 0..2 {
            let visible = self.ready.len();
            self.depth += 1;
            if region == 1 {
                self.line(&format!("^bb0({passed}: {t}):"));
            }
            self.ready.push((if region == 0 { argument.clone() } else { passed.clone() }, class));
            let ops = 1 + self.random.below(3);
            self.body(ops);
            let given = self.of_class(class);
            let flag = self.random.below(2);
            self.line(&match region {
                0 => format!("scf.condition(%flag{flag}) {given} : {t}"),
                _ => format!("scf.yield {given} : {t}"),
            });
            self.depth -= 1;
            self.ready.truncate(visible);
            self.line(if region == 0 { "} do {" } else { "}" });
        }
        self.ready.push((result, class));
    }

    /// A branch whose results are one buffer or another.
    fn branch(&mut self) {
        let class = self.random.below(CLASSES.len());
        let result = self.fresh("r");
        let condition = format!("%flag{}", self.random.below(2));
        self.line(&format!("{result} = scf.if {condition} -> ({}) {{", ty(class)));
        for side in 0..2 {
            let visible = self.ready.len();
            self.depth += 1;
            let ops = 1 + self.random.below(3);
            self.body(ops);
            let yielded = self.of_class(class);
            self.line(&format!("scf.yield {yielded} : {}", ty(class)));
            self.depth -= 1;
            self.ready.truncate(visible);
            self.line(if side == 0 { "} else {" } else { "}" });
        }
        self.ready.push((result, class));
    }

    fn repeat(&mut self) {
        let index = self.fresh("i");
        self.line(&format!("scf.for {index} = %c0 to %n step %c1 {{"));
        let visible = self.ready.len();
        self.depth += 1;
        let ops = 2 + self.random.below(5);
        self.body(ops);
        self.depth -= 1;
        self.ready.truncate(visible);
        self.line("}");
    }

    /// A loop that hands a buffer from one iteration to the next.
    fn carry(&mut self) {
        let class = self.random.below(CLASSES.len());
        let init = self.of_class(class);
        let (index, argument, result) = (self.fresh("i"), self.fresh("x"), self.fresh("r"));
        let t = ty(class);
        self.line(&format!(
            "{result} = scf.for {index} = %c0 to %n step %c1 iter_args({argument} = {init}) -> ({t}) {{"
        ));
        let visible = self.ready.len();
        self.depth += 1;
        self.ready.push((argument.clone(), class));
        let ops = self.random.below(4);
        self.body(ops);
        let next = self.alloc(class, 1);
        self.line(&format!("hivm.hir.vadd ins({argument}, {argument} : {t}, {t}) outs({next} : {t})"));
        self.ready.push((next, class));
        let ops = self.random.below(2);
        self.body(ops);
        let yielded = self.of_class(class);
        self.line(&format!("scf.yield {yielded} : {t}"));
        self.depth -= 1;
        self.ready.truncate(visible);
        self.line("}");
        self.ready.push((result, class));
    }

    /// A buffer of a class, a new one if need be.
    fn of_class(&mut self, class: usize) -> String {
        let known = self.ready.iter().rev().find(|(_, other)| *other == class).map(|(name, _)| name.clone());
        if let Some(name) = known {
            return name;
        }
        let name = self.alloc(class, 1);
        let gm = format!("memref<{}xf16, #hivm.address_space<gm>>", CLASSES[class]);
        self.line(&format!("hivm.hir.load ins(%gm{class} : {gm}) outs({name} : {})", ty(class)));
        self.ready.push((name.clone(), class));
        name
    }
}

fn kernel(seed: u64) -> String {
    let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut writer = Writer { random, text: String::new(), depth: 1, names: 0, ready: Vec::new() };
    let gm: Vec<String> =
        (0..3).map(|class| format!("%gm{class}: memref<{}xf16, #hivm.address_space<gm>>", CLASSES[class])).collect();
    let returned = writer.random.chance(15);
    writer.load();
    writer.line("%c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index");
    let ops = 6 + writer.random.below(16);
    writer.body(ops);
    writer.store();
    let (name, class) = writer.ready[0].clone();
    let result = if returned { format!(" -> {}", ty(class)) } else { String::new() };
    let end = if returned { format!("return {name} : {}", ty(class)) } else { "return".to_owned() };
    let body = writer.text;
    format!("func.func @kernel({}, %n: index, %flag0: i1, %flag1: i1){result} {{\n{body}  {end}\n}}\n", gm.join(", "))
}

struct Case {
    text: String,
    document: Document,
    lowered: Lowered,
}

impl Case {
    fn new(seed: u64) -> Case {
        let text = kernel(seed);
        let document = Document::read(&text, Dialects::builtin()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let lowered = lower(&document).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Case { text, document, lowered }
    }

    fn plan(&self, capacity: u64, defect: Option<Defect>) -> Result<Planned, PassError> {
        let device = format!("scope = [{{ name = \"ub\", capacity = {capacity}, alignment = 32 }}]");
        let target: Target = device.parse().unwrap();
        let options = Options { defect, ..Options::default() };
        let request = Request { work_limit: Some(20_000), ..Request::default() };
        plan_memory::run(&self.document, &self.lowered, &options, Some(&target), None, &request)
    }

    /// A little more than what is alive at the worst moment.
    fn capacity(&self) -> Option<u64> {
        let planned = match self.plan(1 << 30, None) {
            Ok(planned) => planned,
            Err(PassError::Op { message, .. }) if message.contains("no fixed address") => return None,
            Err(error) => panic!("{error}\n{}", self.text),
        };
        let peak = planned.rewrite.stats.first().map_or(0, |row| row.lower_bound);
        Some(peak + peak / 10)
    }

    fn is_sound(&self, planned: &Planned) -> bool {
        let placements = planned.rewrite.placements.clone();
        let plan = dataflow::SitePlan { placements, owners: Default::default() };
        dataflow::check(&self.lowered.program, &plan).is_empty()
    }
}

fn count() -> u64 {
    if std::env::var_os("MEMPLAN_FULL").is_some() { 40_000 } else { 2_000 }
}

#[test]
fn generated_kernels_are_planned_soundly_with_little_memory() {
    let (mut planned, mut shared, mut crossed, mut refused) = (0, 0, 0, 0);
    for seed in 1..=count() {
        let case = Case::new(seed);
        let Some(capacity) = case.capacity() else {
            refused += 1;
            continue;
        };
        let result = match case.plan(capacity, None) {
            Ok(result) => result,
            Err(PassError::DoesNotFit(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{error}\n{}", case.text),
        };
        let function = &result.functions[0];
        assert_eq!(packing::check(&function.problem, &function.plan), [], "seed {seed}\n{}", case.text);
        assert!(case.is_sound(&result), "seed {seed}\n{}", case.text);
        let row = &result.rewrite.stats[0];
        planned += 1;
        shared += u64::from(row.after < row.before);
        crossed += function.report.as_ref().map_or(0, |report| report.crossings.len());
        let text = result.rewrite.edits.apply(&case.text).unwrap();
        assert!(!text.contains("memref.alloc"), "seed {seed}");
        assert!(row.after <= Bytes(capacity).0);
    }
    println!("{planned} planned, {shared} share, {crossed} sharings across pipes, {refused} refused");
    assert!(refused * 20 < planned, "{refused} of {planned} refused");
    assert!(shared * 10 >= planned * 8, "{shared} of {planned} share");
}

/// A mistake that is put back shows in some of the kernels.
fn is_caught(defect: Defect) {
    let caught = (1..=count() / 4).any(|seed| {
        let case = Case::new(seed);
        let Some(capacity) = case.capacity() else { return false };
        let results = [case.plan(1 << 30, Some(defect)), case.plan(capacity, Some(defect))];
        results.iter().flatten().any(|planned| !case.is_sound(planned))
    });
    assert!(caught, "{defect:?} is not caught");
}

#[test]
fn joining_without_a_look_at_interference_is_caught() {
    is_caught(Defect::JoinUnchecked);
}

#[test]
fn one_slot_for_two_instances_is_caught() {
    is_caught(Defect::OneSlot);
}

#[test]
fn forgetting_what_is_returned_is_caught() {
    is_caught(Defect::ReturnedDies);
}

#[test]
fn overwriting_a_donor_that_is_still_read_is_caught() {
    is_caught(Defect::DonorLives);
}
