//! Tests of the public interface, one module a subject.

mod records;
mod script_text;
