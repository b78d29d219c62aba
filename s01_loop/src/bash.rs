//! bash: the one tool that makes every other possible.
//!
//! The model's commands are not ours to trust: they hang, print binary data, start children and leave them behind.
//! Invariant: a command that is stopped, by its time limit or because nobody waits for it any more, is stopped with its
//! whole process group; and a result never waits for a child that the command left in the background.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::process::{End, Process};
use crate::tool::{Output, ToolCall, ToolSpec};

/// How long a command may run.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The most characters of output that the model is shown.
pub const MAX_OUTPUT: usize = 50_000;

/// The input of the bash tool.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The command line, as typed into a shell.
    command: String,
}

/// The directory the program was started in.
///
/// # Errors
/// When it has been removed.
pub fn here() -> Result<PathBuf> {
    std::env::current_dir().context("finding the current directory, which may have been removed")
}

/// What the model is told about bash.
pub fn spec() -> ToolSpec {
    ToolSpec::new::<Input>(
        "bash",
        "Run a shell command in the working directory. Standard input is empty.",
    )
}

/// Runs the command of a call in this directory.
pub async fn run(cwd: &Path, call: &ToolCall) -> Output {
    let result = match call.args::<Input>() {
        Ok(Input { command }) => run_command(cwd, &command).await,
        Err(error) => Err(error),
    };
    result.into()
}

/// Runs a command. One that fails is no error: its output says so.
async fn run_command(cwd: &Path, command: &str) -> Result<Output> {
    refuse_fatal(command)?;
    let mut process = Process::start(cwd, command)?;
    let mut text = Text::default();
    let end = tokio::time::timeout(TIMEOUT, async {
        while let Some(piece) = process.read().await? {
            text.add(piece);
        }
        process.end().await
    })
    .await;
    let note = match end {
        Err(_) => format!("timed out after {} s and was killed", TIMEOUT.as_secs()),
        Ok(end) => match end? {
            End::Exit(0) => return Ok(Output::ok(text.whole())),
            end @ End::Exit(_) => end.to_string(),
            end @ End::Signal(_) => format!("killed by {end}"),
        },
    };
    Ok(Output::error(format!("{}\n({note})", text.whole())))
}

/// Refuses a handful of commands that destroy machines.
///
/// # Errors
/// When this command is one of them.
pub fn refuse_fatal(command: &str) -> Result<()> {
    match fatal_word(command) {
        Some(word) => {
            bail!("refused: `{word}` here could destroy this machine; find a narrower command")
        }
        None => Ok(()),
    }
}

/// Output as it accumulates: the first part is kept, the rest only counted, so that `yes` cannot fill the memory.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    dropped: usize,
}

impl Text {
    fn add(&mut self, piece: &[u8]) {
        // A character has at most four bytes.
        let room = (4 * MAX_OUTPUT).saturating_sub(self.bytes.len()).min(piece.len());
        self.bytes.extend_from_slice(&piece[..room]);
        self.dropped += piece.len() - room;
    }

    fn whole(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.trim_end();
        match text.char_indices().nth(MAX_OUTPUT) {
            Some((end, _)) => {
                let left = text.len() - end + self.dropped;
                format!(
                    "{}\n(cut here: {left} more bytes; use head, tail or grep to see less)",
                    &text[..end]
                )
            }
            None if text.is_empty() => "(no output)".to_owned(),
            None => text.to_owned(),
        }
    }
}

/// The command name that makes this line fatal. A short list for the first lesson: whoever wants to be safe reads on to
/// the chapter on permissions, where a real parser judges the line.
fn fatal_word(command: &str) -> Option<String> {
    let words = shell_words::split(command).ok()?;
    let mut starts_command = true;
    for (index, word) in words.iter().enumerate() {
        if starts_command {
            let name = word.trim_start_matches(['(', '{']);
            let rest =
                words[index + 1..].iter().map(|word| word.trim_end_matches([';', '&', '|', ')']));
            if is_fatal(name, rest.take_while(|word| !word.is_empty()).collect()) {
                return Some(name.to_owned());
            }
        }
        starts_command = word.ends_with([';', '&', '|', '(', '{']);
    }
    None
}

fn is_fatal(name: &str, args: Vec<&str>) -> bool {
    match name {
        "sudo" | "shutdown" | "reboot" | "halt" | "poweroff" => true,
        "rm" => {
            let recursive = |arg: &&str| {
                *arg == "--recursive" || arg.starts_with('-') && arg.contains(['r', 'R'])
            };
            args.iter().any(recursive)
                && args.iter().any(|arg| matches!(*arg, "/" | "/*" | "~" | "~/" | "$HOME"))
        }
        "dd" => args.iter().any(|arg| arg.starts_with("of=/dev/") && *arg != "of=/dev/null"),
        _ => name.starts_with("mkfs") || name.starts_with(":()"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fatal_commands_are_refused_however_they_are_spelled() {
        for command in [
            "rm -rf /",
            "rm -fr /",
            "r''m -r -f /",
            "ls; rm -rf / ; echo",
            "cd x && rm --recursive --force /*",
            "sudo ls",
            "(sudo ls)",
            "mkfs.ext4 /dev/sda1",
            "dd if=/dev/zero of=/dev/sda",
            ":(){ :|:& };:",
        ] {
            assert!(fatal_word(command).is_some(), "{command}");
        }
    }

    #[test]
    fn harmless_commands_are_not_refused() {
        for command in [
            "rm -rf /tmp/build",
            "rm -rf ./build",
            "echo \"rm -rf /\"",
            "git commit -m 'a; sudo b'",
            "grep -r sudo .",
            "ls /",
            "dd if=a of=/dev/null",
            "echo 'unbalanced",
        ] {
            assert_eq!(fatal_word(command), None, "{command}");
        }
    }

    #[test]
    fn long_output_is_cut_at_a_character_and_says_so() {
        let mut text = Text::default();
        text.add("ä".repeat(MAX_OUTPUT + 10).as_bytes());
        text.add(&vec![b'x'; 8 * MAX_OUTPUT]);
        let shown = text.whole();
        assert!(shown.starts_with('ä'));
        assert!(shown.chars().count() < MAX_OUTPUT + 100);
        assert!(shown.contains("more bytes"), "{}", &shown[shown.len() - 100..]);
    }
}
