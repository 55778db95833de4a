//! Statements that start work: teams of threads, tasks, launches, regions nobody
//! knows, callees that return before their work is done.
//!
//! Whatever runs beside other code has a checksum of its own and writes only what it
//! has allocated itself, so a program prints the same under every schedule, unless
//! buffers overlap that must not. A flag makes sure that some of the work runs as
//! late as it may: it waits until the code beside it is done.
//!
//! Ops that memplan does not know have to run, too, and so do kernels without a
//! device and the regions of OpenACC, for which the tools of MLIR have no runtime.
//! [`executable`] turns them into something that a processor runs, one of the schedules that
//! they allow: gangs become threads, an asynchronous region runs until its `acc.wait`.
//!
//! ```text
//!   "my.later_3"() ({            %later_3 = async.execute {
//!     …                            …
//!     "my.end"() : () -> ()        async.yield
//!   }) : () -> ()                }
//!   …                            …
//!   "my.join_3"() : () -> ()     async.await %later_3 : !async.token
//! ```

use crate::buffers::Buffer;
use crate::generate::{Generator, Place};

/// The threads of a team.
const THREADS: usize = 2;

const FLAG: &str = "memref<1xi32>";

/// Functions that the programs with this prefix call.
pub(crate) fn helpers(prefix: &str) -> String {
    // A pool of few threads may have none left for whoever raises the flag: wait for a while only.
    crate::defects::FLAGS.replace("@p_", &format!("@{prefix}_")).replace("200000000", "5000000")
}

/// Turns what has no implementation into something that runs.
pub(crate) fn executable(module: &str) -> String {
    let mut text = String::new();
    for line in module.lines() {
        let indentation = &line[..line.len() - line.trim_start().len()];
        let line = line.trim_start();
        let changed = if let Some(changed) = crate::unusual::executable(line) {
            changed
        } else if let Some((number, _)) = after(line, "\"my.later_") {
            format!("%later_{number} = async.execute {{")
        } else if let Some((number, _)) = after(line, "\"my.join_") {
            format!("async.await %later_{number} : !async.token")
        } else if let Some((_, rest)) = after(line, "\"my.team_") {
            let threads = rest.trim_start_matches(['"', '(']).split(')').next().unwrap_or_default();
            format!("omp.parallel num_threads({threads} : i32) {{")
        } else if let Some((number, _)) = after(line, "acc.kernels async(%queue_") {
            format!("%kernels_{number} = async.execute {{")
        } else if let Some((number, _)) = after(line, "acc.wait(%queue_") {
            format!("async.await %kernels_{number} : !async.token")
        } else if let Some((gangs, _)) = after(line, "acc.parallel num_gangs({%") {
            format!("omp.parallel num_threads(%{gangs} : i32) {{")
        } else if let Some((names, _)) = after(line, "gpu.launch blocks(%") {
            let (one, bound) = (format!("%{names}_one"), format!("%{names}_bound"));
            format!("scf.parallel (%{names}) = (%{names}_zero) to ({bound}) step ({one}) {{")
        } else {
            match line {
                "\"my.end\"() : () -> ()" => "async.yield".to_owned(),
                "\"my.end_of_team\"() : () -> ()" => "omp.terminator".to_owned(),
                "acc.terminator" => "async.yield".to_owned(),
                "acc.yield" => "omp.terminator".to_owned(),
                "gpu.terminator" => "scf.reduce".to_owned(),
                "}) : () -> ()" | "}) : (i32) -> ()" => "}".to_owned(),
                line => line.to_owned(),
            }
        };
        text += indentation;
        text += &changed;
        text.push('\n');
    }
    text
}

/// The word behind a prefix, and the rest of the line.
fn after<'l>(line: &'l str, prefix: &str) -> Option<(&'l str, &'l str)> {
    let rest = line.strip_prefix(prefix)?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(rest.split_at(end))
}

impl Generator {
    pub(crate) fn concurrent(&mut self, around: &Place) {
        if self.is_beside || !self.may_launch {
            return self.fill_chosen(around);
        }
        match self.random.below(100) {
            0..18 => self.team(around),
            18..34 => self.tasks(around),
            34..46 => self.launch(around),
            46..54 if self.depth == 0 => self.later(around),
            46..62 => self.accelerated(around),
            62..78 => self.call_that_starts_work(around),
            78..88 => self.grouped(around),
            _ => self.fill_chosen(around),
        }
    }

    /// A checksum for work that runs beside the code.
    fn own_checksum(&mut self) -> String {
        let (own, start, zero) = (self.name(), self.name(), self.constant(0));
        self.line(&format!("{own} = memref.alloc() : memref<1xi64>"));
        self.line(&format!("{start} = arith.constant {} : i64", self.seed % 1000));
        self.line(&format!("memref.store {start}, {own}[{zero}] : memref<1xi64>"));
        own
    }

