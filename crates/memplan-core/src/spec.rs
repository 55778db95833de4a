//! Passes as users name them: `merge-alloc{analysis-only alignment=64}`.

use std::str::FromStr;

/// A pass with its options, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassSpec {
    /// The name.
    pub name: String,
    /// The options.
    pub options: PassOptions,
}

/// Options of a pass, each a key with or without a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassOptions {
    entries: Vec<(String, Option<String>)>,
}

/// What is wrong with the way a pass is named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Braces do not match, or there is no name.
    #[error("`{text}` does not name a pass; expected NAME or NAME{{key=value …}}")]
    Malformed {
        /// The text.
        text: String,
    },
    /// An option the pass does not have.
    #[error("pass `{pass}` has no option `{option}`; it has {known}")]
    UnknownOption {
        /// The pass.
        pass: &'static str,
        /// The option.
        option: String,
        /// The options it has.
        known: String,
    },
    /// A value that makes no sense.
    #[error("option `{option}`: expected {expected}, found `{found}`")]
    Value {
        /// The option.
        option: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What was given.
        found: String,
    },
}

impl FromStr for PassSpec {
    type Err = SpecError;

    /// Reads `NAME` or `NAME{key key=value …}`.
    fn from_str(text: &str) -> Result<PassSpec, SpecError> {
        // The whole text is quoted in the message, with the blanks around it.
        let malformed = || SpecError::Malformed { text: text.to_owned() };
        let trimmed = text.trim();
        let (name, options) = match trimmed.split_once('{') {
            Some((name, rest)) => (name, rest.strip_suffix('}').ok_or_else(malformed)?),
            None => (trimmed, ""),
        };
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '}') {
            return Err(malformed());
        }
        let entries = words(options).into_iter().map(entry).collect();
        Ok(PassSpec { name: name.to_owned(), options: PassOptions { entries } })
    }
}

/// `key=value`, whose value may stand in quotes, or `key` alone.
fn entry(word: &str) -> (String, Option<String>) {
    match word.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.trim_matches(['"', '\'']).to_owned())),
        None => (word.to_owned(), None),
    }
}

/// The words of a text, which blanks and commas separate. Blanks and commas inside of quotes are part of a word.
fn words(text: &str) -> Vec<&str> {
    // The quotation mark that is open; `split` asks about the characters one by one, in order.
    let mut quote = None;
    let separates = |c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        quote.is_none() && matches!(c, ' ' | ',' | '\t' | '\n')
    };
    text.split(separates).filter(|word| !word.is_empty()).collect()
}

impl PassOptions {
    /// The options in order; the last of several with one key counts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_deref()))
    }

    /// An option that is on or off: `key`, `key=true`, `key=false`.
    pub fn flag(option: &'static str, value: Option<&str>) -> Result<bool, SpecError> {
        match value {
            None | Some("true" | "1") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(other) => Err(SpecError::Value { option, expected: "true or false", found: other.to_owned() }),
        }
    }

    /// An option the pass does not have.
    pub fn unknown(pass: &'static str, option: &str, known: &[&str]) -> SpecError {
        SpecError::UnknownOption { pass, option: option.to_owned(), known: known.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_with_options() {
        let spec: PassSpec = "merge-alloc{analysis-only planner-options=size-first alignment=64}".parse().unwrap();
        assert_eq!(spec.name, "merge-alloc");
        let options: Vec<_> = spec.options.iter().collect();
        assert_eq!(
            options,
            [("analysis-only", None), ("planner-options", Some("size-first")), ("alignment", Some("64"))]
        );
        let quoted: PassSpec = "a{pairs=\"0:0,1:2\", b='c d'}".parse().unwrap();
        assert_eq!(quoted.options.iter().collect::<Vec<_>>(), [("pairs", Some("0:0,1:2")), ("b", Some("c d"))]);
        assert_eq!("merge-alloc".parse::<PassSpec>().unwrap().options, PassOptions::default());
        for text in ["", "{}", "a b", "a{", "a}"] {
            assert!(text.parse::<PassSpec>().is_err(), "{text}");
        }
    }
}
