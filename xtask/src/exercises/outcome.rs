//! A run of tests: which passed, which failed, and what they said; one that does not come to an end is named.
//!
//! libtest has no stable format for programs, so this reads the lines that a person sees. A mechanism without bodies may leave
//! a test waiting for something that never comes; libtest says so after a minute.
//! Invariant: only lines of the form `test NAME ... VERDICT` count; whatever a test prints elsewhere does not. A program that ends
//! before its tests do, of a full stack for one, is a failure of its own: what is silent has not passed.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

/// What stands for the tests that never came to an end; no test has blanks in its name.
const PROGRAM: &str = "the program of the tests";

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It is switched off.
    Ignored,
}

/// One test of a run.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// Its path within its test program: `exercises::ex1_progress::the_prompt_says_it`.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
    /// What it said when it failed.
    pub message: String,
    /// Where it failed: the file, and the line.
    pub place: Option<(String, usize)>,
}

/// What becomes of a test that runs for more than a minute.
#[derive(Clone, Copy, PartialEq)]
pub enum Patience {
    /// A person is told which it is, and may press Ctrl-C.
    Told,
    /// All tests are ended, which is an error.
    None,
}

impl Outcome {
    /// Whether this is no test, but the program of them, which broke down.
    pub fn is_program(&self) -> bool {
        self.name == PROGRAM
    }

    /// Whether this is a test of the module `module`.
    pub fn is_of(&self, module: &str) -> bool {
        let (modules, _) = self.name.rsplit_once("::").unwrap_or_default();
        modules.split("::").any(|it| it == module)
    }
}