    fn fold(&mut self, own: &str) {
        let (total, zero) = (self.name(), self.constant(0));
        self.line(&format!("{total} = memref.load {own}[{zero}] : memref<1xi64>"));
        self.mix(&total);
    }

    /// Statements that run beside others, with a checksum of their own.
    fn beside(&mut self, around: &Place, own: &str) {
        let checksum = std::mem::replace(&mut self.checksum, own.to_owned());
        let was_beside = std::mem::replace(&mut self.is_beside, true);
        let place = Place { parallel: None, ..self.place(Some(around)) };
        self.parallel_body(&place);
        self.checksum = checksum;
        self.is_beside = was_beside;
    }

    /// A flag that is down, or none.
    fn flag(&mut self) -> Option<String> {
        if !self.random.chance(60) {
            return None;
        }
        let (flag, down) = (self.name(), self.name());
        self.line(&format!("{flag} = memref.alloc() : {FLAG}"));
        self.line(&format!("{down} = arith.constant 0 : i32"));
        self.line(&format!("linalg.fill ins({down} : i32) outs({flag} : {FLAG})"));
        Some(flag)
    }

    fn with_flag(&mut self, what: &str, flag: Option<&String>) {
        if let Some(flag) = flag {
            self.line(&format!("func.call @p{}_{what}({flag}) : ({FLAG}) -> ()", self.seed));
        }
    }

    /// Each thread of a team has its own buffers, and leaves its checksum in its place.
    fn team(&mut self, around: &Place) {
        let [threads, totals, thread, at, own, total] = [(); 6].map(|()| self.name());
        let ty = format!("memref<{THREADS}xi64>");
        self.line(&format!("{totals} = memref.alloc() : {ty}"));
        self.line(&format!("{threads} = arith.constant {THREADS} : i32"));
        let (open, last, close) = match self.random.below(10) {
            0..5 => (format!("omp.parallel num_threads({threads} : i32) {{"), "  omp.terminator", "}"),
            5..7 => (format!("acc.parallel num_gangs({{{threads} : i32}}) {{"), "  acc.yield", "}"),
            _ => (
                format!("\"my.team_{}\"({threads}) ({{", &own[1..]),
                "  \"my.end_of_team\"() : () -> ()",
                "}) : (i32) -> ()",
            ),
        };
        self.line(&open);
        self.depth += 1;
        self.line(&format!("{thread} = func.call @omp_get_thread_num() : () -> i32"));
        self.line(&format!("{at} = arith.index_cast {thread} : i32 to index"));
        let (zero, start) = (self.constant(0), self.name());
        self.line(&format!("{own} = memref.alloc() : memref<1xi64>"));
        self.line(&format!("{start} = arith.extsi {thread} : i32 to i64"));
        self.line(&format!("memref.store {start}, {own}[{zero}] : memref<1xi64>"));
        self.depth -= 1;
        for _ in 0..1 + self.random.below(2) {
            self.shared_work(around, &own);
            self.line("  omp.barrier");
        }
        self.line(&format!("  {total} = memref.load {own}[{zero}] : memref<1xi64>"));
        self.line(&format!("  memref.store {total}, {totals}[{at}] : {ty}"));
        self.line(last);
        self.line(close);
        for index in 0..THREADS {
            let (index, value) = (self.constant(index), self.name());
            self.line(&format!("{value} = memref.load {totals}[{index}] : {ty}"));
            self.mix(&value);
        }
    }

    /// What a thread of a team does: its own statements, or its share of a loop whose
    /// iterations write an element each.
    fn shared_work(&mut self, around: &Place, own: &str) {
        if self.random.chance(60) {
            return self.beside(around, own);
        }
        let [buffer, index, value, wide] = [(); 4].map(|()| self.name());
        let (zero, one, bound) = (self.constant(0), self.constant(1), self.constant(8));
        self.line("omp.wsloop {");
        self.line(&format!("  omp.loop_nest ({index}) : index = ({zero}) to ({bound}) step ({one}) {{"));
        self.line(&format!("    {buffer} = memref.alloc() : memref<8xi64>"));
        self.line(&format!("    {wide} = arith.index_cast {index} : index to i64"));
        self.line(&format!("    memref.store {wide}, {buffer}[{index}] : memref<8xi64>"));
        self.line(&format!("    {value} = memref.load {buffer}[{index}] : memref<8xi64>"));
        self.line("    omp.yield");
        self.line("  }");
        self.line("}");
    }

