//! What xtask writes: colours where a person looks, plain text elsewhere.
//!
//! A diff is read on a terminal, piped into `head`, and caught by the book.
//! Invariant: a reader who closes the pipe ends the program quietly, never with a panic.

use std::io::{self, IsTerminal, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Colours, or none of them.
#[derive(Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// No colour.
    pub const PLAIN: Paint = Paint { on: false };

    /// Colours when stdout is a terminal that shows them and `NO_COLOR` is unset or empty (<https://no-color.org>).
    pub fn for_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            on: io::stdout().is_terminal() && !unwanted && !dumb,
        }
    }

    /// Bold, for titles.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Green, for what is added.
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Red, for what is removed.
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Cyan, for the places of a diff.
    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// `1 body`, `3 bodies`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Writes `text` to stdout at once. Fails as the pipe fails; see [`is_closed_pipe`].
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Shows a long text to a person: in the pager of `PAGER`, which takes the place of this program, so that Ctrl-C is the
/// pager's. Where nobody looks, or `PAGER` is empty, it is printed.
pub fn page(text: &str) -> io::Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| {
        "command -v less >/dev/null || exec cat; LESS=${LESS-FRX} exec less -R".to_owned()
    });
    if !io::stdout().is_terminal() || pager.trim().is_empty() {
        return print(text);
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Err(Command::new("sh").args(["-c", &pager]).stdin(file).exec())
}

/// Whether `error` only says that the reader has seen enough (`cargo x diff s04 | head`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
