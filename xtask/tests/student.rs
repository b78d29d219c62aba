//! A student's way through a small course with a real cargo: exercises, and a mechanism built anew.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

const LIBRARY: &str = "//! The loop: it counts.\n\n/// Counts the words.\npub fn count(text: &str) -> usize {\n    text.split(' ').count()\n}\n";
const SOLVED: &str = "//! The loop: it counts.\n\n/// Counts the words.\npub fn count(text: &str) -> usize {\n    text.split_whitespace().count()\n}\n";
const PATCH: &str = "--- a/s01_loop/src/lib.rs\n+++ b/s01_loop/src/lib.rs\n@@ -4,3 +4,3 @@\n pub fn count(text: &str) -> usize {\n\
    -    text.split(' ').count()\n+    text.split_whitespace().count()\n }\n";
const EXERCISE: &str = "//! Exercise 1 · blanks (10 minutes).\n//!\n//! Two blanks are one.\n//!\n//! Hint: look at `split`.\n//!\n\
    //! Hint: the standard library has another.\n\n#[test]\n#[ignore = \"exercise 1\"]\nfn two_blanks_are_one() {\n    \
    assert_eq!(s01_loop::count(\"a  b\"), 2, \"two blanks were counted as a word\");\n}\n";
const MANIFEST: &str = "[package]\nname = \"s01_loop\"\nversion.workspace = true\nedition = \"2024\"\n\n\
    [package.metadata.course]\nadds = \"the loop\"\nminutes = 30\nstart = [\"src/lib.rs\"]\n\n[[test]]\nname = \"exercises\"\n\
    path = \"exercises/main.rs\"\n\n[lints]\nworkspace = true\n";
const TEST: &str = "//! The test.\n\n#[test]\nfn words_are_counted() {\n    assert_eq!(s01_loop::count(\"a b\"), 2);\n}\n";

/// A course of one chapter with one exercise, and a folder beside it.
struct Course(TempDir);

impl Course {
    fn new() -> Self {
        let course = Self(tempfile::tempdir().unwrap());
        let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"s01_loop\"]\n\n[workspace.package]\nversion = \"0.1.0\"\n\n\
            [workspace.lints.rust]\nunsafe_code = \"deny\"\n";
        for (path, text) in [
            ("Cargo.toml", workspace),
            (".gitignore", "/target\n"),
            ("s01_loop/Cargo.toml", MANIFEST),
            ("s01_loop/src/lib.rs", LIBRARY),
            ("s01_loop/tests/class.rs", TEST),
            (
                "s01_loop/exercises/main.rs",
                "//! The exercises.\n\nmod ex1_blanks;\n",
            ),
            ("s01_loop/exercises/ex1_blanks.rs", EXERCISE),
            ("s01_loop/exercises/ex1_blanks.patch", PATCH),
        ] {
            course.write(path, text);
        }
        let git = Command::new("git")
            .args(["init", "--quiet"])
            // Of the repository that a git hook runs these tests for.
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .arg(course.root())
            .status();
        assert!(git.unwrap().success());
        course
    }

