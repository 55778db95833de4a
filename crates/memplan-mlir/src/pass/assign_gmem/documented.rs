//! The documented algorithm (the original compiler's documentation describes it): a table
//! of tensors, reference counts, and the five conditions under which a tensor may take the
//! memory of one that has ended. It is here for comparison; `choose` finds smaller plans.
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
//! A tensor gets a row when it is placed. It *has ended* when all its reads are done
//! (`ref_cnt` is 0). It is *held* (in `hold_edges`) and its address is *in use* (in
//! `in_using_addr`) from then until step 3 of some op releases it.
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
//! Rows are never removed: a tensor that takes a row gets a new row with the same
//! address. By condition 4 it is not larger, so the oldest row of an address has the
//! most bytes. The algorithm takes the oldest row that will do, so of each address that is
//! not in use only the oldest row has to be looked at. That makes it fast.

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
    /// The address of the memory that it lies in: the same as `address`, except for a slice, which lies further
    /// inside.
    block: u64,
    /// Its bytes, not padded.
    pub size: u64,
    /// How many reads in its own function are still to come.
    pub ref_cnt: usize,
}

/// The table, and what is known about tensors and addresses beside it. The maps have the `block` of rows as their
/// keys.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The rows, oldest first. They are called by their positions.
    rows: Vec<Row>,
    /// Whether each tensor is held. The name is the document's.
    hold_edges: IndexVec<TensorId, bool>,
    /// The addresses that are in use. The name is the document's.
    in_using_addr: HashSet<u64>,
    /// The row of each tensor; `None` for one that is not placed yet.
    row_of: IndexVec<TensorId, Option<usize>>,
    /// Reads still to come of all tensors at an address. A tensor that is passed from one function to another counts
    /// one more, which nobody takes off, so its address is never released.
    pending: HashMap<u64, usize>,
    /// Tensors at an address since it was last taken: the one that took it, and views of it.
    occupants: HashMap<u64, Vec<TensorId>>,
    /// The oldest row at an address.
    oldest: HashMap<u64, usize>,
    /// Oldest rows of the addresses that are not in use.
    free: BTreeSet<usize>,
    /// The first address behind all rows, where new memory begins.
    cursor: Bytes,
    /// What `cursor` is a multiple of.
    align: Bytes,
}

impl Table {
    /// An empty table: no tensor has an address yet. New memory begins at address `start`.
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

    /// The row of a tensor; `None` if it is not placed yet.
    fn row(&self, tensor: TensorId) -> Option<&Row> {
        self.row_of[tensor].and_then(|row| self.rows.get(row))
    }

    /// Takes one off the reads of a tensor that are still to come.
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

    /// Whether a tensor of `bytes` bytes may take a row: the five conditions. `operands` are the addresses of the op's
    /// operands.
    fn is_reusable(&self, row: &Row, bytes: u64, operands: &[u64]) -> bool {
        !self.hold_edges[row.tensor]
            && !self.in_using_addr.contains(&row.block)
            && row.ref_cnt == 0
            && row.size >= bytes
            && !operands.contains(&row.block)
    }

    /// Places a tensor: at the address of the oldest row that it may take, or else in new memory behind all rows.
    /// `operands` are the addresses of the operands of the op that makes it. `None` if addresses pass 2^63.
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
        // Earlier tensors at this address have ended: their counts and their list are dropped.
        self.pending.insert(address, 0);
        self.occupants.insert(address, Vec::new());
        self.occupy(Row { tensor, address, block: address, size: bytes, ref_cnt: uses.count }, uses);
        Some(())
    }

    /// Adds a row to the table. Its tensor is held and its address in use from now on. The address may be new, have
    /// belonged to a tensor that was released, or (for a view) belong to a tensor that is still needed.
    fn occupy(&mut self, row: Row, uses: Uses) {
        let number = self.rows.len();
        self.row_of[row.tensor] = Some(number);
        self.rows.push(row);
        self.hold_edges[row.tensor] = true;
        // A tensor without bytes keeps nobody from using its address.
        if row.size == 0 {
            return;
        }
        self.in_using_addr.insert(row.block);
        let oldest = *self.oldest.entry(row.block).or_insert(number);
        self.free.remove(&oldest);
        *self.pending.entry(row.block).or_default() += uses.count + usize::from(uses.crosses);
        self.occupants.entry(row.block).or_default().push(row.tensor);
    }

    /// Adds the row of a view or an update: an op that moves no data, so that its result lies in its first operand.
    fn share(&mut self, network: &Network, step: &Step, uses: &IndexVec<TensorId, Uses>) {
        let (Some(&tensor), Some(&source)) = (step.writes.first(), step.reads.first()) else { return };
        let Some(&Row { address, block, .. }) = self.row(source) else { return };
        // The result and its operand lie in the same memory. The result begins this many bytes after the operand's
        // start.
        let further = network.root(tensor).1.saturating_sub(network.root(source).1);
        let size = network.tensors[tensor].bytes;
        let row = Row { tensor, address: address + further, block, size, ref_cnt: uses[tensor].count };
        self.occupy(row, uses[tensor]);
    }

    /// Releases an operand if no tensor in its memory will be read any more: all tensors there are no longer held,
    /// and the address is no longer in use.
    fn release(&mut self, tensor: TensorId) {
        let Some(&Row { block, size, .. }) = self.row(tensor).filter(|_| self.hold_edges[tensor]) else { return };
        // A tensor without bytes was never counted at the address, which may be somebody else's.
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

/// What the algorithm finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Documented {
    /// The address of each tensor.
    pub(super) addresses: IndexVec<TensorId, u64>,
    /// Bytes of all memory together.
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
    // All inputs are in memory before anything runs, also those whose `top.Input` stands in a function that is called
    // later. So they are placed first.
    let (inputs, others): (Vec<&Step>, Vec<&Step>) =
        network.steps.iter().partition(|step| step.action == Action::Input);
    for step in inputs.into_iter().chain(others) {
        // Reads are counted in the function that defines a tensor only (see `use_counts`), so only those are taken
        // off.
        let own: Vec<TensorId> =
            step.reads.iter().copied().filter(|&read| network.tensors[read].function == step.function).collect();
        own.iter().for_each(|&tensor| table.decrement(tensor));
        match step.action {
            Action::Call | Action::Return | Action::Finish => {}
            Action::View | Action::Update => table.share(network, step, &uses),
            _ => {
                let operands: Vec<u64> = step.reads.iter().filter_map(|&read| Some(table.row(read)?.block)).collect();
                // Operands are released once a result is placed. A step without results releases nothing.
                for &tensor in &step.writes {
                    table.place(tensor, network.tensors[tensor].bytes, uses[tensor], &operands)?;
                    own.iter().for_each(|&tensor| table.release(tensor));
                }
            }
        }
        watch(step, &table);
    }
    // A tensor that no step has placed (the result of a view whose operand is no tensor in the table) gets the first
    // address of the memory. Every tensor needs an address in the text.
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
