//! The dialect cf: branches between the blocks of a region.

use super::{OpInfo, Row, Traits};

pub(super) fn rows() -> Vec<Row> {
    let branch = || OpInfo::pure().with_traits(Traits::BRANCH);
    vec![
        ("cf.br", branch()),
        ("cf.cond_br", branch().with_segments(&["condition", "true", "false"])),
        ("cf.switch", branch().with_segments(&["flag", "default", "cases"])),
        ("cf.assert", OpInfo::effects(&[])),
    ]
}
