//! The documented algorithm: a table of tensors, reference counts, and the five
//! conditions under which a tensor may take the memory of one that has ended.
//!
//! Steps come in the order of execution. Each one
//!
//! 1. takes one off the `ref_cnt` of every operand;
//! 2. finds room for every result: the oldest row that meets all conditions, or
//!    else new memory behind all rows;
//! 3. releases operands that nobody will read any more.
//!
//! ```text
//!   V0 = f(in)  A = f(V0)  B = f(A)  C = f(V0, B)  V1 = f(C)      4 KiB each
//!
//!   in   at 0        read for the last time by V0's op, free when A is placed
//!   V0   at 4096
//!   A    at 0        the row of `in`
//!   B    at 8192     V0 will be read again, A is being read: new memory
//!   C    at 0        A has ended; B and V0 are being read
//!   V1   at 4096     V0 has ended
//! ```
//!
//! A row may be taken if (1) its tensor is not held, (2) its address is not in
//! use, (3) its tensor has ended, (4) it has bytes enough, (5) its address is none
//! of the op's operands'. Calls and returns count as readers, but place and release
//! nothing; so a tensor that passes from one function to another is never released.
//!
//! A reshape takes the address of its source and no memory of its own, and so does
//! every other op that moves no data.
//! DIVERGENCE: the original releases that address when the readers of the reshape
//! are done, even if the source itself is still to be read. Here an address is
//! released when *all* tensors on it have ended.
//!
//! Rows are never removed, and rows at one address shrink: whoever takes a row is
//! not larger. So the oldest row of an address speaks for all of them, and only
//! those that are free are looked at.

use std::collections::{BTreeSet, HashMap, HashSet};

use memplan_core::{Bytes, IndexVec};

use super::network::{Action, Network, Step, TensorId};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The tensor.
    pub tensor: TensorId,
    /// Where it is.
    pub address: u64,
    /// Where the memory begins that it lies in: the same, except for slices.
    block: u64,
    /// Its bytes, not padded.
    pub size: u64,
    /// How many reads are still to come.
    pub ref_cnt: usize,
}

/// The table and its two companions.
#[derive(Clone, Debug)]
pub(super) struct Table {
    rows: Vec<Row>,
    hold_edges: IndexVec<TensorId, bool>,
    in_using_addr: HashSet<u64>,
    row_of: IndexVec<TensorId, Option<usize>>,
    /// Reads still to come of all tensors at an address, and one for each that
    /// passes from one function to another: it is never released.
    pending: HashMap<u64, usize>,
    /// Tensors at an address since it was last taken.
    occupants: HashMap<u64, Vec<TensorId>>,
    /// The oldest row at an address.
    oldest: HashMap<u64, usize>,
    /// Oldest rows of the addresses that are not in use.
    free: BTreeSet<usize>,
    cursor: Bytes,
    align: Bytes,
}

impl Table {
    /// An empty table: no tensor has an address yet.
    fn new(network: &Network, start: u64, align: u64) -> Table {
        Table {
            rows: Vec::new(),
            hold_edges: IndexVec::filled(false, network.tensors.len()),
            in_using_addr: HashSet::new(),
            row_of: IndexVec::filled(None, network.tensors.len()),
            pending: HashMap::new(),
            occupants: HashMap::new(),
            oldest: HashMap::new(),
            free: BTreeSet::new(),
            cursor: Bytes(start),
            align: Bytes(align),
        }
    }

    /// The rows, oldest first.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether a tensor is in `hold_edges`.
    pub(super) fn is_held(&self, tensor: TensorId) -> bool {
        self.hold_edges[tensor]
    }

    /// Whether the address of a row is in `in_using_addr`.
    pub(super) fn is_in_use(&self, row: &Row) -> bool {
        self.in_using_addr.contains(&row.block)
    }

    fn row(&self, tensor: TensorId) -> Option<&Row> {
        self.row_of[tensor].and_then(|row| self.rows.get(row))
    }

    /// One read of a tensor is done.
    fn decrement(&mut self, tensor: TensorId) {
        let Some(row) = self.row_of[tensor].map(|row| &mut self.rows[row]) else { return };
        if row.ref_cnt >= 1 {
            row.ref_cnt -= 1;
            // A tensor without bytes may have the address of another tensor, and its reads were never counted there.
            if let Some(pending) = self.pending.get_mut(&row.block).filter(|_| row.size > 0) {
                *pending -= 1;
            }
        }
    }

    /// The five conditions.
    fn is_reusable(&self, row: &Row, bytes: u64, operands: &[u64]) -> bool {
        !self.hold_edges[row.tensor]
            && !self.in_using_addr.contains(&row.block)
            && row.ref_cnt == 0
            && row.size >= bytes
            && !operands.contains(&row.block)
    }

