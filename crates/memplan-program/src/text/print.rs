//! Prints the text form. Names that occur twice in a function, or would be
//! mistaken for something else, are numbered or quoted.
//!
//! The module doc of `parse.rs` shows the parts of a text: items, ops with their clauses, regions, blocks and branches.
//!
//! Everything is written so that `parse` reads the same program back: [`Printer::new`] first gives each value, token
//! and label a text of its own, and the program is then written in one walk over its tree.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use memplan_core::{Bytes, Id, IndexVec, Span};

use super::lex::in_word;
use crate::{
    AccessKind, BlockId, Branch, Control, CopyRange, Definition, Extent, FunctionId, Op, OpId, Origin, OverlayKind,
    Program, RegionId, Site, Size, Target, ValueId,
};

/// The program as text; [`parse`](super::parse) reads it back.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::new(program);
    for name in &program.spaces {
        printer.line(&format!("space {}", quoted(name)));
    }
    // A value that nothing in the program defines is memory that exists before the program runs.
    for (id, value) in program.values.iter_enumerated() {
        if value.definition == Definition::Global {
            let line = format!("external {}", printer.value(id));
            printer.line(&line);
        }
    }
    for function in program.functions.ids() {
        printer.function(function);
    }
    printer.out
}

/// The text so far, and how everything is called in it.
struct Printer<'p> {
    /// The program that is printed.
    program: &'p Program,
    /// The text of each value, with its sigil: `%x`.
    names: IndexVec<ValueId, String>,
    /// The text of each token of asynchronous work: `!t`.
    tokens: Vec<String>,
    /// The position of each block in its region, which is its name.
    block_numbers: IndexVec<BlockId, usize>,
    /// The number in the label of each op that something refers to.
    labels: HashMap<OpId, usize>,
    /// How many braces are open.
    depth: usize,
    /// The text so far.
    out: String,
}

/// Something that is left to print. The tasks are kept on a stack, which stands in for recursion.
enum Task {
    /// An op, and then its regions.
    Op(OpId),
    /// A region behind the op's line (`first`), or behind the closing brace of the region before it.
    Region { region: RegionId, first: bool },
    /// A block: its label, its ops and its ways on.
    Block(BlockId),
    /// The branches at the end of a block.
    WaysOn(BlockId),
    /// The closing brace of an op's last region.
    Close,
}

