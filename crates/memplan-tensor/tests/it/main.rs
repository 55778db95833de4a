//! Tests of the public interface, one module a subject.

mod interpreter;
mod records;
mod script_text;