    /// One thread of a team starts a task and goes on; the task is over at a
    /// taskwait, at the end of a group or at the end of the team.
    fn tasks(&mut self, around: &Place) {
        let threads = self.name();
        let (own, beside) = (self.own_checksum(), self.own_checksum());
        let flag = self.flag();
        self.line(&format!("{threads} = arith.constant {THREADS} : i32"));
        self.line(&format!("omp.parallel num_threads({threads} : i32) {{"));
        self.line("omp.single {");
        let end = self.random.below(3);
        if end == 1 {
            self.line("omp.taskgroup {");
        }
        self.line("omp.task {");
        // The other thread of the team, which has nothing else to do, may wait for this one.
        self.with_flag("wait", flag.as_ref());
        self.beside(around, &own);
        self.line("  omp.terminator");
        self.line("}");
        self.beside(around, &beside);
        self.with_flag("signal", flag.as_ref());
        match end {
            0 => self.line("omp.taskwait"),
            1 => {
                self.line("  omp.terminator");
                self.line("}");
            }
            _ => {}
        }
        if end < 2 {
            // Behind the task its bytes are free.
            self.beside(around, &beside);
        }
        self.line("  omp.terminator");
        self.line("}");
        self.line("  omp.terminator");
        self.line("}");
        self.fold(&own);
        self.fold(&beside);
    }

    /// A kernel: every block of it has buffers of its own.
    fn launch(&mut self, around: &Place) {
        let id = self.name();
        let (one, blocks) = (format!("{id}_one"), format!("{id}_bound"));
        let name = &id[1..];
        let totals = self.name();
        self.line(&format!("{id}_zero = arith.constant 0 : index"));
        self.line(&format!("{one} = arith.constant 1 : index"));
        self.line(&format!("{blocks} = arith.constant {THREADS} : index"));
        self.line(&format!("{totals} = memref.alloc() : memref<{THREADS}xi64>"));
        self.line(&format!(
            "gpu.launch blocks(%{name}, {id}_y, {id}_z) in ({id}_sx = {blocks}, {id}_sy = {one}, {id}_sz = {one}) \
             threads({id}_tx, {id}_ty, {id}_tz) in ({id}_ux = {one}, {id}_uy = {one}, {id}_uz = {one}) {{"
        ));
        let own = self.own_checksum();
        self.beside(around, &own);
        let (total, zero) = (self.name(), self.constant(0));
        self.line(&format!("{total} = memref.load {own}[{zero}] : memref<1xi64>"));
        self.line(&format!("memref.store {total}, {totals}[{id}] : memref<{THREADS}xi64>"));
        self.line("gpu.terminator");
        self.line("}");
        for index in 0..THREADS {
            let (index, value) = (self.constant(index), self.name());
            self.line(&format!("{value} = memref.load {totals}[{index}] : memref<{THREADS}xi64>"));
            self.mix(&value);
        }
    }

    /// A region nobody knows, which runs at the end of the function. What it may
    /// read is not written any more.
    fn later(&mut self, around: &Place) {
        let own = self.own_checksum();
        let flag = self.flag();
        let number = own[2..].to_owned();
        self.line(&format!("\"my.later_{number}\"() ({{"));
        self.with_flag("wait", flag.as_ref());
        self.beside(around, &own);
        self.line("  \"my.end\"() : () -> ()");
        self.line("}) : () -> ()");
        for buffer in &mut self.scope {
            (buffer.is_writable, buffer.home) = (false, None);
        }
        self.at_the_end.push((number, own, flag));
    }

    /// Waits for what runs at the end of the function.
    pub(crate) fn join_all(&mut self) {
        for (number, own, flag) in std::mem::take(&mut self.at_the_end) {
            self.with_flag("signal", flag.as_ref());
            self.line(&format!("\"my.join_{number}\"() : () -> ()"));
            self.fold(&own);
        }
    }

    /// An asynchronous region of OpenACC. Which `acc.wait` is for it, numbers decide when the program runs.
    fn accelerated(&mut self, around: &Place) {
        let (own, beside) = (self.own_checksum(), self.own_checksum());
        let flag = self.flag();
        let queue = format!("%queue_{}", &own[2..]);
        self.line(&format!("{queue} = arith.constant 1 : i32"));
        self.line(&format!("acc.kernels async({queue} : i32) {{"));
        self.with_flag("wait", flag.as_ref());
        self.beside(around, &own);
        self.line("  acc.terminator");
        self.line("}");
        self.line("scf.execute_region {");
        self.beside(around, &beside);
        self.line("  scf.yield");
        self.line("}");
        self.with_flag("signal", flag.as_ref());
        self.line(&format!("acc.wait({queue} : i32)"));
        self.fold(&own);
        self.fold(&beside);
    }

