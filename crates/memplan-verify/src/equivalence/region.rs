//! Boxes of places, and what a tensor equals. A *place* is the index of an element in each dimension of a tensor.
//!
//! ```text
//!   original tensor x, 6 rows:       0 1 2 3 4 5
//!   View { x, rows -1..3, fill z }:  z 0 1 2         one row of border, then rows 0 to 2 of x
//! ```

/// Places from `low` on, `extent` of them in each dimension. Places may be negative or past the end of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region {
    /// The first place in each dimension.
    pub low: Vec<i64>,
    /// How many places there are in each dimension.
    pub extent: Vec<i64>,
}

impl Region {
    /// All places of a tensor.
    pub(super) fn whole(shape: &[i64]) -> Region {
        Region { low: vec![0; shape.len()], extent: shape.to_vec() }
    }

    /// The number of dimensions.
    pub(super) fn rank(&self) -> usize {
        self.low.len()
    }

    /// The first place past the end along a dimension.
    pub(super) fn high(&self, axis: usize) -> i64 {
        self.low[axis].saturating_add(self.extent[axis])
    }

    /// The same box elsewhere.
    pub(super) fn shifted(&self, by: &[i64]) -> Region {
        let low = self.low.iter().zip(by).map(|(low, by)| low.saturating_add(*by)).collect();
        Region { low, extent: self.extent.clone() }
    }

    /// The places that are in both.
    pub(super) fn meet(&self, other: &Region) -> Region {
        let low: Vec<i64> = self.low.iter().zip(&other.low).map(|(one, other)| *one.max(other)).collect();
        let high = |axis: usize| self.high(axis).min(other.high(axis));
        let extent = (0..low.len()).map(|axis| high(axis).saturating_sub(low[axis]).max(0)).collect();
        Region { low, extent }
    }

    /// Whether it has no place at all.
    pub(super) fn is_empty(&self) -> bool {
        self.extent.iter().any(|extent| *extent <= 0)
    }

    /// Whether every place of this box is in the other one.
    pub(super) fn is_inside(&self, other: &Region) -> bool {
        let fits = |axis: usize| self.low[axis] >= other.low[axis] && self.high(axis) <= other.high(axis);
        self.rank() == other.rank() && (self.is_empty() || (0..self.rank()).all(fits))
    }
}

impl std::fmt::Display for Region {
    /// `[0, 3..9, 0..16]`: a single place is written as such.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let range = |axis: usize| match self.extent[axis] {
            1 => self.low[axis].to_string(),
            _ => format!("{}..{}", self.low[axis], self.high(axis)),
        };
        write!(f, "[{}]", (0..self.rank()).map(range).collect::<Vec<_>>().join(", "))
    }
}

/// What a tensor of the new model equals: a region of a tensor of the original. Where the region leaves that tensor,
/// each element is `fill`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct View {
    /// The tensor of the original.
    pub tensor: usize,
    /// Which places of it.
    pub region: Region,
    /// The bytes of an element outside of the tensor; `None` if no place of the region is.
    pub fill: Option<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(low: i64, high: i64) -> Region {
        Region { low: vec![low], extent: vec![high - low] }
    }

    #[test]
    fn boxes_meet_and_contain() {
        assert_eq!(rows(-1, 3).meet(&rows(0, 6)), rows(0, 3));
        assert!(rows(4, 8).meet(&rows(0, 3)).is_empty());
        assert!(rows(0, 3).is_inside(&rows(0, 6)) && !rows(-1, 3).is_inside(&rows(0, 6)));
        assert!(rows(9, 9).is_inside(&rows(0, 1)), "nothing is inside of everything");
        assert_eq!(Region { low: vec![0, -1], extent: vec![1, 4] }.to_string(), "[0, -1..3]");
    }
}
