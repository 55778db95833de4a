//! The abstract state, as a persistent map.
//!
//! The state says, for every entry (see `names`), which bytes of the buffer
//! are written and which of those are lost. Branches and loops need several
//! states at once that differ in little, so the map is a trie with shared
//! nodes: a copy is free, a change copies one path (or nothing, if the path is
//! not shared), and joining two states visits only what differs.
//!
//! An *entry* is a number for one combination of somebody who may read (a value, for instance), the slot of a buffer
//! that this may be, and whether the buffer's latest or an older instance is meant. Its number, written in digits of
//! base 16, is the way from the root of the trie to its *content*.
//!
//! A byte is *live* if it is written and not lost. Entries are numbered by address, and each trie node knows how far
//! the live bytes of the contents below it reach. That makes the same trie an interval tree: "which live contents
//! overlap these bytes" takes time in the number of answers, not in the number of buffers.

use std::rc::Rc;

use smallvec::SmallVec;

use super::ranges::{Lost, Range, Ranges};

/// Children of a trie node. One digit of an entry's number is four bits, see [`digit`].
const FAN_OUT: usize = 16;

/// The reach of a content, or of a node, without live bytes: less than any address.
const NOTHING: i128 = i128::MIN;

/// Where in a buffer a value may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// All bytes it may consist of.
    pub(super) range: Range,
    /// Whether it consists of exactly these.
    pub(super) exact: bool,
}

impl Window {
    /// What holds if either of two windows may be true: it is somewhere in the range that covers both.
    fn join(self, other: Window) -> Window {
        let range = (self.range.0.min(other.range.0), self.range.1.max(other.range.1));
        Window { range, exact: self == other && self.exact }
    }
}

/// What is known of one content.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// Which bytes of the buffer the value consists of.
    pub(super) window: Window,
    /// Bytes that hold something the program put there.
    pub(super) written: Ranges,
    /// Written bytes that may meanwhile hold something else.
    pub(super) lost: Lost,
    /// The address where the live bytes end, or [`NOTHING`]; kept by [`Content::settle`].
    reach: i128,
}

impl Content {
    /// Nothing is written yet.
    pub(super) fn unwritten(window: Window) -> Content {
        Content { window, written: Ranges::default(), lost: Lost::default(), reach: NOTHING }
    }

    /// Written bytes that are not lost.
    pub(super) fn live(&self) -> Ranges {
        let mut live = self.written.clone();
        self.lost.iter().for_each(|(range, _)| live.remove(range));
        live
    }

    /// Recomputes how far the live bytes reach. `entry` is the number under which the content is kept.
    fn settle(&mut self, addresses: &impl Addresses, entry: usize) {
        let end = if self.lost.is_empty() { self.written.end() } else { self.live().end() };
        self.reach = if end == 0 { NOTHING } else { addresses.reach(entry, end) };
    }

    /// Whether joining `other`, the content of the same entry on another path, would change nothing.
    fn includes(&self, other: &Content) -> bool {
        self.window.join(other.window) == self.window
            && self.written.covers_all(&other.written)
            && other.lost.iter().all(|(range, _)| self.lost.covers(range))
    }

    /// Takes in the content of the same entry on another path: what is written or lost on either path is so here, and a
    /// byte that is lost on both keeps the op that is already noted. Says whether anything changed.
    pub(super) fn join(&mut self, other: &Content) -> bool {
        let window = self.window.join(other.window);
        let mut changed = window != self.window;
        self.window = window;
        if !self.written.covers_all(&other.written) {
            self.written.add_all(&other.written);
            changed = true;
        }
        for (range, op) in other.lost.iter() {
            changed |= self.lost.add(range, op);
        }
        changed
    }
}

/// Where entries lie in the address line.
pub(super) trait Addresses {
    /// The address where the live bytes of an entry end, given where they end within the buffer.
    fn reach(&self, entry: usize, live_end: u64) -> i128;
}

/// A node of the trie. `reach` is the largest reach of all contents below it, or [`NOTHING`].
#[derive(Clone, Debug)]
enum Node {
    Branch { children: [Option<Rc<Node>>; FAN_OUT], reach: i128 },
    Leaf { contents: [Option<Rc<Content>>; FAN_OUT], reach: i128 },
}

impl Node {
    fn empty(height: u32) -> Node {
        match height {
            0 => Node::Leaf { contents: Default::default(), reach: NOTHING },
            _ => Node::Branch { children: Default::default(), reach: NOTHING },
        }
    }

    fn reach(&self) -> i128 {
        match self {
            Node::Branch { reach, .. } | Node::Leaf { reach, .. } => *reach,
        }
    }

    fn set_reach(&mut self, new: i128) {
        match self {
            Node::Branch { reach, .. } | Node::Leaf { reach, .. } => *reach = new,
        }
    }

