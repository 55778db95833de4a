//! The state of an allocator as JSON, written by hand: its keys and values need no escapes, and the crate needs no
//! dependency for it.

use std::fmt::Write;

use crate::arena::Deviation;
use crate::lane::Lane;

/// One lane as a JSON object.
pub(crate) fn lane(lane: &Lane, number: u32) -> String {
    let (device, stream) = lane.key();
    let [arena, large, small] = lane.reserved();
    let counts = lane.counts();
    let mut text = format!(
        r#"{{"device":{device},"lane":{number},"stream":{stream},"in_use":{},"reserved":{{"arena":{arena},"large":{large},"small":{small}}}"#,
        lane.in_use()
    );
    // Writing to a string cannot fail.
    let _ = write!(text, r#","extent":{},"state":"{}""#, lane.arena().extent(), lane.arena().state());
    let _ = write!(text, r#","step_peak":{}"#, lane.step_peak());
    let _ = write!(text, r#","steps":{},"exact_steps":{}"#, counts.steps, counts.exact_steps);
    let _ =
        write!(text, r#","planned":{},"lasting":{},"unplanned":{}"#, counts.planned, counts.lasting, counts.unplanned);
    let _ = write!(text, r#","moved":{}"#, counts.moved);
    let kinds = Deviation::ALL.map(|(kind, name)| format!(r#""{name}":{}"#, counts.deviations[kind as usize]));
    let _ = write!(text, r#","deviations":{{{}}}}}"#, kinds.join(","));
    text
}