impl<'p> Printer<'p> {
    /// Gives names to everything that is referred to: values, tokens, blocks and labels.
    fn new(program: &'p Program) -> Printer<'p> {
        // Only ops that are referred to get a label: loops that rotate the slots of an allocation,
        // and ops of a dag that others wait for. They are numbered from 1 in the order of the
        // program.
        let mut labelled: Vec<OpId> = program.sites.iter().filter_map(|s| s.rotation).collect();
        for op in &program.ops {
            if let Control::Dag { dependencies } = op.control() {
                labelled.extend(dependencies.iter().map(|&(before, _)| before));
            }
        }
        labelled.sort_unstable();
        labelled.dedup();
        let mut block_numbers = IndexVec::filled(0, program.blocks.len());
        for region in &program.regions {
            for (number, &block) in region.blocks.iter().enumerate() {
                block_numbers[block] = number;
            }
        }
        // Tokens of different functions may have the same name; they are numbered here as if they were in one function.
        let mut unique = Unique::default();
        let tokens = program.tokens.iter();
        Printer {
            program,
            names: value_names(program),
            tokens: tokens.map(|name| format!("!{}", quoted(&unique.name(name)))).collect(),
            block_numbers,
            labels: labelled.into_iter().zip(1..).collect(),
            depth: 0,
            out: String::new(),
        }
    }

    /// The text of a value.
    fn value(&self, id: ValueId) -> &str {
        self.names.get(id).map_or("%?", |name| name)
    }

    /// The texts of several values.
    fn values(&self, ids: &[ValueId], separator: &str) -> String {
        let names: Vec<&str> = ids.iter().map(|&id| self.value(id)).collect();
        names.join(separator)
    }

    /// Writes one whole line.
    fn line(&mut self, text: &str) {
        self.indent();
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes the blanks at the start of a line.
    fn indent(&mut self) {
        // With two blanks for each level, a text with ten thousand levels would be mostly blanks: 200 MB. So the indent
        // stops growing at 40 levels.
        for _ in 0..self.depth.min(40) {
            self.out.push_str("  ");
        }
    }

    /// Prints a function: `func @main(%in) { … }`.
    fn function(&mut self, id: FunctionId) {
        let function = &self.program.functions[id];
        let name = quoted(&function.name);
        let parameters = self.values(&function.parameters, ", ");
        let at = span(function.span);
        // A function without a place in a source has no clause, and no blank for it.
        let at = if at.is_empty() { at } else { format!("{at} ") };
        self.line(&format!("func @{name}({parameters}) {at}{{"));
        self.depth += 1;
        self.tree(function.body);
        self.depth -= 1;
        self.line("}");
    }

    /// Writes everything inside of a region. A stack of tasks stands in for recursion, because programs may nest ten
    /// thousand levels deep.
    fn tree(&mut self, body: RegionId) {
        let mut tasks = Vec::new();
        self.push_blocks(body, &mut tasks);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Op(op) => self.op(op, &mut tasks),
                Task::Region { region, first } => {
                    // The closing brace of the region before stands on the same line: `} {`.
                    if !first {
                        self.depth -= 1;
                        self.indent();
                        self.out.push_str("} ");
                    }
                    self.open_brace(region);
                    self.push_blocks(region, &mut tasks);
                }
                Task::Block(block) => self.block(block, &mut tasks),
                Task::WaysOn(block) => self.ways_on(block),
                Task::Close => {
                    self.depth -= 1;
                    self.line("}");
                }
            }
        }
    }

    /// Puts the blocks of a region on the stack of tasks, the last one first.
    fn push_blocks(&self, region: RegionId, tasks: &mut Vec<Task>) {
        let blocks = self.program.regions[region].blocks.iter().rev();
        tasks.extend(blocks.map(|&block| Task::Block(block)));
    }

    /// Prints the opening brace of a region and the arguments of its first block: `{ (%a, %b)`.
    fn open_brace(&mut self, region: RegionId) {
        let entry = self.program.regions[region].blocks.first();
        let arguments = entry.map(|&b| self.arguments(&self.program.blocks[b].arguments));
        match arguments.filter(|arguments| !arguments.is_empty()) {
            Some(arguments) => _ = writeln!(self.out, "{{ {arguments}"),
            None => self.out.push_str("{\n"),
        }
        self.depth += 1;
    }

