//! Statements that generators seldom print and that other tools and people do: blocks in any order, functions that hand
//! their arguments on, memory that goes through boxes, pointers and ops that nobody knows, results of every kind of
//! region, chains of casts, ops on vectors and atomic ops.

use crate::buffers::{Buffer, Element};
use crate::generate::{Generator, Place};
use crate::random::Random;

/// Turns a line that has no implementation into one that runs; `None` for all other lines. What ops nobody knows give
/// back is the first memref that they got.
pub(crate) fn executable(line: &str) -> Option<String> {
    let (result, rest) = line.split_once(" = \"my.")?;
    let (name, rest) = rest.split_once("\"(")?;
    let (operands, types) = rest.split_once(") : (")?;
    let (from, to) = types.rsplit_once(") -> ")?;
    // `my.keep` gets a memref and `my.give` gives it back. In between stands a handle, which becomes the memref.
    let ty = match name {
        "same" | "give" => to,
        "keep" => from,
        _ => return None,
    };
    let operand = operands.split(',').next()?;
    Some(format!("{result} = memref.cast {operand} : {ty} to {ty}"))
}

/// Functions that hand on what they are given. `name` stands in front of their names, `ty` is the type of the memrefs.
pub(crate) fn wrappers(name: &str, ty: &str) -> String {
    format!(
        "func.func @{name}same(%a: {ty}) -> {ty} {{\n  return %a : {ty}\n}}\n\
         func.func @{name}pick(%c: i1, %a: {ty}, %b: {ty}) -> {ty} {{\n  cf.cond_br %c, ^left, ^right\n\
         ^join(%r: {ty}):\n  return %r : {ty}\n\
         ^right:\n  %s = func.call @{name}same(%b) : ({ty}) -> {ty}\n  cf.br ^join(%s : {ty})\n\
         ^left:\n  cf.br ^join(%a : {ty})\n}}\n\
         func.func @{name}deep(%n: index, %a: {ty}, %b: {ty}) -> {ty} {{\n  %zero = arith.constant 0 : index\n  \
         %one = arith.constant 1 : index\n  %done = arith.cmpi eq, %n, %zero : index\n  %r = scf.if %done -> ({ty}) {{\n    \
         scf.yield %a : {ty}\n  }} else {{\n    %m = arith.subi %n, %one : index\n    \
         %q = func.call @{name}deep(%m, %b, %a) : (index, {ty}, {ty}) -> {ty}\n    scf.yield %q : {ty}\n  }}\n  \
         return %r : {ty}\n}}\n\
         func.func @{name}swap(%a: {ty}, %b: {ty}) -> ({ty}, {ty}) {{\n  return %b, %a : {ty}, {ty}\n}}\n\
         func.func @{name}box(%a: {ty}, %box: memref<1x{ty}>) {{\n  %zero = arith.constant 0 : index\n  \
         memref.store %a, %box[%zero] : memref<1x{ty}>\n  return\n}}\n\
         func.func @{name}unbox(%box: memref<1x{ty}>) -> {ty} {{\n  %zero = arith.constant 0 : index\n  \
         %a = memref.load %box[%zero] : memref<1x{ty}>\n  return %a : {ty}\n}}\n"
    )
}

/// Mixes a list up.
fn shuffle<T>(random: &mut Random, list: &mut [T]) {
    for at in (1..list.len()).rev() {
        list.swap(at, random.below(at + 1));
    }
}

/// The element type that LLVM has in memory.
fn stored(element: Element) -> Element {
    match element {
        Element::I1 => Element::I8,
        Element::Index => Element::I64,
        other => other,
    }
}

impl Generator {
    pub(crate) fn unusual(&mut self, place: &Place) {
        match self.random.below(100) {
            0..16 => self.branching_blocks(place),
            16..30 => self.looping_blocks(place),
            30..44 => self.wrapped(place),
            44..50 => self.pointer(place),
            50..58 => self.kept(place),
            58..74 => self.yielding_region(place),
            74..84 => self.chain(),
            84..88 => self.bytes(),
            _ => self.vectors_and_atomics(),
        }
    }

    /// A buffer that may be written here and has been written.
    fn chosen(&mut self, ty: &str) -> Option<Buffer> {
        self.any(|buffer| buffer.is_ready && buffer.is_writable && buffer.ty() == ty)
    }

