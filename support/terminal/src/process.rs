//! The command line and the piped input.
//!
//! They belong to the process as the terminal does, so whoever owns the one owns the others. Invariant: input that is
//! piped in is waited for only if somebody is there to send it.

use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How long piped input may take to begin. Whoever starts a program often leaves it a pipe that nobody writes to.
const BEGINS_WITHIN: Duration = Duration::from_secs(3);
/// The most bytes of piped input: more than any model reads.
const MOST_BYTES: u64 = 10_000_000;

/// The words of the command line behind the program's name.
pub fn words() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Prints this, such as the text of `--help`, and leaves.
pub fn leave_with(text: &str) -> ! {
    println!("{}", text.trim_end());
    std::process::exit(0);
}

/// Says in one sentence what is wrong with the command line, and leaves with exit code 2.
pub fn refuse(chapter: &str, sentence: &str) -> ! {
    eprintln!("{chapter}: {sentence}");
    std::process::exit(2);
}

/// All that is piped in, if anything is; nothing when standard input is a terminal. Bytes that are no UTF-8 are
/// replaced.
///
/// # Errors
/// When it is more than a model could read, or cannot be read.
pub fn piped() -> Result<Option<String>> {
    let stdin = io::stdin();
    if stdin.is_terminal() || !begins(&stdin)? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut input = stdin.lock().take(MOST_BYTES + 1);
    input
        .read_to_end(&mut bytes)
        .context("reading standard input")?;
    ensure!(
        bytes.len() as u64 <= MOST_BYTES,
        "more than {MOST_BYTES} bytes are piped in; put them into a file and name it"
    );
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end();
    Ok((!text.trim().is_empty()).then(|| text.to_owned()))
}

/// Whether something comes, if only the end.
fn begins(stdin: &io::Stdin) -> Result<bool> {
    let mut ready = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(BEGINS_WITHIN).expect("seconds fit");
    let count = poll(&mut ready, timeout).context("waiting for standard input")?;
    if count == 0 {
        eprintln!("(nothing came through the pipe; going on without it)");
    }
    Ok(count > 0)
}