    /// The arguments of a block in parentheses, each with what is known of its memory.
    fn arguments(&self, arguments: &[ValueId]) -> String {
        let argument = |&id: &ValueId| match &self.program.values[id].origin {
            Origin::Opaque(sources) => {
                format!("{} = opaque {}", self.value(id), self.values(sources, " | "))
            }
            Origin::External => format!("{} = external", self.value(id)),
            _ => self.value(id).to_owned(),
        };
        match arguments {
            [] => String::new(),
            _ => format!("({})", arguments.iter().map(argument).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Prints the label of a block and puts its ops on the list of tasks, the last one first, because the list is a
    /// stack.
    fn block(&mut self, id: BlockId, tasks: &mut Vec<Task>) {
        let block = &self.program.blocks[id];
        let region = &self.program.regions[block.region];
        // A region with a single block has no labels.
        if region.blocks.len() > 1 {
            // The arguments of an entry block stand behind the brace already, except in a function body.
            let arguments = match region.op.is_some() && region.blocks[0] == id {
                true => String::new(),
                false => self.arguments(&block.arguments),
            };
            // The label stands one level further left than the ops of its block.
            self.depth -= 1;
            self.line(&format!("^{}{arguments}:", self.block_name(id)));
            self.depth += 1;
        }
        tasks.push(Task::WaysOn(id));
        tasks.extend(block.ops.iter().rev().map(|&op| Task::Op(op)));
    }

    /// Blocks are numbered within their region.
    fn block_name(&self, id: BlockId) -> usize {
        self.block_numbers[id]
    }

    /// Prints the branches at the end of a block. A block without any never ends (`stop`). A region of one block that
    /// leaves with no values prints nothing, since the parser adds that itself.
    fn ways_on(&mut self, id: BlockId) {
        let block = &self.program.blocks[id];
        let only_block = self.program.regions[block.region].blocks.len() == 1;
        match &block.branches[..] {
            [] => self.line("stop"),
            [only] if only.target == Target::Leave && only.values.is_empty() && only_block => {}
            branches => branches.iter().for_each(|branch| self.branch(branch)),
        }
    }

    /// Prints one branch: `goto ^1 %x`, `leave %x, %y` or `break`.
    fn branch(&mut self, branch: &Branch) {
        let target = match branch.target {
            Target::Block(block) => format!("goto ^{}", self.block_name(block)),
            Target::Leave => "leave".to_owned(),
            Target::Break => "break".to_owned(),
        };
        let values = self.values(&branch.values, ", ");
        self.line(format!("{target} {values}").trim_end());
    }

    /// Prints an op, and puts its regions on the list of tasks.
    fn op(&mut self, id: OpId, tasks: &mut Vec<Task>) {
        let op = &self.program.ops[id];
        let clauses = self.clauses(id, op);
        let text = format!("{}  {}", op_name(&op.name), clauses.join(", "));
        if op.regions().is_empty() {
            return self.line(text.trim_end());
        }
        self.indent();
        self.out.push_str(&text);
        self.out.push(' ');
        // The tasks are a stack, so what is printed last is pushed first.
        tasks.push(Task::Close);
        for (index, &region) in op.regions().iter().enumerate().rev() {
            let first = index == 0;
            tasks.push(Task::Region { region, first });
        }
    }

    /// Everything behind the name of an op, clause by clause; the module documentation of
    /// `parse.rs` has an example.
    fn clauses(&self, id: OpId, op: &Op) -> Vec<String> {
        let mut clauses = Vec::new();
        // The parser takes clauses in any order. The printer writes accesses first, and how the op runs its regions
        // last, next to the opening brace.
        clauses.extend(op.accesses.iter().map(|access| {
            let kind = match access.kind {
                AccessKind::Read => "read",
                AccessKind::Write => "write",
                AccessKind::Update => "update",
                AccessKind::Free => "free",
                AccessKind::Escape => "escape",
            };
            format!("{kind} {}", self.value(access.value))
        }));
        // Then what the op makes, and how outputs and inputs may relate.
        clauses.extend(op.results.iter().map(|&value| self.result(value)));
        clauses.extend(op.overlays().iter().map(|overlay| {
            let kind = match overlay.kind {
                OverlayKind::SameBase => "",
                OverlayKind::AnyOffset => " any",
            };
            let (output, input) = (self.value(overlay.output), self.value(overlay.input));
            format!("overlay {output} over {input}{kind}")
        }));
        clauses.extend(op.copies().iter().map(|copy| self.copy(copy)));
        clauses.extend(op.awaits().iter().map(|awaited| {
            let every = if awaited.every { "every " } else { "" };
            format!("await {every}{}", self.tokens[awaited.token.index()])
        }));
        // Then where it runs, what it waits for, and where it stands in the source.
        if let Some(pipe) = op.pipe {
            clauses.push(format!("pipe {}", quoted(&self.program.pipes[pipe])));
        }
        if let Some(label) = self.labels.get(&id) {
            clauses.push(format!("label &{label}"));
        }
        clauses.extend(self.dependencies(id));
        clauses.extend(Some(span(op.span)).filter(|text| !text.is_empty()));
        clauses.extend(self.control(op));
        clauses.extend(op.scope().then(|| "scope".to_owned()));
        clauses.extend(op.inits().iter().map(|&v| format!("init {}", self.value(v))));
        clauses
    }

    /// A value that an op makes, and what its memory is.
    fn result(&self, id: ValueId) -> String {
        let name = self.value(id);
        match &self.program.values[id].origin {
            Origin::Alloc(site) => self.alloc(name, &self.program.sites[*site]),
            Origin::External => format!("external {name}"),
            Origin::Incoming => format!("result {name}"),
            Origin::Merged(sources) => format!("merge {name} = {}", self.values(sources, " | ")),
            // Without sources there is nothing to write behind `=`.
            Origin::Opaque(sources) if sources.is_empty() => format!("opaque {name}"),
            Origin::Opaque(sources) => format!("opaque {name} = {}", self.values(sources, " | ")),
            Origin::Derived { base, extent } => {
                let extent = match extent {
                    Extent::Exactly(range) => format!("{}..{}", range.start, range.end),
                    Extent::Within(range) => format!("within {}..{}", range.start, range.end),
                    Extent::Anywhere => "?".to_owned(),
                };
                format!("view {name} = {}[{extent}]", self.value(*base))
            }
        }
    }

    /// An allocation with its marks: `alloc %x 64 align 16 slots 2 rotate &1`. `name` is the text
    /// of its value.
    fn alloc(&self, name: &str, site: &Site) -> String {
        let size = match &site.size {
            Size::Known(bytes) => bytes.to_string(),
            Size::Symbolic { symbol, bound } => {
                let bound = bound.map_or(String::new(), |bound| format!(" max {bound}"));
                format!("{}{bound}", symbol_text(symbol))
            }
        };
        // Attributes with their usual value are left out, so that small programs stay short.
        let mut text = format!("alloc {name} {size}");
        if site.alignment != Bytes(1) {
            _ = write!(text, " align {}", site.alignment);
        }
        let space = &self.program.spaces[site.space];
        if &**space != "default" {
            _ = write!(text, " space {}", quoted(space));
        }
        if site.slots != 1 {
            _ = write!(text, " slots {}", site.slots);
        }
        if let Some(label) = site.rotation.and_then(|op| self.labels.get(&op)) {
            _ = write!(text, " rotate &{label}");
        }
        if site.exclusive {
            text.push_str(" exclusive");
        }
        if site.preload {
            text.push_str(" preload");
        }
        if let Some(id) = site.coupled {
            _ = write!(text, " coupled {id}");
        }
        text
    }

    /// Which bytes of an output are copied from which bytes of an input.
    fn copy(&self, copy: &CopyRange) -> String {
        let range = |start: Bytes| format!("{start}..{}", start.0.saturating_add(copy.length.0));
        format!(
            "copy {}[{}] from {}[{}]",
            self.value(copy.output),
            range(copy.output_start),
            self.value(copy.input),
            range(copy.input_start)
        )
    }

    /// `after &1 &2`, if the op is in a dag and waits for others.
    fn dependencies(&self, id: OpId) -> Option<String> {
        let parent = self.program.parent(id)?;
        let Control::Dag { dependencies } = self.program.ops[parent].control() else {
            return None;
        };
        // The pairs (before, after) are sorted by the op that waits, so those of this op are found by a binary search.
        let first = dependencies.partition_point(|&(_, after)| after < id);
        let before = dependencies[first..].iter().take_while(|&&(_, after)| after == id);
        let labels: Vec<String> =
            before.filter_map(|(before, _)| self.labels.get(before)).map(|label| format!("&{label}")).collect();
        (!labels.is_empty()).then(|| format!("after {}", labels.join(" ")))
    }

    /// The clause that says how an op runs its regions; `None` for an op without any.
    fn control(&self, op: &Op) -> Option<String> {
        Some(match op.control() {
            Control::Once if op.regions().is_empty() => return None,
            Control::Once => "once".to_owned(),
            // One number if the count is known, else a range that may be open.
            Control::Loop(trips) => match trips.at_most {
                Some(most) if most == trips.at_least => format!("loop {most}"),
                Some(most) => format!("loop {}..{most}", trips.at_least),
                None => format!("loop {}..", trips.at_least),
            },
            Control::While => "while".to_owned(),
            Control::Alternatives { may_skip: false } => "alternatives".to_owned(),
            Control::Alternatives { may_skip: true } => "alternatives may-skip".to_owned(),
            Control::Parallel { trips } => {
                let mut text = "parallel".to_owned();
                for count in trips {
                    match count {
                        Some(count) => _ = write!(text, " {count}"),
                        None => text.push_str(" ?"),
                    }
                }
                text
            }
            Control::Async { token } => format!("async {}", self.tokens[token.index()]),
            Control::Dag { .. } => "dag".to_owned(),
            Control::Unknown => "unknown".to_owned(),
        })
    }
}

/// The text of each value, `%name`: no two values of a function have the same one, and none has
/// that of a global.
fn value_names(program: &Program) -> IndexVec<ValueId, String> {
    let mut globals = Unique::default();
    let mut names = IndexVec::filled(String::new(), program.values.len());
    for (id, value) in program.values.iter_enumerated() {
        if value.definition == Definition::Global {
            names[id] = format!("%{}", quoted(&globals.name(&value.name)));
        }
    }
    // Two functions may use the same name. A global is visible in all of them, so its name is taken
    // everywhere.
    let mut functions = vec![Unique::default(); program.functions.len()];
    for (id, value) in program.values.iter_enumerated() {
        let function = match value.definition {
            Definition::Global => continue,
            Definition::Parameter(function) => function,
            Definition::Result(op) => program.function_of(op),
            Definition::Argument(block) => program.regions[program.blocks[block].region].function,
        };
        let unique = &mut functions[function.index()];
        let mut name = unique.name(&value.name);
        // `unique` counts on until the name is neither used in the function nor the name of a global.
        while globals.taken.contains(&name) {
            name = unique.name(&value.name);
        }
        names[id] = format!("%{}", quoted(&name));
    }
    names
}

/// Hands out names, numbering those that were handed out before.
#[derive(Clone, Default)]
struct Unique {
    /// All names that were handed out.
    taken: HashSet<String>,
    /// For each name that was asked for again, the last number that was tried.
    counts: HashMap<String, u32>,
}

impl Unique {
    /// The name if it is free, else the name with a number that makes it different from all others: `x`, `x#2`, `x#3`.
    fn name(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let count = self.counts.entry(name.to_owned()).or_insert(1);
        loop {
            *count += 1;
            let numbered = format!("{name}#{count}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// The clause `at 3..99` for a place in the source; empty if there is none.
fn span(span: Span) -> String {
    match span == Span::default() {
        true => String::new(),
        false => format!("at {}..{}", span.start, span.end),
    }
}

/// The name itself, or in quotes if it would be read as something else.
fn quoted(name: &str) -> String {
    // `..` ends a word, and `//` at the start of a token begins a comment.
    let plain = !name.is_empty() && name.chars().all(in_word) && !name.contains("..") && !name.starts_with("//");
    match plain {
        true => name.to_owned(),
        false => in_quotes(name),
    }
}

/// The name in quotes, with the escapes that the lexer knows.
fn in_quotes(name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The name of an op as text. Words that begin a line and are no ops (`leave`) are quoted.
fn op_name(name: &str) -> String {
    match name {
        "leave" | "break" | "goto" | "stop" => in_quotes(name),
        _ => quoted(name),
    }
}

/// The symbol of a size as text. One that looks like a number is quoted.
fn symbol_text(symbol: &str) -> String {
    match symbol.parse::<u64>() {
        Ok(_) => in_quotes(symbol),
        Err(_) => quoted(symbol),
    }
}