    /// Asynchronous regions in a group, several of them if a loop starts them.
    fn grouped(&mut self, around: &Place) {
        let [group, size, token, rank] = [(); 4].map(|()| self.name());
        let own = self.own_checksum();
        let flag = self.flag();
        self.line(&format!("{size} = arith.constant 1 : index"));
        self.line(&format!("{group} = async.create_group {size} : !async.group"));
        self.line(&format!("{token} = async.execute {{"));
        self.with_flag("wait", flag.as_ref());
        self.beside(around, &own);
        self.line("  async.yield");
        self.line("}");
        self.line(&format!("{rank} = async.add_to_group {token}, {group} : !async.token"));
        let beside = self.own_checksum();
        self.line("scf.execute_region {");
        self.beside(around, &beside);
        self.line("  scf.yield");
        self.line("}");
        self.with_flag("signal", flag.as_ref());
        self.line(&format!("async.await_all {group}"));
        self.fold(&own);
        self.fold(&beside);
    }

    /// A callee that starts work on a buffer, through another call, and returns what
    /// stands for the work.
    fn call_that_starts_work(&mut self, around: &Place) {
        let starters: Vec<(usize, Buffer)> = self.starters.iter().cloned().enumerate().collect();
        let Some((number, model)) = starters.last().cloned() else { return self.grouped(around) };
        let ty = model.ty();
        let Some(buffer) = self.any(|buffer| buffer.is_ready && buffer.ty() == ty) else { return };
        let own = self.own_checksum();
        let flag = self.flag();
        let token = self.name();
        let held = match &flag {
            Some(flag) => flag.clone(),
            None => {
                let up = self.name();
                self.line(&format!("{up} = memref.alloc() : {FLAG}"));
                self.line(&format!("func.call @p{}_signal({up}) : ({FLAG}) -> ()", self.seed));
                up
            }
        };
        self.line(&format!(
            "{token} = func.call @p{}_s{number}({own}, {}, {held}) : (memref<1xi64>, {ty}, {FLAG}) -> !async.token",
            self.seed, buffer.name
        ));
        let beside = self.own_checksum();
        self.line("scf.execute_region {");
        self.beside(around, &beside);
        self.line("  scf.yield");
        self.line("}");
        self.with_flag("signal", flag.as_ref());
        self.line(&format!("async.await {token} : !async.token"));
        self.fold(&own);
        self.fold(&beside);
    }

    /// The functions that `call_that_starts_work` calls.
    pub(crate) fn starter(&mut self) {
        let (element, shape, is_elsewhere) = self.random.pick(&self.palette).clone();
        let model = Buffer::plain("%x", element, shape, is_elsewhere);
        let (ty, seed, number) = (model.ty(), self.seed, self.starters.len());
        self.text += &format!(
            "func.func @p{seed}_f{number}(%acc: memref<1xi64>, %x: {ty}, %flag: {FLAG}) {{\n  \
             func.call @p{seed}_wait(%flag) : ({FLAG}) -> ()\n"
        );
        self.sum(&model);
        self.text += "  return\n}\n";
        self.text += &format!(
            "func.func @p{seed}_s{number}(%acc: memref<1xi64>, %x: {ty}, %flag: {FLAG}) -> !async.token {{\n  \
             %t = async.execute {{\n    func.call @p{seed}_f{number}(%acc, %x, %flag) : (memref<1xi64>, {ty}, {FLAG}) -> ()\n    \
             async.yield\n  }}\n  return %t : !async.token\n}}\n"
        );
        self.starters.push(model);
    }

    /// Each iteration of a parallel loop writes its element of a buffer that a select chose.
    pub(crate) fn fill_chosen(&mut self, place: &Place) {
        let fits = |buffer: &Buffer| buffer.is_ready && buffer.is_writable && buffer.shape.len() == 1;
        let Some(left) = self.any(fits) else { return self.alloc(place) };
        let Some(right) = self.partner(&left).filter(|right| right.is_writable) else { return };
        let (condition, chosen, index) = (self.condition(place), self.name(), self.name());
        let ty = left.ty();
        if self.random.chance(50) {
            self.line(&format!("{chosen} = arith.select {condition}, {}, {} : {ty}", left.name, right.name));
        } else {
            self.line(&format!("{chosen} = scf.if {condition} -> ({ty}) {{"));
            self.line(&format!("  scf.yield {} : {ty}", left.name));
            self.line("} else {");
            self.line(&format!("  scf.yield {} : {ty}", right.name));
            self.line("}");
        }
        self.push_merged(chosen.clone(), &left, &right);
        let target = left.alias(chosen);
        self.line(&format!("scf.forall ({index}) in ({}) {{", target.shape[0]));
        self.depth += 1;
        self.poke_at(&target, &[index]);
        self.depth -= 1;
        self.line("}");
    }
}
