//! The seal on results.

use std::ops::Deref;

/// A result that has passed every check. Only the driver makes one:
///
/// ```compile_fail
/// let plan = memplan::core::Plan::default();
/// let sealed = memplan::driver::Checked::seal(plan, Vec::new());
/// ```
///
/// ```compile_fail
/// let plan = memplan::core::Plan::default();
/// let sealed = memplan::driver::Checked { value: plan, repairs: Vec::new() };
/// ```
///
/// Its holder reads the result through it, or takes it out with [`into_inner`](Checked::into_inner).
#[derive(Clone, Debug)]
pub struct Checked<T> {
    /// The result.
    value: T,
    /// What had to be planned again on the way, in words.
    repairs: Vec<String>,
}

impl<T> Checked<T> {
    /// Seals a result that has passed its checks. Only modules of the driver can call this.
    pub(super) fn seal(value: T, repairs: Vec<String>) -> Checked<T> {
        Checked { value, repairs }
    }

    /// What had to be planned again because a check rejected the first plan, in words. Every entry
    /// is a mistake of ours that did not reach the result; empty unless something is wrong in memplan.
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// The result, for the driver to let go of parts of it that nobody needs any more.
    pub(super) fn inner_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The result without its seal.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