    /// Room for a tensor; `None` past 2^63.
    fn place(&mut self, tensor: TensorId, bytes: u64, uses: Uses, operands: &[u64]) -> Option<()> {
        let found = self.free.iter().copied().find(|&row| self.is_reusable(&self.rows[row], bytes, operands));
        let address = match found {
            Some(row) => self.rows[row].address,
            None => {
                let address = self.cursor;
                self.cursor = address.checked_add(Bytes(bytes))?.align_up(self.align)?;
                address.0
            }
        };
        self.pending.insert(address, 0);
        self.occupants.insert(address, Vec::new());
        self.occupy(Row { tensor, address, block: address, size: bytes, ref_cnt: uses.count }, uses);
        Some(())
    }

    /// Enters a tensor into the table, at the address that its row says. The address may belong to an older tensor that
    /// is over, or be new.
    fn occupy(&mut self, row: Row, uses: Uses) {
        let number = self.rows.len();
        self.row_of[row.tensor] = Some(number);
        self.rows.push(row);
        self.hold_edges[row.tensor] = true;
        // A tensor without bytes takes no address.
        if row.size == 0 {
            return;
        }
        self.in_using_addr.insert(row.block);
        let oldest = *self.oldest.entry(row.block).or_insert(number);
        self.free.remove(&oldest);
        *self.pending.entry(row.block).or_default() += uses.count + usize::from(uses.crosses);
        self.occupants.entry(row.block).or_default().push(row.tensor);
    }

    /// The result of an op that moves no data lies in its operand.
    fn share(&mut self, network: &Network, step: &Step, uses: &IndexVec<TensorId, Uses>) {
        let (Some(&tensor), Some(&source)) = (step.writes.first(), step.reads.first()) else { return };
        let Some(&Row { address, block, .. }) = self.row(source) else { return };
        let further = network.root(tensor).1.saturating_sub(network.root(source).1);
        let size = network.tensors[tensor].shape.bytes();
        let row = Row { tensor, address: address + further, block, size, ref_cnt: uses[tensor].count };
        self.occupy(row, uses[tensor]);
    }

    /// Gives back the memory of an operand if nobody will read it any more.
    fn release(&mut self, tensor: TensorId) {
        let Some(&Row { block, size, .. }) = self.row(tensor).filter(|_| self.hold_edges[tensor]) else { return };
        if size == 0 {
            self.hold_edges[tensor] = false;
            return;
        }
        if self.pending.get(&block).is_some_and(|&pending| pending > 0) {
            return;
        }
        for occupant in self.occupants.remove(&block).unwrap_or_default() {
            self.hold_edges[occupant] = false;
        }
        self.hold_edges[tensor] = false;
        if self.in_using_addr.remove(&block) {
            self.free.extend(self.oldest.get(&block));
        }
    }
}

/// Where the tensors are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Documented {
    pub(super) addresses: IndexVec<TensorId, u64>,
    pub(super) size: u64,
}

/// Where memory begins, and what addresses are multiples of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    pub(super) start: u64,
    pub(super) align: u64,
}

/// Runs the algorithm; `watch` sees the table after each step. `None` if sizes pass 2^63.
pub(super) fn assign(network: &Network, ground: Ground, mut watch: impl FnMut(&Step, &Table)) -> Option<Documented> {
    let uses = use_counts(network);
    let mut table = Table::new(network, ground.start, ground.align);
    // Inputs are there before anything runs, those that a function further down brings in, too.
    let (inputs, others): (Vec<&Step>, Vec<&Step>) =
        network.steps.iter().partition(|step| step.action == Action::Input);
    for step in inputs.into_iter().chain(others) {
        let own: Vec<TensorId> =
            step.reads.iter().copied().filter(|&read| network.tensors[read].function == step.function).collect();
        own.iter().for_each(|&tensor| table.decrement(tensor));
        match step.action {
            Action::Call | Action::Return | Action::Finish => {}
            Action::View | Action::Update => table.share(network, step, &uses),
            _ => {
                let operands: Vec<u64> = step.reads.iter().filter_map(|&read| Some(table.row(read)?.block)).collect();
                for &tensor in &step.writes {
                    table.place(tensor, network.tensors[tensor].shape.bytes(), uses[tensor], &operands)?;
                    own.iter().for_each(|&tensor| table.release(tensor));
                }
            }
        }
        watch(step, &table);
    }
    let rows = network.tensors.ids().map(|tensor| table.row(tensor));
    let addresses = rows.map(|row| row.map_or(ground.start, |row| row.address)).collect();
    Some(Documented { addresses, size: table.cursor.0 - ground.start })
}

/// What there is to know about a tensor's readers beforehand.
#[derive(Clone, Copy, Debug)]
struct Uses {
    /// How often it is read in the function that defines it.
    count: usize,
    /// Whether another function reads it, too.
    crosses: bool,
}

/// How often each tensor is read in its own function.
fn use_counts(network: &Network) -> IndexVec<TensorId, Uses> {
    let unused = network.tensors.iter().map(|tensor| Uses { count: 0, crosses: tensor.crosses });
    let mut uses: IndexVec<TensorId, Uses> = unused.collect();
    for step in &network.steps {
        for &read in &step.reads {
            uses[read].count += usize::from(network.tensors[read].function == step.function);
        }
    }
    uses
}
