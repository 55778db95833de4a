//! A generator of kernels: loads, vector ops, stores, double buffers, loops that
//! carry buffers, branches, casts, views, selects, loops of blocks.

use std::fmt::Write;

/// The numbers that every test draws, with the questions of this generator.
pub(crate) struct Random(memplan_testkit::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(memplan_testkit::Random::new(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.index(limit)
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
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

    /// A load into a buffer that shares with nobody.
    fn load_alone(&mut self) {
        self.load();
        let (name, class) = self.ready[self.ready.len() - 1].clone();
        self.line(&format!("annotation.mark {name} {{mem_unique}} : {}", ty(class)));
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
            match self.random.below(32) {
                0..7 => self.load(),
                7..15 => self.compute(),
                15..19 => self.store(),
                19 => self.select(),
                20 => self.part(),
                21 => self.part_at_run_time(),
                22 => self.with_temporary(),
                23 => self.preload(),
                24 => self.cast(),
                25 => self.compare(),
                26 => self.with_gaps(),
                27 if self.depth < 4 => self.branch(),
                28 if self.depth < 4 => self.repeat(),
                29 if self.depth < 4 => self.carry(),
                30 if self.depth < 4 => self.decide(),
                31 if self.depth < 3 => self.uneven(),
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

    /// A part of one buffer goes to a part of another, both at places known at run time.
    fn part_at_run_time(&mut self) {
        let Some((name, class)) = self.pick() else { return };
        let length = CLASSES[class] / 4;
        let view = format!("memref<{length}xf16, strided<[1], offset: ?>, #hivm.address_space<ub>>");
        let (from, to) = (self.fresh("v"), self.fresh("v"));
        let target = self.alloc(class, 1);
        let same = self.random.below(2);
        self.line(&format!("{from} = memref.subview {name}[%o0] [{length}] [1] : {} to {view}", ty(class)));
        self.line(&format!("{to} = memref.subview {target}[%o{same}] [{length}] [1] : {} to {view}", ty(class)));
        self.line(&format!("hivm.hir.vabs ins({from} : {view}) outs({to} : {view})"));
        self.ready.push((target, class));
    }

    /// To wider elements and back; in between, what a cast of the type hides.
    fn cast(&mut self) {
        let Some((name, class)) = self.pick() else { return };
        let (wide, narrow) = (self.fresh("w"), self.alloc(class, 1));
        let (t, w) = (ty(class), format!("memref<{}xf32, #hivm.address_space<ub>>", CLASSES[class]));
        self.line(&format!("{wide} = memref.alloc() : {w}"));
        self.line(&format!("hivm.hir.vcast ins({name} : {t}) outs({wide} : {w})"));
        self.line(&format!("hivm.hir.vcast ins({wide} : {w}) outs({narrow} : {t})"));
        let (any, same) = (self.fresh("v"), self.fresh("v"));
        let dynamic = "memref<?xf16, #hivm.address_space<ub>>";
        self.line(&format!("{any} = memref.cast {narrow} : {t} to {dynamic}"));
        self.line(&format!("{same} = memref.cast {any} : {dynamic} to {t}"));
        self.ready.push((same, class));
    }

    /// A condition in a part of a large buffer, and a choice by it.
    fn compare(&mut self) {
        let Some((name, class)) = self.pick() else { return };
        let (t, length) = (ty(class), CLASSES[class]);
        let flags = format!("memref<{}xi1, #hivm.address_space<ub>>", 16 * length);
        let view = format!("memref<{length}xi1, #hivm.address_space<ub>>");
        let (large, part) = (self.fresh("c"), self.fresh("v"));
        let output = self.alloc(class, 1);
        self.line(&format!("{large} = memref.alloc() : {flags}"));
        self.line(&format!("{part} = memref.subview {large}[0] [{length}] [1] : {flags} to {view}"));
        self.line(&format!("hivm.hir.vcmp ins({name}, {name} : {t}, {t}) outs({part} : {view})"));
        let inputs = format!("{part}, {name}, {name} : {view}, {t}, {t}");
        self.line(&format!("hivm.hir.vsel ins({inputs}) outs({output} : {t})"));
        self.ready.push((output, class));
    }

    /// Every other element of a buffer.
    fn with_gaps(&mut self) {
        let class = self.random.below(CLASSES.len());
        let (name, length) = (self.fresh("g"), CLASSES[class]);
        let local = format!("memref<{length}xf16, strided<[2]>, #hivm.address_space<ub>>");
        let gm = format!("memref<{length}xf16, strided<[2]>, #hivm.address_space<gm>>");
        self.line(&format!("{name} = memref.alloc() : {local}"));
        self.line(&format!("hivm.hir.load ins(%gaps{class} : {gm}) outs({name} : {local})"));
        let ops = 1 + self.random.below(3);
        (0..ops).for_each(|_| self.load());
        self.line(&format!("hivm.hir.store ins({name} : {local}) outs(%gaps{class} : {gm})"));
    }

    /// Branches of which one hands out a small buffer and one a part of a large one.
    fn uneven(&mut self) {
        let (large, small) = (self.alloc(2, 1), self.alloc(1, 1));
        let view = ty(1);
        let (part, result) = (self.fresh("v"), self.fresh("r"));
        let condition = format!("%flag{}", self.random.below(2));
        self.line(&format!("{result} = scf.if {condition} -> ({view}) {{"));
        let gm = |class: usize| format!("memref<{}xf16, #hivm.address_space<gm>>", CLASSES[class]);
        self.depth += 1;
        self.line(&format!("hivm.hir.load ins(%gm1 : {}) outs({small} : {view})", gm(1)));
        self.line(&format!("scf.yield {small} : {view}"));
        self.depth -= 1;
        self.line("} else {");
        let visible = self.ready.len();
        self.depth += 1;
        self.line(&format!("hivm.hir.load ins(%gm2 : {}) outs({large} : {})", gm(2), ty(2)));
        let ops = 1 + self.random.below(3);
        self.body(ops);
        self.line(&format!("hivm.hir.store ins({large} : {}) outs(%gm2 : {})", ty(2), gm(2)));
        let length = CLASSES[1];
        self.line(&format!("{part} = memref.subview {large}[0] [{length}] [1] : {} to {view}", ty(2)));
        self.line(&format!("scf.yield {part} : {view}"));
        self.depth -= 1;
        self.ready.truncate(visible);
        self.line("}");
        self.ready.push((result, 1));
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

/// The kernel of a number.
pub(crate) fn kernel(seed: u64) -> String {
    let random = Random::new(seed);
    let mut writer = Writer { random, text: String::new(), depth: 1, names: 0, ready: Vec::new() };
    let gm = |class: usize| {
        let length = CLASSES[class];
        format!(
            "%gm{class}: memref<{length}xf16, #hivm.address_space<gm>>, \
             %gaps{class}: memref<{length}xf16, strided<[2]>, #hivm.address_space<gm>>"
        )
    };
    let arguments: Vec<String> = (0..3).map(gm).collect();
    let (returned, blocks) = (writer.random.chance(15), writer.random.chance(10));
    if writer.random.chance(20) {
        writer.load_alone();
    } else {
        writer.load();
    }
    writer.line("%c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index");
    let ops = 6 + writer.random.below(16);
    if blocks {
        writer.body(ops / 3);
        writer.text += "  cf.br ^head\n^head:\n";
        writer.body(ops / 3);
        writer.text += "  cf.cond_br %flag0, ^head, ^out\n^out:\n";
        writer.body(ops / 3);
    } else {
        writer.body(ops);
    }
    writer.store();
    let (name, class) = writer.ready[0].clone();
    let result = if returned { format!(" -> {}", ty(class)) } else { String::new() };
    let end = if returned { format!("return {name} : {}", ty(class)) } else { "return".to_owned() };
    let (body, arguments) = (writer.text, arguments.join(", "));
    format!(
        "func.func @kernel({arguments}, %n: index, %o0: index, %o1: index, %flag0: i1, %flag1: i1){result} {{\n{body}  \
         {end}\n}}\n"
    )
}
