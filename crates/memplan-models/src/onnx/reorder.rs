//! Writes a model with its nodes in another order.
//!
//! Nodes are fields of the graph, one after the other. Putting them into another
//! order moves their bytes and changes nothing else, not even the length of the
//! graph, so that the new file is as long as the old one and differs only there.

use super::read::header;
use crate::ReadError;
use crate::source::{Piece, ReadAt, Window};

/// The pieces of the new file: ranges of the old file, in the order in which they are to be written.
///
/// `order` lists nodes of the main graph by their number in the file, in the order in which they shall run. Nodes that
/// `order` does not list come before them, in the order of the file.
pub fn pieces(source: &dyn ReadAt, order: &[usize]) -> Result<Vec<Piece>, ReadError> {
    let window = Window::new(source);
    let graph = header(&window)?;
    let mut starts = Vec::new();
    let mut is_node = Vec::new();
    for field in graph.fields() {
        let field = field?;
        starts.push(field.start);
        is_node.push(field.number == 1);
    }
    // A field reaches to the start of the next one, so the pieces together are all bytes of the graph.
    let ends = starts.iter().skip(1).copied().chain([graph.end]);
    let ranges: Vec<(u64, u64)> = starts.iter().copied().zip(ends).collect();
    let nodes: Vec<(u64, u64)> =
        ranges.iter().zip(&is_node).filter(|(_, is_node)| **is_node).map(|(r, _)| *r).collect();
    let mut is_ordered = vec![false; nodes.len()];
    for &place in order {
        if let Some(is_ordered) = is_ordered.get_mut(place) {
            *is_ordered = true;
        }
    }
    // The nodes that the order leaves out compute constants. They go first, so that the nodes that read the constants
    // come later.
    let others = (0..nodes.len()).filter(|&place| !is_ordered[place]);
    // The ranges of the nodes, in their new order.
    let mut new = others.chain(order.iter().copied()).filter_map(|place| nodes.get(place).copied());
    // Each place where the file has a node gets the next node of the new order. Other fields between them stay.
    let mut pieces = vec![kept((0, graph.start))];
    for (range, is_node) in ranges.iter().zip(&is_node) {
        pieces.push(kept(if *is_node { new.next().unwrap_or(*range) } else { *range }));
    }
    pieces.push(kept((graph.end, window.size())));
    Ok(pieces)
}

/// A range of the file that is copied as it is.
fn kept((start, end): (u64, u64)) -> Piece {
    Piece::Kept { start, end }
}
