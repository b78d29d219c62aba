//! What xtask writes: colours where a person looks, plain text elsewhere; a long text in the pager.
//!
//! A diff is read on a terminal, piped into `head`, and caught by the book. `console` sees to `NO_COLOR` and dumb terminals.
//! Invariant: a reader who closes the pipe ends the program quietly, never with a panic.

use std::io::{self, IsTerminal, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

use console::style;

/// Bold, for titles.
pub fn bold(text: &str) -> String {
    style(text).bold().to_string()
}

/// Green, for what is added.
pub fn green(text: &str) -> String {
    style(text).green().to_string()
}

/// Red, for what is removed.
pub fn red(text: &str) -> String {
    style(text).red().to_string()
}

/// Cyan, for the places of a diff.
pub fn cyan(text: &str) -> String {
    style(text).cyan().to_string()
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
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