    /// Writes a block of a region of several blocks and returns its text instead of adding it to the program.
    fn block(&mut self, label: &str, write: impl FnOnce(&mut Generator)) -> String {
        let around = std::mem::take(&mut self.text);
        self.line(label);
        self.depth += 1;
        write(self);
        self.depth -= 1;
        std::mem::replace(&mut self.text, around)
    }

    /// A region of four blocks, of which only the first stands where it must. The two in the middle hand a buffer to
    /// the last one, which gives one back.
    ///
    /// ```text
    ///   entry ─┬─► left ──┬─► join
    ///          └─► right ─┘
    /// ```
    fn branching_blocks(&mut self, around: &Place) {
        let Some(model) = self.any(|buffer| buffer.is_ready && buffer.is_writable) else { return };
        let (result, argument, ty) = (self.name(), self.name(), model.ty());
        let label = result[1..].to_owned();
        self.line(&format!("{result} = scf.execute_region -> {ty} {{"));
        self.depth += 1;
        let mark = self.scope.len();
        let entry = self.place(Some(around));
        self.statements(&entry);
        let condition = self.condition(around);
        self.line(&format!("cf.cond_br {condition}, ^left_{label}, ^right_{label}"));
        self.depth -= 1;
        let inner = self.scope.len();
        let mut blocks = Vec::new();
        for side in ["left", "right"] {
            let place = self.place(Some(around));
            blocks.push(self.block(&format!("^{side}_{label}:"), |generator| {
                generator.statements(&place);
                let handed = generator.chosen(&ty).unwrap_or_else(|| model.clone());
                generator.line(&format!("cf.br ^join_{label}({} : {ty})", handed.name));
                generator.scope.truncate(inner);
                generator.alias_of(&handed.name);
            }));
        }
        let place = self.place(Some(around));
        blocks.push(self.block(&format!("^join_{label}({argument}: {ty}):"), |generator| {
            generator.scope.push(model.alias(argument));
            generator.statements(&place);
            let yielded = generator.chosen(&ty).unwrap_or_else(|| model.clone());
            generator.line(&format!("scf.yield {} : {ty}", yielded.name));
            generator.scope.truncate(mark);
            generator.alias_of(&yielded.name);
        }));
        shuffle(&mut self.random, &mut blocks);
        self.text += &blocks.concat();
        self.line("}");
        self.scope.push(model.alias(result));
    }

    /// A region with a loop of blocks, in any order behind the first. What `head` makes (views among it) is used in the
    /// other two blocks.
    ///
    /// ```text
    ///   entry ──► head ──► exit
    ///             ▲  └─► body
    ///             └───────┘
    /// ```
    fn looping_blocks(&mut self, around: &Place) {
        let Some(left) = self.any(|buffer| buffer.is_ready && buffer.is_writable) else { return };
        let ty = left.ty();
        let right = self.chosen(&ty).unwrap_or_else(|| left.clone());
        let [result, index, x, y, next, condition] = [(); 6].map(|()| self.name());
        let label = result[1..].to_owned();
        let (zero, one) = (self.constant(0), self.constant(1));
        let trips = self.random.below(4);
        let bound = self.constant(trips);
        self.line(&format!("{result} = scf.execute_region -> {ty} {{"));
        self.line(&format!("  cf.br ^head_{label}({zero}, {}, {} : index, {ty}, {ty})", left.name, right.name));
        let mark = self.scope.len();
        let inside =
            |generator: &mut Generator| Place { iteration: Some(index.clone()), ..generator.place(Some(around)) };
        let place = inside(self);
        let header = format!("^head_{label}({index}: index, {x}: {ty}, {y}: {ty}):");
        let head = self.block(&header, |generator| {
            generator.push_merged(x.clone(), &left, &right);
            generator.push_merged(y.clone(), &left, &right);
            generator.statements(&place);
            generator.view();
            generator.line(&format!("{condition} = arith.cmpi ult, {index}, {bound} : index"));
            generator.line(&format!("cf.cond_br {condition}, ^body_{label}, ^exit_{label}"));
        });
        let inner = self.scope.len();
        let place = inside(self);
        let body = self.block(&format!("^body_{label}:"), |generator| {
            generator.statements(&place);
            let other = generator.chosen(&ty).unwrap_or_else(|| left.clone());
            let handed = match generator.random.below(3) {
                0 => [other.name, x.clone()],
                1 => [y.clone(), other.name],
                _ => [y.clone(), x.clone()],
            };
            generator.line(&format!("{next} = arith.addi {index}, {one} : index"));
            generator.line(&format!("cf.br ^head_{label}({next}, {}, {} : index, {ty}, {ty})", handed[0], handed[1]));
            generator.scope.truncate(inner);
            handed.iter().for_each(|name| generator.alias_of(name));
        });
        let place = inside(self);
        let exit = self.block(&format!("^exit_{label}:"), |generator| {
            generator.statements(&place);
            let yielded = generator.chosen(&ty).unwrap_or_else(|| left.clone());
            generator.line(&format!("scf.yield {} : {ty}", yielded.name));
            generator.scope.truncate(mark);
            generator.alias_of(&yielded.name);
        });
        let mut blocks = [head, body, exit];
        shuffle(&mut self.random, &mut blocks);
        self.text += &blocks.concat();
        self.line("}");
        self.scope.push(left.alias(result));
    }

