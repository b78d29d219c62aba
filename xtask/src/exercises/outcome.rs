//! What the test harness of Rust printed, read again: which tests passed, which failed, and what they said.
//!
//! libtest has no stable format for programs, so this reads the lines that a person sees.
//! Invariant: only lines of the form `test NAME ... VERDICT` count; whatever a test prints elsewhere does not. A program that ends
//! before its tests do, of a full stack for one, is a failure of its own: what is silent has not passed.

use std::process::Output;

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
    /// Its path within its test program: `ex1_progress::the_prompt_says_it`.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
    /// What it said when it failed.
    pub message: Option<String>,
    /// Where it failed: the file, and the line.
    pub place: Option<(String, usize)>,
}

impl Outcome {
    /// The tests that `cargo test` ran, in their order; behind them [`PROGRAM`], when it ended before they did.
    pub fn of(run: &Output) -> Vec<Self> {
        let stdout = String::from_utf8_lossy(&run.stdout);
        let mut outcomes = Self::read(&stdout);
        let is_begun = |line: &&str| {
            line.strip_prefix("running ")
                .is_some_and(|rest| rest.ends_with(" tests") || rest.ends_with(" test"))
        };
        let is_ended = |line: &&str| line.starts_with("test result: ");
        if stdout.lines().filter(is_begun).count() > stdout.lines().filter(is_ended).count() {
            let said = String::from_utf8_lossy(&run.stderr);
            outcomes.push(Self {
                name: PROGRAM.to_owned(),
                verdict: Verdict::Failed,
                place: None,
                message: Some(format!("{}\nit ended before its tests did", said.trim())),
            });
        }
        outcomes
    }

    fn read(stdout: &str) -> Vec<Self> {
        let mut outcomes: Vec<Self> = stdout.lines().filter_map(line).collect();
        for outcome in outcomes
            .iter_mut()
            .filter(|it| it.verdict == Verdict::Failed)
        {
            let block = block(stdout, &outcome.name);
            outcome.message = block.map(message);
            outcome.place = block.and_then(place);
        }
        outcomes
    }

    /// Whether this is no test, but the program of them, which broke down.
    pub fn is_program(&self) -> bool {
        self.name == PROGRAM
    }

    /// Whether this is a test of the module `module`.
    pub fn is_of(&self, module: &str) -> bool {
        self.name
            .strip_prefix(module)
            .is_some_and(|rest| rest.starts_with("::"))
    }
}

fn line(line: &str) -> Option<Outcome> {
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
        message: None,
        place: None,
    })
}

/// The block that libtest prints of a failed test.
fn block<'a>(stdout: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = stdout.split_once(&format!("---- {name} stdout ----\n"))?;
    let end = [rest.find("\n---- "), rest.find("\nfailures:\n")];
    let block = &rest[..end.into_iter().flatten().min().unwrap_or(rest.len())];
    Some(block.split("\nstack backtrace:\n").next().unwrap_or(block))
}

/// Where a thread panicked, if this line says so.
fn panicked(line: &str) -> Option<&str> {
    let (_, place) = line.strip_prefix("thread '")?.split_once(" panicked at ")?;
    Some(place)
}

/// What a block says, without what it says of backtraces and threads.
fn message(block: &str) -> String {
    let said = block.lines().filter(|line| {
        !line.starts_with("note: run with `RUST_BACKTRACE") && panicked(line).is_none()
    });
    said.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Where a test failed; of several threads the last one is its own.
fn place(block: &str) -> Option<(String, usize)> {
    let mut parts = block.lines().filter_map(panicked).next_back()?.split(':');
    Some((parts.next()?.to_owned(), parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\nrunning 4 tests\ntest ex1_a::passes ... ok\ntest ex1_a::panics - should panic ... ok\n\
        test ex2_b::fails ... FAILED\ntest ex3_c::waits ... ignored, exercise 3\n\nfailures:\n\n---- ex2_b::fails stdout ----\n\n\
        thread 'ex2_b::fails' (123) panicked at s05_todo/exercises/ex2_b.rs:31:5:\nthe list is taken:\n  [ ] a\n\
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    ex2_b::fails\n\n\
        test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";

    #[test]
    fn the_lines_of_a_run_are_read_and_what_a_failed_test_said() {
        let outcomes = Outcome::read(PRINTED);

        let verdicts: Vec<_> = outcomes
            .iter()
            .map(|it| (it.name.as_str(), it.verdict))
            .collect();
        assert_eq!(
            verdicts,
            [
                ("ex1_a::passes", Verdict::Passed),
                ("ex1_a::panics", Verdict::Passed),
                ("ex2_b::fails", Verdict::Failed),
                ("ex3_c::waits", Verdict::Ignored),
            ]
        );
        assert_eq!(
            outcomes[2].message.as_deref(),
            Some("the list is taken:\n  [ ] a")
        );
        assert_eq!(
            outcomes[2].place,
            Some(("s05_todo/exercises/ex2_b.rs".to_owned(), 31))
        );
        assert!(outcomes[2].is_of("ex2_b") && !outcomes[2].is_of("ex2"));
    }

    #[test]
    fn a_program_that_ends_before_its_tests_has_failed() {
        let run = |stdout: &str| Output {
            status: std::process::ExitStatus::default(),
            stdout: stdout.as_bytes().to_vec(),
            stderr: b"thread 'b' has overflowed its stack\n".to_vec(),
        };
        assert_eq!(Outcome::of(&run(PRINTED)), Outcome::read(PRINTED));

        let broken = Outcome::of(&run("\nrunning 2 tests\ntest a ... ok\n"));
        assert_eq!(broken.len(), 2);
        assert!(broken[1].is_program() && broken[1].verdict == Verdict::Failed);
        assert_eq!(
            broken[1].message.as_deref(),
            Some("thread 'b' has overflowed its stack\nit ended before its tests did")
        );
    }
}
