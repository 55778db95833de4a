//! Random programs on memrefs that end, read nothing they have not written, and
//! fold what they read into a checksum.
//!
//! A program is a function `@pN(%acc: memref<1xi64>)` with helpers `@pN_hM`. It
//! is written statement by statement. The generator knows the memrefs in scope,
//! which of them are written all over (only those are read), and which may be
//! written here: inside a parallel loop only what the iteration made itself.
//! Buffers come and go, so that their lives differ; a buffer is summed up before
//! it goes, so that a byte somebody else overwrote changes the checksum.

use crate::buffers::{Buffer, Element};
use crate::random::Random;

/// The program of a seed, which runs in one thread but for a few asynchronous regions.
pub(crate) fn program(seed: u64) -> String {
    generate(seed, Kind::Plain)
}

/// A program of a seed that starts work of many kinds, see `concurrent`.
pub(crate) fn concurrent_program(seed: u64) -> String {
    generate(seed, Kind::StartsWork)
}

/// A program of a seed with statements that are seldom printed, see `unusual`.
pub(crate) fn unusual_program(seed: u64) -> String {
    generate(seed, Kind::Unusual)
}

/// Which statements a program has besides those of every program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    StartsWork,
    Unusual,
}

fn generate(seed: u64, kind: Kind) -> String {
    let mut random = Random::new(seed);
    let shapes: [&[u64]; 6] = [&[8], &[16], &[40], &[4, 8], &[2, 4], &[3, 5]];
    let palette = (0..2 + random.below(2))
        .map(|_| (*random.pick(&Element::ALL), random.pick(&shapes).to_vec(), random.chance(15)))
        .collect();
    let mut generator = Generator {
        seed,
        random,
        palette,
        text: String::new(),
        helpers: Vec::new(),
        scope: Vec::new(),
        checksum: "%acc".to_owned(),
        is_beside: false,
        may_launch: false,
        kind,
        starters: Vec::new(),
        at_the_end: Vec::new(),
        names: 0,
        blocks: 0,
        depth: 0,
        budget: 0,
    };
    if kind == Kind::Unusual {
        for (at, (element, shape, is_elsewhere)) in generator.palette.iter().enumerate() {
            let ty = Buffer::plain("", *element, shape.clone(), *is_elsewhere).ty();
            generator.text += &crate::unusual::wrappers(&format!("p{seed}_w{at}_"), &ty);
        }
    }
    for helper in 0..generator.random.below(3) {
        generator.helper(helper);
    }
    if kind == Kind::StartsWork {
        generator.text += &crate::concurrent::helpers(&format!("p{seed}"));
        generator.starter();
    }
    generator.may_launch = true;
    generator.function();
    generator.text
}

pub(crate) struct Generator {
    pub(crate) seed: u64,
    pub(crate) random: Random,
    /// The buffer types of this program; few, so that there are pairs. Whether
    /// they are in the memory space that is not the default one comes last.
    pub(crate) palette: Vec<(Element, Vec<u64>, bool)>,
    pub(crate) text: String,
    /// For each helper a buffer of the type that it takes and returns.
    helpers: Vec<Buffer>,
    /// The memrefs that can be named here, in the order in which they were made. Those of an inner block come last and
    /// are cut off at its end.
    pub(crate) scope: Vec<Buffer>,
    /// What the code here folds its numbers into: an asynchronous region has its own.
    pub(crate) checksum: String,
    /// Whether this code runs beside other code: then memory from outside is only read.
    pub(crate) is_beside: bool,
    /// Whether regions may be launched: not from helpers, which may run on a
    /// thread of the pool and would wait there for another one.
    pub(crate) may_launch: bool,
    /// Which statements are among the program's.
    kind: Kind,
    /// What the functions that start work take.
    pub(crate) starters: Vec<Buffer>,
    /// Regions that run at the end of the function: a number, a checksum, a flag to raise.
    pub(crate) at_the_end: Vec<(String, String, Option<String>)>,
    /// How many names of values have been given.
    names: usize,
    /// How many blocks have been begun.
    blocks: usize,
    /// How many braces are open.
    pub(crate) depth: usize,
    /// How many statements the function may still have.
    budget: usize,
}

/// Where control is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The number of the block. A buffer may be freed only in the block that allocates it (`Buffer::home`).
    pub(crate) block: usize,
    /// The innermost loop's variable, if any.
    pub(crate) iteration: Option<String>,
    /// The innermost parallel loop's variable and its trip count.
    pub(crate) parallel: Option<(String, usize)>,
}

/// How a sequential loop begins and what ends its body.
struct LoopHeader {
    text: String,
    index: String,
    yields: &'static str,
}