    /// Calls of functions that hand on what they are given.
    fn wrapped(&mut self, place: &Place) {
        let at = self.random.below(self.palette.len());
        let (element, shape, is_elsewhere) = self.palette[at].clone();
        let ty = Buffer::plain("", element, shape, is_elsewhere).ty();
        let (Some(left), Some(right)) = (self.chosen(&ty), self.chosen(&ty)) else { return };
        let (l, r, name) = (&left.name, &right.name, self.name());
        let wrapper = format!("@p{}_w{at}_", self.seed);
        match self.random.below(5) {
            0 => self.line(&format!("{name} = func.call {wrapper}same({l}) : ({ty}) -> {ty}")),
            1 => {
                let condition = self.condition(place);
                self.line(&format!(
                    "{name} = func.call {wrapper}pick({condition}, {l}, {r}) : (i1, {ty}, {ty}) -> {ty}"
                ));
            }
            2 => {
                let depth = self.random.below(4);
                let depth = self.constant(depth);
                self.line(&format!(
                    "{name} = func.call {wrapper}deep({depth}, {l}, {r}) : (index, {ty}, {ty}) -> {ty}"
                ));
            }
            3 => {
                self.line(&format!("{name}:2 = func.call {wrapper}swap({l}, {r}) : ({ty}, {ty}) -> ({ty}, {ty})"));
                self.push_merged(format!("{name}#0"), &left, &right);
                return self.push_merged(format!("{name}#1"), &left, &right);
            }
            _ => {
                let boxed = self.name();
                self.line(&format!("{boxed} = memref.alloc() : memref<1x{ty}>"));
                self.line(&format!("func.call {wrapper}box({l}, {boxed}) : ({ty}, memref<1x{ty}>) -> ()"));
                self.alias_of(l);
                self.block_of_statements(place);
                self.line(&format!("{name} = func.call {wrapper}unbox({boxed}) : (memref<1x{ty}>) -> {ty}"));
            }
        }
        self.push_merged(name, &left, &right);
    }

    /// Some statements in a region of their own, so that they free nothing from outside.
    fn block_of_statements(&mut self, around: &Place) {
        self.line("scf.execute_region {");
        let place = self.place(Some(around));
        self.body(&place);
        self.line("  scf.yield");
        self.line("}");
    }

    /// Reads a buffer through a pointer that was taken a while ago.
    fn pointer(&mut self, around: &Place) {
        let Some(base) = self.any(|buffer| buffer.is_ready && buffer.layout.is_none()) else { return };
        let [address, number, pointer, at, read, integer] = [(); 6].map(|()| self.name());
        let (name, ty, element) = (&base.name, base.ty(), stored(base.element));
        self.line(&format!("{address} = memref.extract_aligned_pointer_as_index {name} : {ty} -> index"));
        self.alias_of(name);
        self.block_of_statements(around);
        let index = self.random.below(base.shape.iter().product::<u64>() as usize);
        let stored = element.name();
        self.line(&format!("{number} = arith.index_cast {address} : index to i64"));
        self.line(&format!("{pointer} = llvm.inttoptr {number} : i64 to !llvm.ptr"));
        self.line(&format!("{at} = llvm.getelementptr {pointer}[{index}] : (!llvm.ptr) -> !llvm.ptr, {stored}"));
        self.line(&format!("{read} = llvm.load {at} : !llvm.ptr -> {stored}"));
        for line in element.to_i64(&read, &integer) {
            self.line(&line);
        }
        self.mix(&integer);
    }