/// Runs a `cargo test`: its tests in their order, and behind them the program of them when it ended before they did.
///
/// # Errors
/// When it cannot be started, the tests do not compile, or one was ended for want of [`Patience`].
pub fn run_tests(command: &mut Command, patience: Patience) -> Result<Vec<Outcome>> {
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if patience == Patience::None {
        // So that the tests end with the cargo that has started them.
        command.process_group(0);
    }
    let mut child = command.spawn().context("starting cargo test")?;
    let mut stderr = child.stderr.take().context("reading what cargo says")?;
    let said = thread::spawn(move || {
        let mut said = Vec::new();
        let _ = stderr.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let stdout = BufReader::new(child.stdout.take().context("reading what the tests say")?);
    let (mut printed, mut endless) = (String::new(), None);
    for line in stdout.split(b'\n') {
        let line = line.context("reading what the tests say")?;
        let line = String::from_utf8_lossy(&line);
        let running = line.strip_suffix(" has been running for over 60 seconds");
        if let Some(name) = running.and_then(|name| name.strip_prefix("test ")) {
            if patience == Patience::Told {
                eprintln!("{name} has been running for a minute; Ctrl-C ends it");
            } else {
                endless = Some(name.to_owned());
                // The kill command, because signals need either unsafe code or one more dependency.
                let group = format!("-{}", child.id());
                let _ = Command::new("kill").args(["-KILL", "--", &group]).output();
            }
        }
        printed = printed + &line + "\n";
    }
    let status = child.wait().context("waiting for cargo test")?;
    let said = said.join().unwrap_or_default();
    if let Some(name) = endless {
        bail!("{name} does not come to an end; let it give up");
    }
    let outcomes = read(&printed, &said);
    let compiled = status.success() || !outcomes.is_empty();
    ensure!(compiled, "{}\nit does not compile", said.trim());
    Ok(outcomes)
}

/// The tests in what a run printed.
fn read(stdout: &str, stderr: &str) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = stdout.lines().filter_map(verdict).collect();
    let failed = outcomes.iter_mut();
    for outcome in failed.filter(|it| it.verdict == Verdict::Failed) {
        let title = format!("---- {} stdout ----\n", outcome.name);
        let (_, block) = stdout.split_once(&title).unwrap_or_default();
        let ends = ["\n---- ", "\nfailures:\n", "\nstack backtrace:\n"];
        let end = ends.iter().filter_map(|end| block.find(end)).min();
        let lines = block[..end.unwrap_or(block.len())].lines();
        // Of several threads that panicked the last one is the test's own.
        let place = lines.clone().filter_map(panicked).next_back();
        outcome.place = place.and_then(|place| {
            let mut parts = place.split(':');
            // As the compiler says it of a file that a test program has from elsewhere.
            let file = parts.next()?.replace("/tests/../", "/");
            Some((file, parts.next()?.parse().ok()?))
        });
        let is_said = |line: &&str| {
            !line.starts_with("note: run with `RUST_BACKTRACE") && panicked(line).is_none()
        };
        let said: Vec<_> = lines.filter(is_said).collect();
        outcome.message = said.join("\n").trim().to_owned();
    }
    let lines = |start: &str| stdout.matches(&format!("\n{start}")).count();
    if lines("running ") > lines("test result: ") {
        outcomes.push(Outcome {
            name: PROGRAM.to_owned(),
            verdict: Verdict::Failed,
            message: format!("{}\nit ended before its tests did", stderr.trim()),
            place: None,
        });
    }
    outcomes
}

fn verdict(line: &str) -> Option<Outcome> {
    let (name, verdict) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let verdict = match verdict.split(',').next()? {
        "ok" => Verdict::Passed,
        "FAILED" => Verdict::Failed,
        "ignored" => Verdict::Ignored,
        _ => return None,
    };
    Some(Outcome {
        name: name.trim_end_matches(" - should panic").to_owned(),
        verdict,
        message: String::new(),
        place: None,
    })
}

/// Where a thread panicked, if this line says so.
fn panicked(line: &str) -> Option<&str> {
    let (_, place) = line.strip_prefix("thread '")?.split_once(" panicked at ")?;
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\nrunning 4 tests\ntest exercises::ex1_a::passes ... ok\ntest ex1_a::panics - should panic ... ok\n\
        test ex2_b::fails ... FAILED\ntest ex3_c::waits ... ignored, exercise 3\n\nfailures:\n\n---- ex2_b::fails stdout ----\n\n\
        thread 'ex2_b::fails' (123) panicked at s05_todo/tests/../exercises/ex2_b.rs:31:5:\nthe list is taken:\n  [ ] a\n\
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    ex2_b::fails\n\n\
        test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";

    #[test]
    fn the_lines_of_a_run_are_read_and_what_a_failed_test_said() {
        let outcomes = read(PRINTED, "");
        let verdicts = outcomes.iter().map(|it| (it.name.as_str(), it.verdict));
        let expected = [
            ("exercises::ex1_a::passes", Verdict::Passed),
            ("ex1_a::panics", Verdict::Passed),
            ("ex2_b::fails", Verdict::Failed),
            ("ex3_c::waits", Verdict::Ignored),
        ];
        assert_eq!(verdicts.collect::<Vec<_>>(), expected);
        let failed = &outcomes[2];
        assert_eq!(failed.message, "the list is taken:\n  [ ] a");
        assert_eq!(failed.place, Some(("s05_todo/exercises/ex2_b.rs".to_owned(), 31)));
        assert!(failed.is_of("ex2_b") && !failed.is_of("ex2") && outcomes[0].is_of("ex1_a"));

        let broken = read("\nrunning 2 tests\ntest a ... ok\n", "a full stack\n");
        assert!(broken[1].is_program() && broken[1].verdict == Verdict::Failed);
        assert_eq!(broken[1].message, "a full stack\nit ended before its tests did");
    }

    #[test]
    fn a_test_that_does_not_end_is_named_and_ended_with_its_children() {
        let line = "test a::waits has been running for over 60 seconds";
        let script = format!("sleep 1000 & echo 'test a::b ... ok'; echo '{line}'; wait");
        let mut shell = Command::new("sh");
        let error = run_tests(shell.args(["-c", &script]), Patience::None).unwrap_err();
        assert_eq!(error.to_string(), "a::waits does not come to an end; let it give up");
    }
}
