//! Lifetime records: a problem without a program.

use std::sync::Arc;

use memplan_models::ReadError;
use memplan_models::records::{RecordFormat, csv, dsa, json, trace};

use super::{Format, Input, ReadOptions};

/// A format of records as a format of inputs.
pub(super) struct Records(&'static dyn RecordFormat);

// The formats of records; `FORMATS` lists them among all formats.
pub(super) static DSA: Records = Records(&dsa::Dsa);
pub(super) static JSON: Records = Records(&json::Json);
pub(super) static TRACE: Records = Records(&trace::Trace);
pub(super) static CSV: Records = Records(&csv::Csv);

impl Format for Records {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn describe(&self) -> &'static str {
        self.0.describe()
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.0.extensions()
    }

    fn sniff(&self, text: &str) -> bool {
        self.0.sniff(text)
    }

    /// Reads a list of lifetimes in one of the formats of `memplan_models::records`.
    fn read(&self, text: &str, options: &ReadOptions) -> Result<Input, ReadError> {
        // A `dsa` file may hold several instances, and its solution has to name buffers by the file's own numbers.
        if self.name() == dsa::Dsa.name() {
            let (records, numbers) = dsa::read_with_numbers(text, options.instance.as_deref())?;
            let numbers = Some(Arc::new(numbers));
            return Ok(Input { numbers, ..Input::of_problem(records.problem, records.notes) });
        }
        let records = self.0.read(text)?;
        Ok(Input::of_problem(records.problem, records.notes))
    }
}
