//! Which buffers a value may be.
//!
//! Values flow: a view is part of its base, a select is one of its sources, a
//! block argument is whatever the edges into it hand over, and the result of an
//! op of which nothing is known may be any of its memory operands. So every
//! value has a set of allocation sites it may name:
//!
//! ```text
//!   %a = alloc          {a}
//!   %b = alloc          {b}
//!   %v = view %a        {a}
//!   %m = merge %v | %b  {a, b}
//! ```
//!
//! A *site* is a place in the program that allocates memory. The *sources* of a value
//! are the values that it may come from, and the graph of values and their sources is
//! the flow graph. Values on a cycle of it (a loop argument that is yielded again)
//! have equal sets, so the graph is condensed into strongly connected components,
//! which are visited sources first: each set is a union of finished ones. Linear in
//! the size of the graph and of the sets.
//!
//! The *origin* of a value says what it is: an allocation, memory that is not ours, a view of another value
//! (`Derived`), one of several values (`Merged`), what control flow hands over (`Incoming`), or any of some values or
//! foreign memory (`Opaque`). [`Program::incoming_edges`] has the pairs of values that control flow hands over.

use memplan_core::{Id, IndexVec};
use memplan_program::{Origin, Program, SiteId, ValueId};
use smallvec::SmallVec;

/// The sites each value may name.
#[derive(Clone, Debug, Default)]
pub struct Aliases {
    sites: IndexVec<ValueId, SmallVec<[SiteId; 1]>>,
}

impl Aliases {
    /// Follows the flow of values through a program.
    pub fn new(program: &Program) -> Aliases {
        let flow = Flow::new(program);
        let mut sites = IndexVec::<ValueId, SmallVec<[SiteId; 1]>>::filled(SmallVec::new(), program.values().len());
        // A component is a set of values that flow into each other in a circle, or a single value. Components come with
        // their sources first, so one visit each is enough: all values of a component may name the same sites.
        let mut union: Vec<SiteId> = Vec::new();
        for component in flow.components() {
            union.clear();
            // Sources in the same component have no sets yet and add nothing; their own sources are looked at in turn.
            for &value in &component {
                if let Origin::Alloc(site) = program.value(value).origin {
                    union.push(site);
                }
                for &source in flow.sources(value) {
                    union.extend_from_slice(&sites[source]);
                }
            }
            union.sort_unstable();
            union.dedup();
            for &value in &component {
                sites[value] = SmallVec::from_slice(&union);
            }
        }
        Aliases { sites }
    }

    /// The sites a value may name, in order. Empty: only memory that is not ours.
    pub fn sites(&self, value: ValueId) -> &[SiteId] {
        &self.sites[value]
    }

    /// The text form: one line per value that may name a site.
    pub fn dump(&self, program: &Program) -> String {
        let names = program.site_names();
        let mut text = String::new();
        for (value, sites) in self.sites.iter_enumerated().filter(|(_, sites)| !sites.is_empty()) {
            let sites: Vec<&str> = sites.iter().map(|&site| names[site].as_str()).collect();
            text.push_str(&format!("%{}: {}\n", program.value(value).name, sites.join(", ")));
        }
        text
    }
}

/// Edges from each value to the values it may come from, as one flat array: the sources of value `v` are
/// `sources[start[v]..start[v + 1]]`.
struct Flow {
    start: Vec<usize>,
    sources: Vec<ValueId>,
}

impl Flow {
    /// Collects the edges of a program: those that control flow makes, and those of views, selects and unknown results.
    fn new(program: &Program) -> Flow {
        let mut edges = program.incoming_edges();
        for (value, info) in program.values().iter_enumerated() {
            match &info.origin {
                Origin::Derived { base, .. } => edges.push((value, *base)),
                Origin::Merged(sources) | Origin::Opaque(sources) => {
                    edges.extend(sources.iter().map(|&source| (value, source)));
                }
                Origin::Alloc(_) | Origin::External | Origin::Incoming => {}
            }
        }
        edges.sort_unstable();
        edges.dedup();
        // Counts the edges of each value, one place further on; summed up, the counts are where each value's edges
        // start.
        let mut start = vec![0; program.values().len() + 1];
        for &(value, _) in &edges {
            start[value.index() + 1] += 1;
        }
        for index in 1..start.len() {
            start[index] += start[index - 1];
        }
        Flow { start, sources: edges.into_iter().map(|(_, source)| source).collect() }
    }

    /// The values that a value may come from.
    fn sources(&self, value: ValueId) -> &[ValueId] {
        &self.sources[self.start[value.index()]..self.start[value.index() + 1]]
    }

    /// Strongly connected components: largest sets of values each of which may come from each other one. Sources
    /// come before what comes from them.
    ///
    /// This is Tarjan's algorithm: a depth-first search from each value to its sources, with lists in place of
    /// recursion. `order` numbers values as they are found. `lowest` is the smallest number that a value reaches
    /// within its unfinished component. `stack` holds the values whose component is not finished yet (`on_stack`).
    fn components(&self) -> Vec<SmallVec<[ValueId; 1]>> {
        const UNSEEN: u32 = u32::MAX;
        // `start` has one more entry than there are values.
        let count = self.start.len() - 1;
        let mut order = vec![UNSEEN; count];
        let mut lowest = vec![0u32; count];
        let mut on_stack = vec![false; count];
        let mut stack: Vec<usize> = Vec::new();
        let mut work: Vec<(usize, usize)> = Vec::new();
        let mut components = Vec::new();
        // The number that the next new value gets in `order`.
        let mut next = 0;
        for root in 0..count {
            if order[root] != UNSEEN {
                continue;
            }
            // `work` holds the path of the depth-first search: a value and how many of its sources were
            // looked at.
            work.push((root, 0));
            while let Some(&mut (value, ref mut edge)) = work.last_mut() {
                // The first visit of a value.
                if *edge == 0 && order[value] == UNSEEN {
                    (order[value], lowest[value]) = (next, next);
                    next += 1;
                    stack.push(value);
                    on_stack[value] = true;
                }
                let sources = self.sources(ValueId::from_index(value));
                if let Some(source) = sources.get(*edge).map(|source| source.index()) {
                    *edge += 1;
                    if order[source] == UNSEEN {
                        work.push((source, 0));
                    // A source on the stack belongs to the same component, or to one that is not closed
                    // yet.
                    } else if on_stack[source] {
                        lowest[value] = lowest[value].min(order[source]);
                    }
                    continue;
                }
                // All sources were looked at. What this value reaches, the value before it on the path reaches, too.
                work.pop();
                if let Some(&(parent, _)) = work.last() {
                    lowest[parent] = lowest[parent].min(lowest[value]);
                }
                // No source leads to a value that was found before this one and is unfinished. So this value and
                // everything above it on the stack are one component.
                if lowest[value] == order[value] {
                    let mut component = SmallVec::new();
                    while let Some(member) = stack.pop() {
                        on_stack[member] = false;
                        component.push(ValueId::from_index(member));
                        if member == value {
                            break;
                        }
                    }
                    components.push(component);
                }
            }
        }
        components
    }
}