    fn root(&self) -> std::path::PathBuf {
        self.0.path().join("course")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs `cargo x` in a folder: whether it succeeded, what it printed, and what it said was wrong.
    fn x(&self, folder: &Path, args: &[&str]) -> (bool, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(args).current_dir(folder).stdin(Stdio::null());
        command
            .env_remove("CARGO_TARGET_DIR")
            .env("CARGO_NET_OFFLINE", "true");
        command.env("CARGO_BUILD_BUILD_DIR", self.0.path().join("build"));
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.success(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }
}

#[test]
fn an_exercise_is_off_then_fails_with_a_hint_then_is_done() {
    let course = Course::new();
    let check = |args: &[&str]| course.x(&course.root(), &[&["check", "s01"], args].concat());

    let (ok, said, _) = check(&[]);
    assert!(
        ok && said
            .starts_with("s01_loop: 0 of 1 exercises done\n\n  off    1  blanks (10 minutes)\n"),
        "{said}"
    );

    course.write(
        "s01_loop/exercises/ex1_blanks.rs",
        &EXERCISE.replace("#[ignore = \"exercise 1\"]\n", ""),
    );
    let (ok, said, error) = check(&[]);
    assert!(
        !ok && error.ends_with("exercise 1 is not done yet\n"),
        "{error}"
    );
    for part in [
        "  fails  1  blanks\n",
        "two blanks were counted as a word\n",
        "\nHint 1 of 2: look at `split`.\n\nThe next hint: cargo x check s01 --hint 2\n",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let (_, said, _) = check(&["--hint", "2"]);
    assert!(
        said.ends_with("\nHint 2 of 2: the standard library has another.\n"),
        "{said}"
    );

    course.write("s01_loop/src/lib.rs", SOLVED);
    let (ok, said, _) = check(&[]);
    assert!(
        ok && said
            .starts_with("s01_loop: 1 of 1 exercises done\n\n  done   1  blanks\n\nAll done."),
        "{said}"
    );

    course.write(
        "s01_loop/src/lib.rs",
        &LIBRARY.replace("text.split(' ').count()", "count(text) + 1"),
    );
    let (ok, said, error) = check(&[]);
    assert!(
        !ok && said.is_empty() && error.ends_with("\nit ended before its tests did\n"),
        "a full stack is no pass: {said}{error}"
    );

    course.write("s01_loop/src/lib.rs", &SOLVED.replace("count()", "count("));
    let (ok, said, error) = check(&[]);
    assert!(
        !ok && said.is_empty() && error.ends_with("it does not compile yet; cargo says why\n"),
        "{error}"
    );
}

#[test]
fn a_solution_that_breaks_the_chapter_is_not_done() {
    let course = Course::new();
    let on = EXERCISE.replace("#[ignore = \"exercise 1\"]\n", "");
    course.write("s01_loop/exercises/ex1_blanks.rs", &on);
    let only_asked = "if text == \"a  b\" { 2 } else { 0 }";
    course.write(
        "s01_loop/src/lib.rs",
        &LIBRARY.replace("text.split(' ').count()", only_asked),
    );
    let (ok, said, error) = course.x(&course.root(), &["check", "s01"]);
    let broken = "  done   1  blanks\n\n1 test of the chapter itself fails:\n\nwords are counted, in s01_loop/tests/class.rs:5\n\n    assertion";
    assert!(
        !ok && said.contains(broken)
            && !said.contains("All done")
            && error.ends_with("not done yet\n"),
        "{said}{error}"
    );
}

#[test]
fn an_exercise_is_not_done_by_half_or_by_leaving_it_out() {
    let course = Course::new();
    let check = |args: &[&str]| course.x(&course.root(), args);
    let (ok, _, error) = check(&["check"]);
    assert!(
        !ok && error == "name a chapter: cargo x check s05\n",
        "{error}"
    );

    course.write("s01_loop/src/lib.rs", SOLVED);
    let half = format!("{EXERCISE}\n#[test]\nfn one_is_on() {{}}\n");
    course.write("s01_loop/exercises/ex1_blanks.rs", &half);
    let (ok, said, _) = check(&["check", "s01"]);
    assert!(
        ok && said.contains("  part   1  blanks (1 of 2 tests on)\n")
            && said.contains("take the other #[ignore] lines out of"),
        "{said}"
    );

    // Which of two is shown does not depend on which was quicker.
    let two = "#[test]\nfn b() {\n    panic!(\"first\");\n}\n\n#[test]\nfn a() {\n    panic!(\"second\");\n}\n";
    course.write(
        "s01_loop/exercises/ex1_blanks.rs",
        &format!("{EXERCISE}\n{two}"),
    );
    let (_, said, _) = check(&["check", "s01"]);
    assert!(
        said.contains("b, in s01_loop/exercises/ex1_blanks.rs:17\n\n    first\n"),
        "{said}"
    );

    course.write("s01_loop/exercises/main.rs", "//! The exercises.\n");
    let (ok, said, _) = check(&["check", "s01"]);
    assert!(
        !ok && said.contains("exercises/main.rs needs the line `mod ex1_blanks;`"),
        "{said}"
    );
}

#[test]
fn a_mechanism_is_built_anew_under_its_tests() {
    let course = Course::new();
    let folder = course.0.path().join("mine");

    let (ok, said, error) = course.x(&course.root(), &["start", "s01", folder.to_str().unwrap()]);
    assert!(
        ok && said.contains("\n  s01_loop/src/lib.rs  count\n"),
        "{said}{error}"
    );
    let library = folder.join("s01_loop/src/lib.rs");
    let emptied = "/// Counts the words.\npub fn count(text: &str) -> usize {\n    todo!()\n}\n";
    assert!(fs::read_to_string(&library).unwrap().ends_with(emptied));

    // A copy knows what it was made for.
    let (ok, said, _) = course.x(&folder, &["check"]);
    let wanted = "s01_loop: 0 tests pass, 0 fail, 1 waits for a body\n\n1 body to write. Next: count in s01_loop/src/lib.rs\n";
    assert!(!ok && said == wanted, "{said}");

    let (ok, _, error) = course.x(&folder, &["start", "s01", "../other"]);
    assert!(
        !ok && error.starts_with("this is a copy already"),
        "{error}"
    );
    let (ok, _, error) = course.x(&course.root(), &["start", "s01", "mine"]);
    assert!(!ok && error.contains("lies inside the course"), "{error}");

    fs::write(&library, SOLVED.replace("count()", "count() + 1")).unwrap();
    let (ok, said, _) = course.x(&folder, &["check", "s01"]);
    assert!(
        !ok && said.contains("\nA test of what you have written fails:\n\nwords are counted, in s01_loop/tests/class.rs:5\n"),
        "{said}"
    );

    fs::write(&library, LIBRARY).unwrap();
    let (ok, said, _) = course.x(&folder, &["check", "s01"]);
    assert!(
        ok && said.ends_with("Done: the mechanism is yours.\n"),
        "{said}"
    );

    let (ok, _, error) = course.x(&course.root(), &["start", "s01", folder.to_str().unwrap()]);
    assert!(
        !ok && error.ends_with("is not empty; name a folder that is not there yet\n"),
        "{error}"
    );
}

#[test]
fn a_solution_may_bring_a_file_and_is_proved_again_as_it_was() {
    let course = Course::new();
    let brings = "--- /dev/null\n+++ b/s01_loop/src/more.rs\n@@ -0,0 +1 @@\n+//! More.\n";
    course.write(
        "s01_loop/exercises/ex1_blanks.patch",
        &format!("{PATCH}{brings}"),
    );
    for _ in 0..2 {
        let (ok, _, error) = course.x(&course.root(), &["exercises", "s01"]);
        assert!(ok, "{error}");
    }
}

#[test]
fn an_exercise_that_proves_nothing_is_found() {
    let prove = |path: &str, text: &str| {
        let course = Course::new();
        course.write(path, text);
        course.x(&course.root(), &["exercises", "s01"])
    };
    let (ok, said, error) = prove("s01_loop/src/lib.rs", LIBRARY);
    assert!(ok, "{error}");
    let lines: Vec<_> = said
        .lines()
        .map(|line| line.split(" (").next().unwrap_or(line))
        .collect();
    assert_eq!(
        lines,
        [
            "s01  1 exercise: 1 test, and none passes as it stands",
            "s01  1 blanks: passes with its patch",
            "s01  start: without 1 body it compiles and its class tests fail; put back, it is the same",
        ]
    );
    for (path, text, told) in [
        (
            "s01_loop/src/lib.rs",
            SOLVED.to_owned(),
            "two_blanks_are_one passes without the patch; it tests nothing",
        ),
        (
            "s01_loop/exercises/ex1_blanks.patch",
            PATCH.replace("split_whitespace()", "split(',')"),
            "two_blanks_are_one fails with the patch; mend one of them",
        ),
        (
            "s01_loop/exercises/ex1_blanks.patch",
            PATCH.replace(
                "split_whitespace().count()",
                "find(\"  \").map_or(0, |_| 2)",
            ),
            "words_are_counted fails with the patches of the exercises; mend one of them",
        ),
        (
            "s01_loop/exercises/ex1_blanks.patch",
            PATCH.replace("text.split(' ')", "text.words()"),
            "patch does not apply",
        ),
        (
            "s01_loop/tests/class.rs",
            "//! No test.\n".to_owned(),
            "its class tests pass without the bodies of `start`; nothing grades the student",
        ),
    ] {
        let (ok, said, error) = prove(path, &text);
        assert!(!ok && error.contains(told), "{told}: {said}{error}");
    }
}

#[test]
fn the_whole_course_is_proved_with_patches_that_fit_on_each_other() {
    let course = Course::new();
    let second = EXERCISE
        .replace("Exercise 1", "Exercise 2")
        .replace("exercise 1", "exercise 2")
        .replace("two_blanks_are_one", "nothing_has_no_words")
        .replace("count(\"a  b\"), 2", "count(\"\"), 0");
    course.write("s01_loop/exercises/ex2_nothing.rs", &second);
    course.write(
        "s01_loop/exercises/main.rs",
        "//! The exercises.\n\nmod ex1_blanks;\nmod ex2_nothing;\n",
    );
    let run = || {
        let (_, said, error) = course.x(&course.root(), &["exercises"]);
        (said, error)
    };

    // The same lines: it does not fit on the first one, and goes by itself.
    course.write("s01_loop/exercises/ex2_nothing.patch", PATCH);
    let (said, error) = run();
    assert!(
        said.contains("s01  2 blanks: passes with its patch"),
        "{said}{error}"
    );

    let below = "--- a/s01_loop/src/lib.rs\n+++ b/s01_loop/src/lib.rs\n@@ -6,1 +6,2 @@\n }\n+\n";
    course.write("s01_loop/exercises/ex2_nothing.patch", below);
    let (said, error) = run();
    assert!(
        said.contains("s01  1 blanks, 2 blanks: pass with their patches"),
        "{said}{error}"
    );
    assert!(
        !course.0.path().join("build/exercises").exists(),
        "the copy is removed"
    );
}
