//! Memory scopes (`shared`, `local.L0A`) and the thread axes that go with them.

use std::fmt;

/// How far a memory reaches: one value per prefix TVM knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// Seen by everything.
    Global,
    /// One per thread block.
    Shared,
    /// One per warp.
    Warp,
    /// One per thread.
    Local,
    /// Matrix fragments and other special register files.
    Special,
}

/// The beginnings of scopes that TVM knows, by name. None is the beginning of another.
const PREFIXES: [(&str, Rank); 14] = [
    ("global", Rank::Global),
    ("local", Rank::Local),
    ("m16n8k8.matrixA", Rank::Special),
    ("m16n8k8.matrixB", Rank::Special),
    ("m16n8k8.matrixC", Rank::Special),
    ("m8n8k4.matrixA", Rank::Special),
    ("m8n8k4.matrixB", Rank::Special),
    ("m8n8k4.matrixC", Rank::Special),
    ("metal.simdgroup", Rank::Special),
    ("shared", Rank::Shared),
    ("warp", Rank::Warp),
    ("wmma.accumulator", Rank::Special),
    ("wmma.matrix_a", Rank::Special),
    ("wmma.matrix_b", Rank::Special),
];

/// A memory scope: a known prefix and whatever follows it, the tag.
///
/// `local.L0A` is the prefix `local` with the tag `.L0A`. Two scopes are the same memory if both agree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorageScope {
    /// The position of the prefix in the table of prefixes. Scopes are compared for every access, and numbers are
    /// compared faster than names.
    prefix: u8,
    /// The reach of the prefix.
    pub rank: Rank,
    /// What follows the prefix, verbatim.
    pub tag: String,
}

impl StorageScope {
    /// Splits a scope as written; `None` if it starts with no known prefix. The empty string is `global`.
    pub fn parse(text: &str) -> Option<StorageScope> {
        let text = if text.is_empty() { "global" } else { text };
        (0..).zip(PREFIXES).find_map(|(position, (prefix, rank))| {
            text.strip_prefix(prefix).map(|tag| StorageScope { prefix: position, rank, tag: tag.to_owned() })
        })
    }

    /// Plain global memory.
    pub fn global() -> StorageScope {
        StorageScope { prefix: 0, rank: Rank::Global, tag: String::new() }
    }

    /// Plain thread-private memory.
    pub fn local() -> StorageScope {
        StorageScope { prefix: 1, rank: Rank::Local, tag: String::new() }
    }

    /// Whether this is `global` without a tag.
    pub fn is_global(&self) -> bool {
        self.rank == Rank::Global && self.tag.is_empty()
    }

    /// Whether buffers of this scope are packed into one block at offsets, as TVM does with memories of special
    /// hardware: scopes with a tag, except for the three tags that TVM excepts, too. Their buffers are allocated one by
    /// one.
    pub fn is_special(&self) -> bool {
        !matches!(self.tag.as_str(), "" | ".dyn" | ".workspace" | ".vtcm")
    }

    /// Whether the memory is so close to the registers that its buffers never share an allocation: the ranks `Warp`,
    /// `Local` and `Special`, without a tag.
    pub fn is_register_like(&self) -> bool {
        self.tag.is_empty() && self.rank >= Rank::Warp
    }

    /// Whether every thread has a memory of its own.
    pub fn is_per_thread(&self) -> bool {
        self.rank >= Rank::Local
    }
}

impl fmt::Display for StorageScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, _) = PREFIXES[usize::from(self.prefix)];
        write!(f, "{prefix}{}", self.tag)
    }
}

/// Whether a thread axis numbers blocks (0) or threads in a block (1); `None` for an unknown axis.
pub fn thread_rank(tag: &str) -> Option<u8> {
    if tag.starts_with("blockIdx.") {
        Some(0)
    } else if tag.starts_with("threadIdx.") || tag.starts_with("vthread") || tag == "cthread" {
        Some(1)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_split_into_prefix_and_tag() {
        for (text, rank, tag) in [
            ("global", Rank::Global, ""),
            ("", Rank::Global, ""),
            ("global:tag", Rank::Global, ":tag"),
            ("local.L0A", Rank::Local, ".L0A"),
            ("local_TB2", Rank::Local, "_TB2"),
            ("shared.dyn", Rank::Shared, ".dyn"),
            ("wmma.matrix_a", Rank::Special, ""),
        ] {
            let scope = StorageScope::parse(text).unwrap();
            assert_eq!((scope.rank, scope.tag.as_str()), (rank, tag), "{text}");
        }
        assert_eq!(StorageScope::parse("texture"), None);
        assert_eq!(StorageScope::parse("global"), Some(StorageScope::global()));
        assert_eq!(StorageScope::parse("local"), Some(StorageScope::local()));
        assert!(PREFIXES.is_sorted_by_key(|(prefix, _)| prefix), "scopes are ordered by their names");
        assert!(StorageScope::parse("local.L0A").unwrap().is_special());
        assert!(!StorageScope::parse("shared.dyn").unwrap().is_special());
    }
}
