//! A run of tests under watch: one that does not come to an end is named.
//!
//! A mechanism without bodies may leave a test waiting for something that never comes. libtest says so after a minute.
//! Invariant: what the tests print is kept whole, whether they end by themselves or are ended.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// What becomes of a test that runs for more than a minute.
#[derive(Clone, Copy, PartialEq)]
pub enum Patience {
    /// A person is told which it is, and may press Ctrl-C.
    Told,
    /// All tests are ended, which is an error.
    None,
}

/// Runs a `cargo test`.
///
/// # Errors
/// When it cannot be started, or a test was ended for want of [`Patience`].
pub fn watch(command: &mut Command, patience: Patience) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if patience == Patience::None {
        // So that the tests end with the cargo that has started them.
        command.process_group(0);
    }
    let mut child = command.spawn().context("starting cargo test")?;
    let mut stderr = child.stderr.take().context("reading what cargo says")?;
    let said = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = stderr.read_to_end(&mut said);
        said
    });
    let mut lines = BufReader::new(child.stdout.take().context("reading what the tests say")?);
    let mut stdout = Vec::new();
    let mut endless = None;
    loop {
        let before = stdout.len();
        if lines
            .read_until(b'\n', &mut stdout)
            .context("reading what the tests say")?
            == 0
        {
            break;
        }
        let Some(name) = running(&String::from_utf8_lossy(&stdout[before..])) else {
            continue;
        };
        match patience {
            Patience::Told => eprintln!("{name} has been running for a minute; Ctrl-C ends it"),
            Patience::None => {
                endless.get_or_insert(name);
                end(&child);
            }
        }
    }
    let status = child.wait().context("waiting for cargo test")?;
    let stderr = said.join().unwrap_or_default();
    match endless {
        Some(name) => bail!("{name} does not come to an end; let it give up"),
        None => Ok(Output {
            status,
            stdout,
            stderr,
        }),
    }
}

/// The test that libtest says is still running.
fn running(line: &str) -> Option<String> {
    let name = line
        .trim_end()
        .strip_prefix("test ")?
        .strip_suffix(" has been running for over 60 seconds")?;
    Some(name.to_owned())
}

/// Ends cargo and its tests.
fn end(child: &Child) {
    // The kill command, because signals need either unsafe code or one more dependency.
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null());
    // An empty group is what this is for.
    let _ = kill.status();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell in the place of cargo.
    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_test_that_does_not_end_is_named_and_ended_with_its_children() {
        let line = "test a::waits has been running for over 60 seconds";
        let script = format!("sleep 1000 & echo 'test a::b ... ok'; echo '{line}'; wait");

        let error = watch(&mut shell(&script), Patience::None).unwrap_err();

        assert_eq!(
            error.to_string(),
            "a::waits does not come to an end; let it give up"
        );
    }

    #[test]
    fn what_is_printed_is_kept_whole() {
        let script = "echo one; echo two >&2; printf three; exit 3";

        for patience in [Patience::Told, Patience::None] {
            let output = watch(&mut shell(script), patience).unwrap();
            assert_eq!(output.status.code(), Some(3));
            assert_eq!(
                (&output.stdout[..], &output.stderr[..]),
                (&b"one\nthree"[..], &b"two\n"[..])
            );
        }
    }
}