    /// Memory that goes through ops nobody knows.
    fn kept(&mut self, around: &Place) {
        let Some(base) = self.any(|buffer| buffer.is_ready && buffer.is_writable) else { return };
        let (handle, name, ty) = (self.name(), self.name(), base.ty());
        if self.random.chance(50) {
            let other = self.partner(&base).unwrap_or_else(|| base.clone());
            self.line(&format!("{name} = \"my.same\"({}, {}) : ({ty}, {ty}) -> {ty}", base.name, other.name));
            return self.push_merged(name, &base, &other);
        }
        self.line(&format!("{handle} = \"my.keep\"({}) : ({ty}) -> !my.handle", base.name));
        self.alias_of(&base.name);
        self.block_of_statements(around);
        self.line(&format!("{name} = \"my.give\"({handle}) : (!my.handle) -> {ty}"));
        self.scope.push(base.alias(name));
    }

    /// A region of some kind that gives back a buffer or a slice of one.
    fn yielding_region(&mut self, around: &Place) {
        let Some(model) = self.any(|buffer| buffer.is_ready && buffer.is_writable) else { return };
        let (ty, result) = (model.ty(), self.name());
        let slices = model.layout.is_none() && model.shape.len() == 1 && self.random.chance(50);
        let given = match slices {
            true => Buffer { shape: vec![2], layout: Some((vec![1], 3)), ..model.alias(result.clone()) },
            false => model.alias(result.clone()),
        };
        let to = given.ty();
        let (open, ends, end): (String, &[&str], &str) = match self.random.below(4) {
            0 => (format!("{result} = scf.execute_region -> {to} {{"), &["}"], "scf.yield"),
            1 => (format!("{result} = memref.alloca_scope -> ({to}) {{"), &["}"], "memref.alloca_scope.return"),
            2 => {
                let condition = self.condition(around);
                (format!("{result} = scf.if {condition} -> ({to}) {{"), &["} else {", "}"], "scf.yield")
            }
            _ => {
                let (condition, number) = (self.condition(around), self.name());
                self.line(&format!("{number} = arith.index_castui {condition} : i1 to index"));
                let open = format!("{result} = scf.index_switch {number} -> {to}\n  case 0 {{");
                (open, &["}\n  default {", "}"], "scf.yield")
            }
        };
        self.line(&open);
        for close in ends {
            let place = self.place(Some(around));
            let mark = self.scope.len();
            self.depth += 1;
            self.statements(&place);
            let chosen = self.chosen(&ty).unwrap_or_else(|| model.clone());
            let mut handed = chosen.name.clone();
            if slices {
                handed = self.name();
                self.line(&format!("{handed} = memref.subview {}[3] [2] [1] : {ty} to {to}", chosen.name));
            }
            self.line(&format!("{end} {handed} : {to}"));
            self.depth -= 1;
            self.scope.truncate(mark);
            self.alias_of(&chosen.name);
            self.line(close);
        }
        self.scope.push(given);
    }

    /// The whole of a buffer again, made from a slice of it or from its descriptor, or the buffer in another shape.
    fn chain(&mut self) {
        let plain = |buffer: &Buffer| buffer.is_ready && buffer.layout.is_none() && buffer.shape.len() == 1;
        let Some(base) = self.any(plain) else { return };
        let name = self.name();
        let (from, ty, size) = (&base.name, base.ty(), base.shape[0]);
        let whole = Buffer { layout: Some((vec![1], 0)), ..base.alias(name.clone()) };
        let to = whole.ty();
        let cast = format!("to offset: [0], sizes: [{size}], strides: [1] :");
        match self.random.below(3) {
            0 => {
                let slice = Buffer { shape: vec![2], layout: Some((vec![2], 3)), ..whole.clone() }.ty();
                self.line(&format!("{name}_s = memref.subview {from}[3] [2] [2] : {ty} to {slice}"));
                self.line(&format!("{name} = memref.reinterpret_cast {name}_s {cast} {slice} to {to}"));
            }
            1 => {
                let element = format!("memref<{}{}>", base.element.name(), base.space());
                self.line(&format!(
                    "{name}_b, {name}_o, {name}_s, {name}_t = memref.extract_strided_metadata {from} : {ty} -> {element}, index, index, index"
                ));
                self.line(&format!("{name} = memref.reinterpret_cast {name}_b {cast} {element} to {to}"));
            }
            _ => {
                let shape = self.name();
                let (zero, one, two, half) =
                    (self.constant(0), self.constant(1), self.constant(2), self.constant(size as usize / 2));
                self.line(&format!("{shape} = memref.alloc() : memref<2xindex>"));
                self.line(&format!("memref.store {two}, {shape}[{zero}] : memref<2xindex>"));
                self.line(&format!("memref.store {half}, {shape}[{one}] : memref<2xindex>"));
                let wide = Buffer { shape: vec![2, size / 2], ..base.alias(name.clone()) };
                let to = wide.ty();
                self.line(&format!("{name} = memref.reshape {from}({shape}) : ({ty}, memref<2xindex>) -> {to}"));
                self.alias_of(&base.name);
                return self.scope.push(wide);
            }
        }
        self.alias_of(&base.name);
        self.scope.push(whole);
    }

