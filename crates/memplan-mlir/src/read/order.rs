//! The few forms that name their operands in another order than the generic form.
//!
//! The rows of the dialect tables name operands by their position in the generic form, so the operands of these custom
//! forms are brought into that order:
//!
//! ```text
//! nvgpu.device_async_copy %source[%i], %destination[%j], 8        the custom form
//! "nvgpu.device_async_copy"(%destination, %j, %source, %i)        the order of the generic form
//! ```
//!
//! The *frame* of an op (not the frame of the glossary) is the reader's record of an op that is being read. Its
//! operands are `self.uses[frame.uses..]`, in the order of the text.

use super::*;

impl Reader<'_> {
    /// Brings the operands of a custom form into the order of the generic form.
    pub(super) fn order_operands(&mut self, frame: &OpFrame) {
        let is_reordered = self.document.names[frame.name].kind.is(NameKind::REORDERED);
        if !is_reordered || matches!(frame.state, State::Generic(_)) {
            return;
        }
        match &*self.document.names[frame.name].name {
            "linalg.pack" | "linalg.unpack" => {
                // `%source padding_value(%p) … [%tile] into %destination`: the destination is the second operand.
                let uses = &mut self.uses[frame.uses..];
                if uses.len() > 2 {
                    uses[1..].rotate_right(1);
                }
            }
            "gpu.launch_func" => self.order_launch(frame),
            "nvgpu.device_async_copy" => {
                // The source with its indices goes behind the destination with its indices.
                let [source, both] = self.operands_in_subscripts(frame);
                self.uses[frame.uses..][..both].rotate_left(source);
            }
            // `%descriptor[%i], %barrier[%number] to %destination` is destination, barrier, descriptor, indices,
            // number.
            "nvgpu.tma.async.load" => {
                let [_, both] = self.operands_in_subscripts(frame);
                if let Some(uses) = self.uses[frame.uses..].get_mut(..=both).filter(|_| both > 1) {
                    uses.rotate_right(1);
                    uses[1..both].rotate_right(1);
                }
            }
            // `%barrier[%number], %token` is barrier, token, number.
            "nvgpu.mbarrier.test.wait" if self.uses.len() == frame.uses + 3 => self.uses[frame.uses + 1..].swap(0, 1),
            // `%component, %vector[%i]` is vector, component, index.
            "spirv.VectorInsertDynamic" if self.uses.len() == frame.uses + 3 => self.uses[frame.uses..].swap(0, 1),
            _ => {}
        }
    }

    /// How many operands stand in front of the first `]` of a form, and in front of the second; 0 for one that is not
    /// there.
    fn operands_in_subscripts(&self, frame: &OpFrame) -> [usize; 2] {
        let start = self.document.ops[frame.op].name_span.end as usize;
        let text = self.source.get(start..self.previous.end()).unwrap_or("");
        let mut closing = text.match_indices(']').map(|(at, _)| start + at);
        [(); 2].map(|()| closing.next().map_or(0, |at| self.operands_before(frame, at)))
    }

    /// How many operands of an op stand in front of a place in the text.
    fn operands_before(&self, frame: &OpFrame, at: usize) -> usize {
        self.uses[frame.uses..].partition_point(|one| (one.name.start as usize) < at)
    }

    /// Brings the operands of `gpu.launch_func` into the order blocks, threads, clusters, arguments, stream. The
    /// custom form is `gpu.launch_func <%stream> @kernel clusters in (…) blocks in (…) threads in (…) args(…)`.
    fn order_launch(&mut self, frame: &OpFrame) {
        let start = self.document.ops[frame.op].name_span.end as usize;
        let head = self.source.get(start..self.previous.end()).and_then(|text| text.split('@').next());
        let stream = head.and_then(|head| head.rfind('<')).map(|at| self.operands_before(frame, start + at));
        // Each size list is a group behind the word `in`. Without clusters there are two of them, in the right order
        // already.
        let groups = self.groups[frame.groups..].iter().filter(|group| self.text(group.keyword) == "in");
        let sizes: Vec<Group> = groups.copied().collect();
        let uses = &mut self.uses[frame.uses..];
        if let [clusters, _, threads] = sizes[..] {
            let count = (clusters.end - clusters.start) as usize;
            uses[clusters.start as usize..threads.end as usize].rotate_left(count);
        }
        if let Some(stream) = stream.filter(|&stream| stream < uses.len()) {
            uses[stream..].rotate_left(1);
        }
    }
}