impl Generator {
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth + 1));
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(crate) fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    pub(crate) fn constant(&mut self, value: usize) -> String {
        let name = self.name();
        self.line(&format!("{name} = arith.constant {value} : index"));
        name
    }

    fn function(&mut self) {
        self.text += &format!("func.func @p{}(%acc: memref<1xi64>) {{\n", self.seed);
        self.budget = 14 + self.random.below(26);
        let place = self.place(None);
        let mark = self.scope.len();
        while self.budget > 0 {
            self.statement(&place);
        }
        self.join_all();
        self.end_of_block(&place, mark);
        self.text += "  return\n}\n";
    }

    /// A function that computes with its two arguments and returns one of them or a buffer of its own.
    fn helper(&mut self, number: usize) {
        let (element, shape, is_elsewhere) = self.random.pick(&self.palette).clone();
        let argument = |name: &str| Buffer::plain(name, element, shape.clone(), is_elsewhere);
        let (x, y) = (argument("%x"), argument("%y"));
        let ty = x.ty();
        self.text +=
            &format!("func.func @p{}_h{number}(%acc: memref<1xi64>, %x: {ty}, %y: {ty}) -> {ty} {{\n", self.seed);
        self.budget = 3 + self.random.below(5);
        self.scope = vec![x.clone(), y.clone()];
        let place = self.place(None);
        while self.budget > 0 {
            self.statement(&place);
        }
        let result = self.partner(&x).unwrap_or(y);
        self.line(&format!("return {} : {ty}", result.name));
        self.text += "}\n";
        self.scope.clear();
        self.helpers.push(result);
    }

    pub(crate) fn place(&mut self, around: Option<&Place>) -> Place {
        self.blocks += 1;
        let (iteration, parallel) =
            around.map_or((None, None), |place| (place.iteration.clone(), place.parallel.clone()));
        Place { block: self.blocks, iteration, parallel }
    }

    // Statements

    /// Writes one statement, chosen by chance: the numbers are percentages. A statement that needs something that is
    /// not there (two buffers of one type, for example) writes nothing. Statements with regions nest up to four deep.
    fn statement(&mut self, place: &Place) {
        self.budget = self.budget.saturating_sub(1);
        let nested = self.depth < 4 && self.budget > 2;
        if self.kind == Kind::StartsWork && nested && self.random.chance(25) {
            return self.concurrent(place);
        }
        if self.kind == Kind::Unusual && nested && self.random.chance(30) {
            return self.unusual(place);
        }
        match self.random.below(100) {
            0..18 => self.alloc(place),
            18..24 => self.initialize_one(place),
            24..36 => self.update(),
            36..42 => self.poke(place),
            42..50 => self.sum_one(),
            50..58 => self.view(),
            58..62 => self.select(place),
            62..68 => self.retire(place),
            68..71 => self.call(),
            71..76 if nested => self.for_loop(place),
            76..80 if nested => self.carrying_loop(place),
            80..84 if nested => self.while_loop(place),
            84..87 if nested => self.branch(place),
            87..89 if nested => self.switch(place),
            89..91 if nested => self.yielding_branch(place),
            91..94 if nested => self.forall(place),
            94..96 if nested => self.parallel(place),
            96..98 if nested => self.region(place),
            98..100 if nested => self.asynchronous(place),
            _ => self.alloc(place),
        }
    }

    /// Allocates a buffer of a type of the palette, with or without an alignment of its own, and mostly writes all of
    /// it at once.
    pub(crate) fn alloc(&mut self, place: &Place) {
        let (element, shape, is_elsewhere) = self.random.pick(&self.palette).clone();
        let name = self.name();
        let buffer = Buffer {
            name: name.clone(),
            element,
            is_elsewhere,
            shape,
            layout: None,
            is_ready: false,
            is_writable: true,
            is_aliased: false,
            home: Some(place.block),
        };
        let attribute = match self.random.below(10) {
            0 => " {alignment = 64 : i64}",
            1 => " {alignment = 16 : i64}",
            2 => " {alignment = 128 : i64}",
            _ => "",
        };
        if self.random.chance(5) && buffer.shape.len() == 1 {
            // A buffer whose size is only known at run time. The pass leaves it alone, and a cast gives it a static
            // type for the statements that follow.
            let size = self.constant(buffer.shape[0] as usize);
            let dynamic = format!("memref<?x{}{}>", element.name(), buffer.space());
            self.line(&format!("{name}_d = memref.alloc({size}) : {dynamic}"));
            self.line(&format!("{name} = memref.cast {name}_d : {dynamic} to {}", buffer.ty()));
            self.scope.push(Buffer { home: None, is_aliased: true, ..buffer });
            let index = self.scope.len() - 1;
            return self.initialize(index);
        }
        self.line(&format!("{name} = memref.alloc(){attribute} : {}", buffer.ty()));
        self.scope.push(buffer);
        if self.random.chance(75) {
            self.initialize(self.scope.len() - 1);
        }
    }

    /// Writes all of a buffer of this block that has not been written yet; allocates one if there is none.
    fn initialize_one(&mut self, place: &Place) {
        let waiting = |buffer: &Buffer| !buffer.is_ready && buffer.home == Some(place.block);
        match self.scope.iter().position(waiting) {
            Some(index) => self.initialize(index),
            None => self.alloc(place),
        }
    }

    /// Writes all of a buffer.
    fn initialize(&mut self, index: usize) {
        let buffer = self.scope[index].clone();
        match (self.random.below(4), self.partner(&buffer)) {
            (0, _) => self.fill(&buffer),
            (1, Some(source)) => self.copy(&source, &buffer),
            _ => self.write_all(&buffer),
        }
        self.scope[index].is_ready = true;
    }

    fn fill(&mut self, buffer: &Buffer) {
        let (name, element) = (self.name(), buffer.element);
        let literal = element.literal(&mut self.random);
        self.line(&format!("{name} = arith.constant {literal}"));
        let (target, ty) = (&buffer.name, buffer.ty());
        self.line(&format!("linalg.fill ins({name} : {}) outs({target} : {ty})", element.name()));
    }

    fn copy(&mut self, source: &Buffer, target: &Buffer) {
        let (from, to) = (source.ty(), target.ty());
        self.line(&format!("memref.copy {}, {} : {from} to {to}", source.name, target.name));
    }

    /// A loop nest that writes something different into each element.
    pub(crate) fn write_all(&mut self, buffer: &Buffer) {
        let salt = 1 + self.random.below(50);
        self.for_each_element(buffer, |generator, indices| {
            let mut sum = generator.constant(salt);
            let factor = generator.constant(salt + 3);
            for index in indices {
                let (product, next) = (generator.name(), generator.name());
                generator.line(&format!("{product} = arith.muli {sum}, {factor} : index"));
                generator.line(&format!("{next} = arith.addi {product}, {index} : index"));
                sum = next;
            }
            let (integer, value) = (generator.name(), generator.name());
            generator.line(&format!("{integer} = arith.index_cast {sum} : index to i64"));
            generator.line(&buffer.element.of_i64(&integer, &value));
            generator.store(&value, buffer, indices);
        });
    }

    /// A loop nest over all elements of a buffer; `body` writes its inside, given the indices.
    fn for_each_element(&mut self, buffer: &Buffer, body: impl FnOnce(&mut Generator, &[String])) {
        let (zero, one) = (self.constant(0), self.constant(1));
        let mut indices = Vec::new();
        for &dim in &buffer.shape {
            let (bound, index) = (self.constant(dim as usize), self.name());
            self.line(&format!("scf.for {index} = {zero} to {bound} step {one} {{"));
            self.depth += 1;
            indices.push(index);
        }
        body(self, &indices);
        for _ in &buffer.shape {
            self.depth -= 1;
            self.line("}");
        }
    }

    fn load(&mut self, buffer: &Buffer, indices: &[String]) -> String {
        let value = self.name();
        let line = format!("{value} = memref.load {}[{}] : {}", buffer.name, indices.join(", "), buffer.ty());
        self.line(&line);
        value
    }

    fn store(&mut self, value: &str, buffer: &Buffer, indices: &[String]) {
        let line = format!("memref.store {value}, {}[{}] : {}", buffer.name, indices.join(", "), buffer.ty());
        self.line(&line);
    }

    /// Combines two buffers of one shape, or changes one.
    fn update(&mut self) {
        let Some(target) = self.any(|buffer| buffer.is_ready && buffer.is_writable) else { return };
        let same = |other: &Buffer| other.is_ready && other.element == target.element && other.shape == target.shape;
        let Some(source) = self.any(same) else { return };
        let element = target.element;
        if self.random.chance(40) {
            return self.for_each_element(&target, |generator, indices| {
                let (left, right) = (generator.load(&source, indices), generator.load(&target, indices));
                let sum = generator.name();
                generator.line(&element.combine(&left, &right, &sum));
                generator.store(&sum, &target, indices);
            });
        }
        let rank = target.shape.len();
        let map = if rank == 1 { "affine_map<(i) -> (i)>" } else { "affine_map<(i, j) -> (i, j)>" };
        let parallel = vec!["\"parallel\""; rank].join(", ");
        let ty = element.name();
        self.line(&format!("linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [{parallel}]}}"));
        self.line(&format!("    ins({} : {}) outs({} : {}) {{", source.name, source.ty(), target.name, target.ty()));
        self.line(&format!("^bb0(%in: {ty}, %out: {ty}):"));
        let sum = self.name();
        self.line(&element.combine("%in", "%out", &sum));
        self.line(&format!("linalg.yield {sum} : {ty}"));
        self.line("}");
    }

    /// Changes one element: of a buffer that may be written here, or, in a parallel loop, the element with the number
    /// of the iteration of a buffer from outside. No two iterations change the same element.
    fn poke(&mut self, place: &Place) {
        if let Some((iteration, trips)) = place.parallel.clone()
            && let Some(shared) = self.any(|buffer| {
                buffer.is_ready && !buffer.is_writable && buffer.shape.len() == 1 && buffer.shape[0] as usize >= trips
            })
            && !self.is_beside
            && self.random.chance(50)
        {
            return self.poke_at(&shared, &[iteration]);
        }
        let Some(target) = self.any(|buffer| buffer.is_ready && buffer.is_writable) else { return };
        let indices: Vec<String> = (target.shape.iter())
            .map(|&dim| self.random.below(dim as usize))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|at| self.constant(at))
            .collect();
        self.poke_at(&target, &indices);
    }

    pub(crate) fn poke_at(&mut self, target: &Buffer, indices: &[String]) {
        let (old, literal, sum) = (self.load(target, indices), self.name(), self.name());
        let constant = target.element.literal(&mut self.random);
        self.line(&format!("{literal} = arith.constant {constant}"));
        self.line(&target.element.combine(&old, &literal, &sum));
        self.store(&sum, target, indices);
    }

    fn sum_one(&mut self) {
        if let Some(buffer) = self.any(|buffer| buffer.is_ready) {
            self.sum(&buffer);
        }
    }

    /// Folds every element into the checksum.
    pub(crate) fn sum(&mut self, buffer: &Buffer) {
        self.for_each_element(buffer, |generator, indices| {
            let (element, integer) = (generator.load(buffer, indices), generator.name());
            for line in buffer.element.to_i64(&element, &integer) {
                generator.line(&line);
            }
            generator.mix(&integer);
        });
    }

    /// Folds a number into the checksum: the old checksum times a prime, plus the number.
    pub(crate) fn mix(&mut self, value: &str) {
        let [old, factor, product, sum] = [(); 4].map(|()| self.name());
        let zero = self.constant(0);
        self.line(&format!("{factor} = arith.constant 1000003 : i64"));
        let checksum = self.checksum.clone();
        self.line(&format!("{old} = memref.load {checksum}[{zero}] : memref<1xi64>"));
        self.line(&format!("{product} = arith.muli {old}, {factor} : i64"));
        self.line(&format!("{sum} = arith.addi {product}, {value} : i64"));
        self.line(&format!("memref.store {sum}, {checksum}[{zero}] : memref<1xi64>"));
    }

    /// A condition that depends on the iteration or on what was read so far.
    pub(crate) fn condition(&mut self, place: &Place) -> String {
        let [bits, mask, low, condition] = [(); 4].map(|()| self.name());
        match &place.iteration {
            Some(iteration) if self.random.chance(60) => {
                self.line(&format!("{bits} = arith.index_cast {iteration} : index to i64"));
            }
            _ => {
                let zero = self.constant(0);
                let checksum = self.checksum.clone();
                self.line(&format!("{bits} = memref.load {checksum}[{zero}] : memref<1xi64>"));
            }
        }
        let shift = self.random.below(2);
        self.line(&format!("{mask} = arith.constant {} : i64", 1 << shift));
        self.line(&format!("{low} = arith.andi {bits}, {mask} : i64"));
        self.line(&format!("{condition} = arith.cmpi eq, {low}, {mask} : i64"));
        condition
    }

    /// Another name for a buffer or a part of it.
    pub(crate) fn view(&mut self) {
        let Some(base) = self.any(|buffer| buffer.is_ready) else { return };
        let name = self.name();
        let plain = base.layout.is_none();
        let view = match (base.shape.len(), self.random.below(6)) {
            (2, 0) if plain => {
                let size = base.shape.iter().product();
                let flat = Buffer { shape: vec![size], ..base.alias(name.clone()) };
                let (from, to) = (base.ty(), flat.ty());
                self.line(&format!("{name} = memref.collapse_shape {} [[0, 1]] : {from} into {to}", base.name));
                flat
            }
            (2, 1) => {
                let (mut strides, offset) = base.strides();
                strides.reverse();
                let shape = base.shape.iter().rev().copied().collect();
                let transposed = Buffer { shape, layout: Some((strides, offset)), ..base.alias(name.clone()) };
                let (from, to) = (base.ty(), transposed.ty());
                self.line(&format!("{name} = memref.transpose {} (i, j) -> (j, i) : {from} to {to}", base.name));
                transposed
            }
            (1, 0) if plain && base.shape[0].is_multiple_of(4) => {
                let wide = Buffer { shape: vec![base.shape[0] / 4, 4], ..base.alias(name.clone()) };
                let (from, to) = (base.ty(), wide.ty());
                let shape = &wide.shape;
                self.line(&format!(
                    "{name} = memref.expand_shape {} [[0, 1]] output_shape {shape:?} : {from} into {to}",
                    base.name
                ));
                wide
            }
            (_, 2) if plain => {
                let from = base.ty();
                let unranked = format!("memref<*x{}{}>", base.element.name(), base.space());
                self.line(&format!("{name}_u = memref.cast {} : {from} to {unranked}", base.name));
                self.line(&format!("{name} = memref.cast {name}_u : {unranked} to {from}"));
                base.alias(name)
            }
            _ => self.subview(&base, name),
        };
        self.alias_of(&base.name);
        self.scope.push(view);
    }

    /// A slice with random offsets, sizes and steps. In each dimension it begins in the first half of the base and ends
    /// inside of it. The layout of its type follows from these numbers and the layout of the base.
    fn subview(&mut self, base: &Buffer, name: String) -> Buffer {
        let (strides, offset) = base.strides();
        let mut view = base.alias(name.clone());
        let (mut offsets, mut steps, mut start) = (Vec::new(), Vec::new(), offset);
        for (dim, (&size, stride)) in base.shape.iter().zip(&strides).enumerate() {
            let step = if size >= 4 && self.random.chance(25) { 2 } else { 1 };
            let at = self.random.below(size.div_ceil(2) as usize) as u64;
            let most = (size - at).div_ceil(step);
            view.shape[dim] = 1 + self.random.below(most as usize) as u64;
            offsets.push(at);
            steps.push(step);
            start += at * stride;
        }
        let scaled = strides.iter().zip(&steps).map(|(stride, step)| stride * step).collect();
        view.layout = Some((scaled, start));
        let (from, to, shape) = (base.ty(), view.ty(), &view.shape);
        self.line(&format!("{name} = memref.subview {}{offsets:?} {shape:?} {steps:?} : {from} to {to}", base.name));
        view
    }

    /// One of two buffers, as the condition has it.
    fn select(&mut self, place: &Place) {
        let Some(left) = self.any(|buffer| buffer.is_ready) else { return };
        let Some(right) = self.partner(&left) else { return };
        let (condition, name) = (self.condition(place), self.name());
        let ty = left.ty();
        self.line(&format!("{name} = arith.select {condition}, {}, {} : {ty}", left.name, right.name));
        self.push_merged(name, &left, &right);
    }

    pub(crate) fn push_merged(&mut self, name: String, left: &Buffer, right: &Buffer) {
        self.alias_of(&left.name);
        self.alias_of(&right.name);
        let is_writable = left.is_writable && right.is_writable;
        self.scope.push(Buffer { is_writable, ..left.alias(name) });
    }

    pub(crate) fn alias_of(&mut self, name: &str) {
        for buffer in self.scope.iter_mut().filter(|buffer| buffer.name == name) {
            buffer.is_aliased = true;
        }
    }

    /// Sums a buffer up for the last time; perhaps frees it.
    fn retire(&mut self, place: &Place) {
        let Some(buffer) = self.any(|buffer| buffer.is_ready) else { return };
        self.sum(&buffer);
        if buffer.home == Some(place.block) && !buffer.is_aliased && self.random.chance(40) {
            self.line(&format!("memref.dealloc {} : {}", buffer.name, buffer.ty()));
        }
        // The buffer stays in the list, but no statement takes it any more. It is not removed, because a block that
        // ends cuts the list at the length that the list had when the block began.
        for gone in self.scope.iter_mut().filter(|other| other.name == buffer.name) {
            (gone.is_ready, gone.home) = (false, None);
        }
    }

    /// Calls a helper with two buffers that may be written. The result may be either of them, or a buffer of the
    /// helper's own.
    fn call(&mut self) {
        let Some(helper) = (0..self.helpers.len()).next_back() else { return };
        let helper = self.random.below(helper + 1);
        let wanted = self.helpers[helper].ty();
        let fits = |buffer: &Buffer| buffer.is_ready && buffer.is_writable && buffer.ty() == wanted;
        let (Some(left), Some(right)) = (self.any(fits), self.any(fits)) else { return };
        let name = self.name();
        self.line(&format!(
            "{name} = func.call @p{}_h{helper}({}, {}, {}) : (memref<1xi64>, {wanted}, {wanted}) -> {wanted}",
            self.seed, self.checksum, left.name, right.name
        ));
        self.push_merged(name, &left, &right);
    }

    // Control flow

    /// Some statements in a block of their own.
    pub(crate) fn body(&mut self, place: &Place) {
        self.depth += 1;
        let mark = self.scope.len();
        self.statements(place);
        self.end_of_block(place, mark);
        self.depth -= 1;
    }

    pub(crate) fn statements(&mut self, place: &Place) {
        let count = 1 + self.random.below(6);
        for _ in 0..count.min(self.budget) {
            self.statement(place);
        }
    }

    /// Sums up some of what the block leaves, frees some, and forgets all of it.
    fn end_of_block(&mut self, place: &Place, mark: usize) {
        let own: Vec<Buffer> = self.scope.split_off(mark);
        for buffer in own.iter().filter(|buffer| buffer.is_ready) {
            if self.random.chance(50) {
                self.sum(buffer);
            }
        }
        for buffer in own.iter().filter(|buffer| buffer.home == Some(place.block)) {
            if self.random.chance(25) {
                self.line(&format!("memref.dealloc {} : {}", buffer.name, buffer.ty()));
            }
        }
    }

    fn for_loop(&mut self, around: &Place) {
        let header = self.loop_header();
        self.line(&format!("{} {{", header.text));
        let place = Place { iteration: Some(header.index), ..self.place(Some(around)) };
        self.body(&place);
        self.line("}");
    }

    /// A sequential loop of up to three iterations, structured or affine.
    fn loop_header(&mut self) -> LoopHeader {
        let (index, trips) = (self.name(), self.random.below(4));
        if self.random.chance(30) {
            let text = format!("affine.for {index} = 0 to {trips}");
            return LoopHeader { text, index, yields: "affine.yield" };
        }
        let (zero, one, bound) = (self.constant(0), self.constant(1), self.constant(trips));
        LoopHeader { text: format!("scf.for {index} = {zero} to {bound} step {one}"), index, yields: "scf.yield" }
    }

    /// A loop that hands two buffers from iteration to iteration.
    fn carrying_loop(&mut self, around: &Place) {
        let Some(left) = self.any(|buffer| buffer.is_ready) else { return };
        let Some(right) = self.partner(&left) else { return };
        let [result, x, y] = [(); 3].map(|()| self.name());
        let LoopHeader { text, index, yields } = self.loop_header();
        let ty = left.ty();
        self.line(&format!(
            "{result}:2 = {text} iter_args({x} = {}, {y} = {}) -> ({ty}, {ty}) {{",
            left.name, right.name
        ));
        let place = Place { iteration: Some(index), ..self.place(Some(around)) };
        let yielded = self.carried_body(&place, &left, &right, [x, y]);
        self.line(&format!("  {yields} {}, {} : {ty}, {ty}", yielded[0], yielded[1]));
        self.line("}");
        self.push_merged(format!("{result}#0"), &left, &right);
        self.push_merged(format!("{result}#1"), &left, &right);
    }

    /// The body of a loop that carries `x` and `y`; what it yields: them, in
    /// either order, or another buffer in scope, perhaps one of its own.
    fn carried_body(&mut self, place: &Place, left: &Buffer, right: &Buffer, names: [String; 2]) -> [String; 2] {
        let mark = self.scope.len();
        let [x, y] = names;
        self.push_merged(x.clone(), left, right);
        self.push_merged(y.clone(), left, right);
        let carried = self.scope[mark].clone();
        self.depth += 1;
        self.statements(place);
        self.depth -= 1;
        let yielded = match (self.random.below(5), self.partner(&carried)) {
            (0, _) => [x, y],
            (1, Some(other)) if other.is_writable == carried.is_writable => [other.name, x],
            (2, Some(other)) if other.is_writable == carried.is_writable => [y, other.name],
            _ => [y, x],
        };
        self.scope.truncate(mark);
        yielded
    }

    /// An `scf.while` of up to three iterations that carries a counter and two buffers. The first region may swap the
    /// buffers when it hands them on; the second one yields what [`Generator::carried_body`] chooses.
    fn while_loop(&mut self, around: &Place) {
        let Some(left) = self.any(|buffer| buffer.is_ready) else { return };
        let Some(right) = self.partner(&left) else { return };
        let [result, index, x, y, condition] = [(); 5].map(|()| self.name());
        let (zero, one) = (self.constant(0), self.constant(1));
        let trips = self.random.below(4);
        let bound = self.constant(trips);
        let ty = left.ty();
        let types = format!("index, {ty}, {ty}");
        self.line(&format!(
            "{result}:3 = scf.while ({index} = {zero}, {x} = {}, {y} = {}) : ({types}) -> ({types}) {{",
            left.name, right.name
        ));
        let before = Place { iteration: Some(index.clone()), ..self.place(Some(around)) };
        let mark = self.scope.len();
        self.push_merged(x.clone(), &left, &right);
        self.push_merged(y.clone(), &left, &right);
        self.depth += 1;
        if self.random.chance(50) {
            self.statement(&before);
        }
        self.line(&format!("{condition} = arith.cmpi ult, {index}, {bound} : index"));
        let forwarded = if self.random.chance(30) { [y, x] } else { [x, y] };
        self.line(&format!("scf.condition({condition}) {index}, {}, {} : {types}", forwarded[0], forwarded[1]));
        self.depth -= 1;
        self.scope.truncate(mark);
        let [index, x, y, next] = [(); 4].map(|()| self.name());
        self.line("} do {");
        self.line(&format!("^bb0({index}: index, {x}: {ty}, {y}: {ty}):"));
        let place = Place { iteration: Some(index.clone()), ..self.place(Some(around)) };
        let yielded = self.carried_body(&place, &left, &right, [x, y]);
        self.line(&format!("  {next} = arith.addi {index}, {one} : index"));
        self.line(&format!("  scf.yield {next}, {}, {} : {types}", yielded[0], yielded[1]));
        self.line("}");
        self.push_merged(format!("{result}#1"), &left, &right);
        self.push_merged(format!("{result}#2"), &left, &right);
    }

    fn branch(&mut self, around: &Place) {
        let condition = self.condition(around);
        self.line(&format!("scf.if {condition} {{"));
        let place = self.place(Some(around));
        self.body(&place);
        if self.random.chance(60) {
            self.line("} else {");
            let place = self.place(Some(around));
            self.body(&place);
        }
        self.line("}");
    }

    /// One of three, by a number that depends on what was read so far.
    fn switch(&mut self, around: &Place) {
        let [bits, mask, low, chosen] = [(); 4].map(|()| self.name());
        let (zero, checksum) = (self.constant(0), self.checksum.clone());
        self.line(&format!("{bits} = memref.load {checksum}[{zero}] : memref<1xi64>"));
        self.line(&format!("{mask} = arith.constant 3 : i64"));
        self.line(&format!("{low} = arith.andi {bits}, {mask} : i64"));
        self.line(&format!("{chosen} = arith.index_cast {low} : i64 to index"));
        self.line(&format!("scf.index_switch {chosen}"));
        for case in ["case 0 {", "case 2 {", "default {"] {
            self.line(case);
            let place = self.place(Some(around));
            self.body(&place);
            self.line("  scf.yield");
            self.line("}");
        }
    }

    /// A region that another thread runs, and code beside it. Both read what
    /// was there before; neither writes it, and each has a checksum of its own.
    fn asynchronous(&mut self, around: &Place) {
        if self.is_beside || !self.may_launch {
            return self.branch(around);
        }
        let [own, token, total] = [(); 3].map(|()| self.name());
        let (zero, start) = (self.constant(0), self.name());
        self.line(&format!("{own} = memref.alloc() : memref<1xi64>"));
        self.line(&format!("{start} = arith.constant {} : i64", self.seed % 1000));
        self.line(&format!("memref.store {start}, {own}[{zero}] : memref<1xi64>"));
        self.is_beside = true;
        self.line(&format!("{token} = async.execute {{"));
        let checksum = std::mem::replace(&mut self.checksum, own.clone());
        let place = Place { parallel: None, ..self.place(Some(around)) };
        self.parallel_body(&place);
        self.checksum = checksum;
        self.line("  async.yield");
        self.line("}");
        // The code that runs beside the region. It is a block of its own, so that it frees no buffer from outside that
        // the asynchronous region may still read.
        self.line("scf.execute_region {");
        let place = Place { parallel: None, ..self.place(Some(around)) };
        self.parallel_body(&place);
        self.line("  scf.yield");
        self.line("}");
        self.is_beside = false;
        self.line(&format!("async.await {token} : !async.token"));
        self.line(&format!("{total} = memref.load {own}[{zero}] : memref<1xi64>"));
        self.mix(&total);
    }

    /// A branch whose result is a buffer from either side.
    fn yielding_branch(&mut self, around: &Place) {
        let Some(model) = self.any(|buffer| buffer.is_ready && buffer.is_writable) else { return };
        let (condition, result, ty) = (self.condition(around), self.name(), model.ty());
        self.line(&format!("{result} = scf.if {condition} -> ({ty}) {{"));
        for side in 0..2 {
            let place = self.place(Some(around));
            let mark = self.scope.len();
            self.depth += 1;
            self.statements(&place);
            let same = |buffer: &Buffer| buffer.is_ready && buffer.is_writable && buffer.ty() == ty;
            let own = self.scope[mark..].iter().rev().find(|buffer| same(buffer)).cloned();
            let chosen = own.or_else(|| self.any(same)).unwrap_or_else(|| model.clone());
            self.line(&format!("scf.yield {} : {ty}", chosen.name));
            self.depth -= 1;
            self.scope.truncate(mark);
            self.alias_of(&chosen.name);
            self.line(if side == 0 { "} else {" } else { "}" });
        }
        self.scope.push(model.alias(result));
    }

    /// The body of a parallel loop: what comes from outside is not written.
    pub(crate) fn parallel_body(&mut self, place: &Place) {
        let outside = self.scope.clone();
        for buffer in &mut self.scope {
            buffer.is_writable = false;
        }
        self.body(place);
        self.scope = outside;
    }

    /// An `scf.forall` of one dimension with or without bounds of its own, or of two dimensions. Only with the bounds 0
    /// and `trips` the index is the number of the iteration, so only then statements may use it as one (`parallel`).
    fn forall(&mut self, around: &Place) {
        let (index, trips) = (self.name(), 1 + self.random.below(4));
        let (place, header) = if self.random.chance(30) {
            let step = 1 + self.random.below(3);
            let (low, high) = (1, 1 + step * trips);
            (None, format!("scf.forall ({index}) = ({low}) to ({high}) step ({step}) {{"))
        } else if self.random.chance(30) {
            let second = self.name();
            (None, format!("scf.forall ({index}, {second}) in ({trips}, 2) {{"))
        } else {
            (Some((index.clone(), trips)), format!("scf.forall ({index}) in ({trips}) {{"))
        };
        self.line(&header);
        let place = Place { iteration: Some(index), parallel: place, ..self.place(Some(around)) };
        self.parallel_body(&place);
        self.line("}");
    }

    fn parallel(&mut self, around: &Place) {
        let (index, trips) = (self.name(), 1 + self.random.below(4));
        if self.random.chance(30) {
            self.line(&format!("affine.parallel ({index}) = (0) to ({trips}) {{"));
        } else {
            let (zero, one, bound) = (self.constant(0), self.constant(1), self.constant(trips));
            self.line(&format!("scf.parallel ({index}) = ({zero}) to ({bound}) step ({one}) {{"));
        }
        let parallel = Some((index.clone(), trips));
        let place = Place { iteration: Some(index), parallel, ..self.place(Some(around)) };
        self.parallel_body(&place);
        self.line("}");
    }

    /// A region that runs once: structured, or a scope, or of several blocks.
    fn region(&mut self, around: &Place) {
        let place = self.place(Some(around));
        match self.random.below(3) {
            0 => {
                self.line("scf.execute_region {");
                self.body(&place);
                self.line("  scf.yield");
                self.line("}");
            }
            1 => {
                self.line("memref.alloca_scope {");
                self.body(&place);
                self.line("  memref.alloca_scope.return");
                self.line("}");
            }
            _ => self.blocks_with_back_edge(&place),
        }
    }

    /// A region of several blocks: two of them, `head` and `tail`, run three times in turn.
    fn blocks_with_back_edge(&mut self, place: &Place) {
        let [count, next, condition] = [(); 3].map(|()| self.name());
        let (zero, one, bound) = (self.constant(0), self.constant(1), self.constant(3));
        self.line("scf.execute_region {");
        self.line(&format!("  cf.br ^head{count_label}({zero} : index)", count_label = &count[1..]));
        self.line(&format!("^head{}({count}: index):", &count[1..]));
        let first = Place { iteration: Some(count.clone()), ..self.place(Some(place)) };
        self.body(&first);
        self.line(&format!("  cf.br ^tail{}", &count[1..]));
        self.line(&format!("^tail{}:", &count[1..]));
        let second = Place { iteration: Some(count.clone()), ..self.place(Some(place)) };
        self.body(&second);
        self.line(&format!("  {next} = arith.addi {count}, {one} : index"));
        self.line(&format!("  {condition} = arith.cmpi ult, {next}, {bound} : index"));
        let label = &count[1..].to_owned();
        self.line(&format!("  cf.cond_br {condition}, ^head{label}({next} : index), ^done{label}"));
        self.line(&format!("^done{label}:"));
        self.line("  scf.yield");
        self.line("}");
    }

    // Choosing buffers

    /// One of the buffers in scope that `fits` accepts; `None` if there is none.
    pub(crate) fn any(&mut self, fits: impl Fn(&Buffer) -> bool) -> Option<Buffer> {
        let fitting: Vec<&Buffer> = self.scope.iter().filter(|buffer| fits(buffer)).collect();
        if fitting.is_empty() {
            return None;
        }
        // The later one of two random choices: buffers that were made last are used most, so older ones fall out of
        // use, and the lives of buffers differ.
        let first = self.random.below(fitting.len());
        let index = first.max(self.random.below(fitting.len()));
        Some(fitting[index].clone())
    }

    /// A buffer of the same type that may be used alike, if possible another one.
    pub(crate) fn partner(&mut self, buffer: &Buffer) -> Option<Buffer> {
        let ty = buffer.ty();
        let fits = |other: &Buffer| other.is_ready && other.ty() == ty;
        self.any(|other| fits(other) && other.name != buffer.name).or_else(|| self.any(fits))
    }
}