    /// Computes the reach of a node from its children, after one of them has changed.
    fn refresh(&mut self) {
        match self {
            Node::Branch { children, reach } => {
                *reach = children.iter().flatten().map(|child| child.reach()).max().unwrap_or(NOTHING);
            }
            Node::Leaf { contents, reach } => {
                *reach = contents.iter().flatten().map(|content| content.reach).max().unwrap_or(NOTHING);
            }
        }
    }
}

/// Entries that were looked for; few, as a rule.
pub(super) type Found = SmallVec<[usize; 8]>;

/// A map from entries to contents; an absent entry means the value cannot be that buffer.
#[derive(Clone, Debug)]
pub(super) struct State {
    root: Option<Rc<Node>>,
    /// Levels of branches above the leaves: an entry's number has one digit more than this.
    height: u32,
}

impl State {
    /// The empty state for entries numbered below `entries`.
    pub(super) fn new(entries: usize) -> State {
        // A trie of height 0 has room for 16 entries, and each level more for 16 times as many.
        let mut height = 0;
        let mut room = FAN_OUT;
        while room < entries {
            room *= FAN_OUT;
            height += 1;
        }
        State { root: None, height }
    }

    /// What an entry holds: its number, digit by digit, leads from the root of the tree to a leaf.
    pub(super) fn get(&self, entry: usize) -> Option<&Rc<Content>> {
        let mut node = self.root.as_ref()?;
        let mut height = self.height;
        loop {
            match &**node {
                Node::Branch { children, .. } => {
                    node = children[digit(entry, height)].as_ref()?;
                    height -= 1;
                }
                Node::Leaf { contents, .. } => return contents[digit(entry, 0)].as_ref(),
            }
        }
    }

    /// Sets or removes the content of an entry.
    pub(super) fn put(&mut self, addresses: &impl Addresses, entry: usize, content: Option<Content>) {
        // Removing what is not there must not copy a path of shared nodes.
        if content.is_none() && self.get(entry).is_none() {
            return;
        }
        let content = content.map(|mut content| {
            content.settle(addresses, entry);
            Rc::new(content)
        });
        change(&mut self.root, self.height, entry, |slot| *slot = content);
    }

    /// Changes the content of an entry by `how`; does nothing if the entry is absent.
    pub(super) fn update(&mut self, addresses: &impl Addresses, entry: usize, how: impl FnOnce(&mut Content)) {
        if self.get(entry).is_none() {
            return;
        }
        change(&mut self.root, self.height, entry, |slot| {
            if let Some(content) = slot {
                let content = Rc::make_mut(content);
                how(content);
                // `how` may have changed which bytes are alive, and so how far they reach.
                content.settle(addresses, entry);
            }
        });
    }

    /// The entries with numbers below `limit` whose live bytes reach beyond the address `low`, ascending.
    pub(super) fn reaching_past(&self, low: i128, limit: usize) -> Found {
        let mut found = Found::new();
        if let Some(root) = &self.root {
            collect(root, self.height, 0, &mut |reach| reach > low, limit, &mut found);
        }
        found
    }

    /// All entries that are present, ascending.
    pub(super) fn entries(&self) -> Found {
        let mut found = Found::new();
        if let Some(root) = &self.root {
            collect(root, self.height, 0, &mut |_| true, usize::MAX, &mut found);
        }
        found
    }

    /// Takes in the state of another path, entry by entry. Says whether anything changed.
    pub(super) fn join(&mut self, addresses: &impl Addresses, other: &State) -> bool {
        join(addresses, &mut self.root, &other.root, self.height, 0)
    }
}

/// The digit of an entry's number that says which child to take at a height: digits of four bits, the last at height 0.
fn digit(entry: usize, height: u32) -> usize {
    (entry >> (4 * height)) % FAN_OUT
}

// The recursions below go down the trie: at most 16 levels, because a number of 64 bits has 16 digits of four bits.

/// Changes the content of one entry below the node in `slot`, and the reach of the nodes on the way to it. Missing
/// nodes are made and nodes that other states share are copied first (`Rc::make_mut`). Gives how far the node reached
/// before and reaches now, so that the node above it can adapt its own reach without looking at all of its children.
fn change(
    slot: &mut Option<Rc<Node>>,
    height: u32,
    entry: usize,
    how: impl FnOnce(&mut Option<Rc<Content>>),
) -> (i128, i128) {
    let node = Rc::make_mut(slot.get_or_insert_with(|| Rc::new(Node::empty(height))));
    let old = node.reach();
    // How far the changed child, or in a leaf the changed content, reached before and reaches now.
    let (before, after) = match node {
        Node::Branch { children, .. } => change(&mut children[digit(entry, height)], height - 1, entry, how),
        Node::Leaf { contents, .. } => {
            let slot = &mut contents[digit(entry, 0)];
            let before = reach_of(slot);
            how(slot);
            (before, reach_of(slot))
        }
    };
    // `old` is how far the node reached before. Three cases: the changed child reaches at least that far now, so it
    // decides. Or it reached farthest before and has shrunk, so another child may reach farthest now. Or it neither
    // reached farthest before nor does now, and the node's reach stays.
    if after >= old {
        node.set_reach(after);
    } else if before == old {
        node.refresh();
    }
    (old, node.reach())
}

