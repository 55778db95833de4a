//! The dialect cf: branches between the blocks of a region.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `effects` lists what an op does to which
//! operands; `with_segments` names the groups of operands of the generic form.
//! The glossary explains the values of `Traits`.

use super::{OpInfo, Row, Traits};

/// What is known about the ops of the dialect cf.
pub(super) fn rows() -> Vec<Row> {
    let branch = || OpInfo::pure().with_traits(Traits::BRANCH);
    vec![
        ("cf.br", branch()),
        ("cf.cond_br", branch().with_segments(&["condition", "true", "false"])),
        ("cf.switch", branch().with_segments(&["flag", "default", "cases"])),
        ("cf.assert", OpInfo::effects(&[])),
    ]
}
