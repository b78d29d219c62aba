//! What standard output can show: how wide, and whether in colour.
//!
//! Asked once, because it cannot change while we run; the width can and is asked each time. Invariant: no escape code
//! is written to a file, a pipe, a dumb terminal, or for somebody who set NO_COLOR.

use std::io::{self, IsTerminal};

use console::Term;

/// The width of a line where there is no terminal.
const PIPE_COLUMNS: usize = 200;
/// The width of a terminal that does not know its own.
const TERMINAL_COLUMNS: usize = 80;

/// How a piece of text looks on a terminal that has colours.
#[derive(Clone, Copy, Debug)]
pub enum Paint {
    Prompt,
    Call,
    Dim,
    Error,
}

/// What standard output can show.
#[derive(Clone)]
pub struct Style {
    /// The width where there is no terminal to ask.
    pub width: Option<usize>,
    pub colours: bool,
    /// Whether a line that was printed can be changed again.
    pub can_move: bool,
}

impl Style {
    pub fn of_stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let can_move = is_terminal && !is_dumb();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            width: (!is_terminal).then_some(PIPE_COLUMNS),
            colours: can_move && !no_colour,
            can_move,
        }
    }

    /// The width of a line.
    pub fn columns(&self) -> usize {
        self.width.unwrap_or_else(|| match Term::stdout().size_checked() {
            None | Some((_, 0)) => TERMINAL_COLUMNS,
            Some((_, columns)) => columns.into(),
        })
    }

    /// The text in its colour, when there are colours.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Prompt => "1",
            Paint::Call => "36",
            Paint::Dim => "2",
            Paint::Error => "31",
        };
        if self.colours && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether the terminal can do nothing but print: rustyline's list.
fn is_dumb() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    matches!(term.to_lowercase().as_str(), "dumb" | "cons25" | "emacs")
}