/// How far a content reaches.
fn reach_of(slot: &Option<Rc<Content>>) -> i128 {
    slot.as_ref().map_or(NOTHING, |content| content.reach)
}

/// Adds to `found` the entries below `limit` whose reach is `wanted`, ascending. `first` is the number of the node's
/// first entry. `wanted` must also hold for every larger reach than one it holds for, because it is asked about whole
/// subtrees by their largest reach.
fn collect(
    node: &Node,
    height: u32,
    first: usize,
    wanted: &mut impl FnMut(i128) -> bool,
    limit: usize,
    found: &mut Found,
) {
    // A subtree is left out as a whole if all of its entries start too late (`first >= limit`) or end too early
    // (`reach`). That makes the search cost as much as its answers.
    if first >= limit || !wanted(node.reach()) {
        return;
    }
    match node {
        Node::Branch { children, .. } => {
            for (index, child) in children.iter().enumerate() {
                if let Some(child) = child {
                    // A node at height h covers 16 children of 16^h entries each, hence the shift by four bits a level.
                    collect(child, height - 1, first + (index << (4 * height)), wanted, limit, found);
                }
            }
        }
        Node::Leaf { contents, .. } => {
            for (index, content) in contents.iter().enumerate() {
                if let Some(content) = content
                    && first + index < limit
                    && wanted(content.reach)
                {
                    found.push(first + index);
                }
            }
        }
    }
}

/// Takes the contents of `from` into `into`, two nodes at the same position of their tries; says whether anything
/// changed. `first` is the number of the first entry below them. Subtrees that the two states share are skipped,
/// which makes a join as cheap as the difference.
fn join(
    addresses: &impl Addresses,
    into: &mut Option<Rc<Node>>,
    from: &Option<Rc<Node>>,
    height: u32,
    first: usize,
) -> bool {
    // Nothing below `from`: there is nothing to take in. Nothing below `into`: it shares the node of `from` from now
    // on.
    let Some(from_node) = from else {
        return false;
    };
    let Some(into_node) = into else {
        into.clone_from(from);
        return true;
    };
    if Rc::ptr_eq(into_node, from_node) {
        return false;
    }
    // Most joins of differing nodes change nothing. So the changes are collected first, and the node is only copied if
    // there are any.
    let mut changes: Vec<(usize, Change)> = Vec::new();
    match (&**into_node, &**from_node) {
        (Node::Branch { children: old, .. }, Node::Branch { children: new, .. }) => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                let mut child = old.clone();
                if join(addresses, &mut child, new, height.saturating_sub(1), first + (index << (4 * height))) {
                    changes.push((index, Change::Child(child)));
                }
            }
        }
        (Node::Leaf { contents: old, .. }, Node::Leaf { contents: new, .. }) => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                if let Some(content) = joined(addresses, old, new, first + index) {
                    changes.push((index, Change::Content(content)));
                }
            }
        }
        // Both nodes are at the same height, so one cannot be a branch and the other a leaf.
        _ => {}
    }
    if changes.is_empty() {
        return false;
    }
    // Only now the node is copied, if other states share it.
    let node = Rc::make_mut(into_node);
    for (index, change) in changes {
        match (&mut *node, change) {
            (Node::Branch { children, .. }, Change::Child(child)) => children[index] = child,
            (Node::Leaf { contents, .. }, Change::Content(content)) => contents[index] = Some(content),
            _ => {}
        }
    }
    node.refresh();
    true
}

/// What a join puts into one position of a node.
enum Change {
    Child(Option<Rc<Node>>),
    Content(Rc<Content>),
}

/// Two contents of an entry joined; `None` if the old one already includes the new one.
fn joined(
    addresses: &impl Addresses,
    old: &Option<Rc<Content>>,
    new: &Option<Rc<Content>>,
    entry: usize,
) -> Option<Rc<Content>> {
    // The other path has no such entry: what is there stays.
    let new = new.as_ref()?;
    let Some(old) = old else {
        return Some(new.clone());
    };
    if Rc::ptr_eq(old, new) || old.includes(new) {
        return None;
    }
    let mut content = Content::clone(old);
    content.join(new);
    content.settle(addresses, entry);
    Some(Rc::new(content))
}
