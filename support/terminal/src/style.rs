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
pub struct Style {
    terminal: Option<Term>,
    colours: bool,
    dumb: bool,
}

impl Style {
    pub fn of_stdout() -> Self {
        let terminal = io::stdout().is_terminal().then(Term::stdout);
        let dumb = terminal.is_none() || is_dumb();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            colours: !dumb && !no_colour,
            terminal,
            dumb,
        }
    }

    /// Whether a line that was printed can be changed again.
    pub fn can_move(&self) -> bool {
        !self.dumb
    }

    /// The width of a line.
    pub fn columns(&self) -> usize {
        match self.terminal.as_ref().map(Term::size_checked) {
            None => PIPE_COLUMNS,
            Some(None | Some((_, 0))) => TERMINAL_COLUMNS,
            Some(Some((_, columns))) => columns.into(),
        }
    }

    /// The width at which lines are broken; `None` where lines stay whole, in a file, a pipe and on a dumb terminal.
    pub fn breaks_at(&self) -> Option<usize> {
        (!self.dumb).then(|| self.columns())
    }

    /// The text in its colour, when there are colours.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Prompt => "1",
            Paint::Call => "36",
            Paint::Dim => "2",
            Paint::Error => "31",
        };
        match self.colours && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// Whether the terminal can do nothing but print: rustyline's list.
fn is_dumb() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    matches!(term.to_lowercase().as_str(), "dumb" | "cons25" | "emacs")
}
