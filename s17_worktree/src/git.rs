//! git, as a command.
//!
//! Only git should write to a repository. Invariants: git works on the repository of its directory and no other, prompts
//! for nothing, runs no hooks and is stopped after [`GIT_TIMEOUT`]; its warnings are not part of its answer; the model reads
//! its own error message.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use s01_loop::{End, Process};

/// How long one git command may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The variables that point git to another repository or other settings (`git rev-parse --local-env-vars`). A program
/// that was started by a git hook inherits them.
const LEADS_ELSEWHERE: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT \
     GIT_OBJECT_DIRECTORY GIT_DIR GIT_WORK_TREE GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_INDEX_FILE \
     GIT_NO_REPLACE_OBJECTS GIT_REPLACE_REF_BASE GIT_PREFIX GIT_SHALLOW_FILE GIT_COMMON_DIR GIT_NAMESPACE";
/// Nobody is there to answer; one language, so that an error can be recognised.
const SETTINGS: &str = "GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 LC_ALL=C";
/// No hook and no file monitor of the repository runs.
const OPTIONS: &str = "-c core.hooksPath=/dev/null -c core.fsmonitor=";

/// Runs git in this directory and returns what it answered.
///
/// # Errors
/// When git fails; the error holds its own words.
pub async fn git(directory: &Path, args: &[&str]) -> Result<String> {
    let words = args.iter().map(|word| quoted(word));
    let words = words.collect::<Vec<_>>().join(" ");
    let command = format!("unset {LEADS_ELSEWHERE}; export {SETTINGS}; exec git {OPTIONS} {words}");
    let mut complaints =
        tempfile::tempfile().context("opening a file for what git complains of")?;
    let aside = complaints.try_clone().context("opening it twice")?;
    let mut process = Process::start_with(directory, &command, Stdio::null(), Some(aside.into()))?;
    let mut answer = Vec::new();
    let running = async {
        while let Some(piece) = process.read().await? {
            answer.extend_from_slice(piece);
        }
        process.end().await
    };
    let end = tokio::time::timeout(GIT_TIMEOUT, running).await;
    let name = args.first().copied().unwrap_or_default();
    match end {
        Ok(Ok(End::Exit(0))) => Ok(String::from_utf8_lossy(&answer).trim_end().to_owned()),
        Ok(Ok(end)) => bail!("git {name}: {}", words_of(&mut complaints, &end)),
        Ok(Err(error)) => Err(error),
        Err(_) => bail!("git {name} took longer than {} s and was stopped", GIT_TIMEOUT.as_secs()),
    }
}

/// git's error message, or its exit status when there is none.
fn words_of(complaints: &mut File, end: &End) -> String {
    let mut bytes = Vec::new();
    // Without readable words the exit status is the message.
    let _ = complaints.rewind().and_then(|()| complaints.read_to_end(&mut bytes));
    match String::from_utf8_lossy(&bytes).trim() {
        "" => end.to_string(),
        words => words.to_owned(),
    }
}

/// A word, quoted for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_word_is_one_word_whatever_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let error = git(dir.path(), &["it's; touch x", "$(touch y)"]).await.unwrap_err();
        assert!(error.to_string().contains("it's; touch x"), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_warning_is_no_answer() {
        let dir = tempfile::tempdir().unwrap();
        let noisy = ["-c", "alias.noisy=!echo warning >&2; echo answer", "noisy"];
        assert_eq!(git(dir.path(), &noisy).await.unwrap(), "answer");
    }

    // Time is paused, so the limit is reached as soon as nothing moves.
    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let slow = ["-c", "alias.slow=!exec sleep 3600", "slow"];
        let error = git(dir.path(), &slow).await.unwrap_err();
        assert!(error.to_string().contains("longer than 30 s"), "{error}");
    }
}
