//! TVMScript: reading functions into the loop IR and writing them back.
//!
//! The reader takes what TVM 0.27 prints for flat loop programs (and the common hand-written forms
//! around it); everything else in the text (imports, classes, decorators, comments) is kept verbatim.
//! The writer prints a changed function into the same text: statements that still say what their
//! source says are copied from it byte for byte, comments included, and only changed lines are new.
//!
//! ```
//! use memplan_tensor::script::Script;
//! let text = "@T.prim_func(s_tir=True)\ndef main(O: T.Buffer((4,), \"float32\")):\n    # fill\n    for i in range(4):\n        O[i] = T.float32(1.0)\n";
//! let script = Script::read(text).unwrap();
//! assert_eq!(script.functions()[0].name, "main");
//! assert_eq!(script.print(), text);
//! ```

mod error;
mod lex;
mod print;
mod print_expr;
mod python;
mod python_expr;
mod read;
mod read_buffer;
mod read_call;
mod read_expr;
mod read_region;

pub use error::ScriptError;
pub(crate) use print::print_bounds;
pub use print::print_function;
pub use print_expr::print_expr;
pub(crate) use read_expr::MAX_SUBSCRIPT;

use crate::ir::Function;
use memplan_core::Span;

/// A text and the functions in it.
#[derive(Clone, Debug)]
pub struct Script {
    source: String,
    functions: Vec<Function>,
    /// For each function, where its body stands.
    places: Vec<Place>,
}

/// Where the body of a function stands in the text.
#[derive(Clone, Debug)]
struct Place {
    /// The body's text, from the line after the header.
    body: Span,
    /// Indentation of the body.
    indent: String,
}

impl Script {
    /// Reads every function of a text: every `def` with a decorator that mentions `prim_func`, at any indentation. The
    /// rest of the text is skipped. An error at the first thing that cannot be read, and for a text without such a
    /// function.
    pub fn read(source: &str) -> Result<Script, ScriptError> {
        let tokens = lex::lex(source)?;
        let mut parser = python::Parser::new(source, &tokens);
        let mut script = Script { source: source.to_owned(), functions: Vec::new(), places: Vec::new() };
        // `next_function` reads a header, and `read_function` takes the statements of the body from the parser, up to
        // the end of the body. So `body_end` is asked after it.
        while let Some(def) = parser.next_function()? {
            script.functions.push(read::read_function(source, &def, &mut parser)?);
            script.places.push(place(source, &def, parser.body_end()));
        }
        if script.functions.is_empty() {
            return Err(ScriptError::NoFunction);
        }
        Ok(script)
    }

    /// The text that was read.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The functions, in the order of the text.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The functions, to change; [`Script::print`] then writes them.
    pub fn functions_mut(&mut self) -> &mut [Function] {
        &mut self.functions
    }

    /// The text with the body of every function as it is now. What stands between the bodies is copied as it was.
    pub fn print(&self) -> String {
        // The rewritten text is about as long as the source; an eighth more saves most reallocations.
        let mut text = String::with_capacity(self.source.len() + self.source.len() / 8);
        let mut copied = 0;
        for (function, place) in self.functions.iter().zip(&self.places) {
            let range = place.body.range();
            text.push_str(&self.source[copied..range.start]);
            // The header may be the last line of a source that has no line break at its end.
            if !text.ends_with('\n') {
                text.push('\n');
            }
            print::print_body(function, Some(&self.source), &place.indent, &mut text);
            copied = range.end;
        }
        text.push_str(&self.source[copied..]);
        // A body always ends with a line break. If the source does not, neither does the result.
        if !self.source.ends_with('\n') && text.ends_with('\n') {
            text.pop();
        }
        text
    }
}

/// Where the body of a function stands: from the line after the header to the end of its last line, that of the byte
/// `body_end`. A body whose first line is not indented counts as indented by four blanks.
fn place(source: &str, def: &python::PyDef, body_end: usize) -> Place {
    let line_end = |from: usize| source[from..].find('\n').map_or(source.len(), |newline| from + newline + 1);
    let start = line_end(def.header.range().end).min(source.len());
    let end = line_end(body_end.max(def.header.range().end)).max(start);
    // The indentation is the blanks in front of the first statement.
    let first = def.body;
    let line_start = source[..first].rfind('\n').map_or(0, |newline| newline + 1);
    let indent: String = source[line_start..first].chars().take_while(|c| c.is_whitespace()).collect();
    Place { body: Span::new(start, end), indent: if indent.is_empty() { "    ".to_owned() } else { indent } }
}