    /// Two buffers that are views of one allocation of bytes.
    fn bytes(&mut self) {
        let (element, shape, is_elsewhere) = self.random.pick(&self.palette).clone();
        let bytes = self.name();
        let count = shape.iter().product::<u64>() * 8;
        let view = Buffer::plain("", element, shape, is_elsewhere);
        let (all, ty) = (format!("memref<{}xi8{}>", 2 * count, view.space()), view.ty());
        self.line(&format!("{bytes} = memref.alloc() : {all}"));
        for start in [0, count as usize] {
            let (offset, name) = (self.constant(start), self.name());
            self.line(&format!("{name} = memref.view {bytes}[{offset}][] : {all} to {ty}"));
            let view = Buffer { name, ..view.clone() };
            self.write_all(&view);
            self.scope.push(view);
        }
    }

    /// Ops that access memory in other ways than loads, stores and loops.
    fn vectors_and_atomics(&mut self) {
        let plain = |buffer: &Buffer| {
            buffer.is_ready && buffer.is_writable && buffer.layout.is_none() && buffer.shape.len() == 1
        };
        let Some(target) = self.any(plain) else { return };
        let Some(source) = self.partner(&target) else { return };
        let (to, from, ty, element) = (&target.name, &source.name, target.ty(), target.element);
        let (zero, two) = (self.constant(0), self.constant(2));
        let [value, mask, other] = [(); 3].map(|()| self.name());
        let vector = format!("vector<4x{}>", element.name());
        match self.random.below(6) {
            0 => {
                self.line(&format!("{value} = vector.load {from}[{zero}] : {ty}, {vector}"));
                self.line(&format!("vector.store {value}, {to}[{two}] : {ty}, {vector}"));
            }
            1 if element != Element::I1 => {
                self.line(&format!("{mask} = vector.constant_mask [3] : vector<4xi1>"));
                self.line(&format!("{other} = vector.load {to}[{zero}] : {ty}, {vector}"));
                self.line(&format!(
                    "{value} = vector.maskedload {from}[{two}], {mask}, {other} : {ty}, vector<4xi1>, {vector} into {vector}"
                ));
                self.line(&format!("vector.maskedstore {to}[{zero}], {mask}, {value} : {ty}, vector<4xi1>, {vector}"));
            }
            2 if matches!(element, Element::I32 | Element::I64) => {
                self.line(&format!("{value} = memref.load {from}[{two}] : {ty}"));
                let name = element.name();
                self.line(&format!(
                    "{other} = memref.atomic_rmw addi {value}, {to}[{zero}] : ({name}, {ty}) -> {name}"
                ));
            }
            3 => self.line(&format!("linalg.copy ins({from} : {ty}) outs({to} : {ty})")),
            4 => {
                let name = element.name();
                self.line(&format!("linalg.map ins({from} : {ty}) outs({to} : {ty})"));
                self.line(&format!("  ({value}: {name}, {other}: {name}) {{"));
                self.line(&element.combine(&value, &other, &mask));
                self.line(&format!("linalg.yield {mask} : {name}"));
                self.line("}");
            }
            _ => {
                self.line(&format!("memref.prefetch {from}[{zero}], read, locality<3>, data : {ty}"));
                self.line(&format!("{value} = affine.load {from}[3] : {ty}"));
                self.line(&format!("affine.store {value}, {to}[0] : {ty}"));
            }
        }
    }
}
