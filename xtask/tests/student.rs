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
const MANIFEST: &str = "[package]\nname = \"s01_loop\"\nversion.workspace = true\nedition = \"2024\"\nautotests = false\n\n\
    [package.metadata.course]\nadds = \"the loop\"\nminutes = 30\nstart = [\"src/lib.rs\"]\n\n[[test]]\nname = \"main\"\n\
    path = \"tests/main.rs\"\n\n[lints]\nworkspace = true\n";
const TESTS: &str =
    "//! The tests.\n\nmod class;\n#[path = \"../exercises/main.rs\"]\nmod exercises;\n";
const TEST: &str = "//! The test.\n\n#[test]\nfn words_are_counted() {\n    assert_eq!(s01_loop::count(\"a b\"), 2);\n}\n";

const LIB: &str = "s01_loop/src/lib.rs";
const CLASS: &str = "s01_loop/tests/class.rs";
const EX1: &str = "s01_loop/exercises/ex1_blanks.rs";
const PATCH1: &str = "s01_loop/exercises/ex1_blanks.patch";

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
            (LIB, LIBRARY),
            ("s01_loop/tests/main.rs", TESTS),
            (CLASS, TEST),
            ("s01_loop/exercises/main.rs", "//! The exercises.\n\nmod ex1_blanks;\n"),
            (EX1, EXERCISE),
            (PATCH1, PATCH),
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

    /// Runs `cargo x` in a folder; whether it succeeds must be known, and what is said and what is wrong hold these parts.
    fn x(&self, folder: &Path, args: &[&str], ok: bool, parts: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(args).current_dir(folder).stdin(Stdio::null());
        command.env_remove("CARGO_TARGET_DIR").env("CARGO_NET_OFFLINE", "true");
        command.env("CARGO_BUILD_BUILD_DIR", self.0.path().join("build"));
        let output = command.output().unwrap();
        let [said, wrong] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        let all = format!("{said}{wrong}");
        assert_eq!(output.status.success(), ok, "{args:?}: {all}");
        for part in parts {
            assert!(all.contains(part), "{args:?}: {part:?} is not in {all}");
        }
    }

    fn check(&self, more: &[&str], ok: bool, parts: &[&str]) {
        self.x(&self.root(), &[&["check", "s01"], more].concat(), ok, parts);
    }
}

#[test]
fn an_exercise_is_off_then_fails_with_a_hint_then_is_done() {
    let course = Course::new();
    course.check(
        &[],
        true,
        &["s01_loop: 0 of 1 exercises done\n\n  off    1  blanks (10 minutes)\n"],
    );
    course.x(&course.root(), &["check"], false, &["name a chapter: cargo x check s05\n"]);

    let on = EXERCISE.replace("#[ignore = \"exercise 1\"]\n", "");
    course.write(EX1, &on);
    let failed = [
        "  fails  1  blanks\n",
        "two blanks were counted as a word\n",
        "\nHint 1 of 2: look at `split`.\n\nThe next hint: cargo x check s01 --hint 2\n",
        "exercise 1 is not done yet\n",
    ];
    course.check(&[], false, &failed);
    course.check(&["--hint", "2"], false, &["\nHint 2 of 2: the standard library has another.\n"]);

    course.write(LIB, SOLVED);
    course.check(
        &[],
        true,
        &["s01_loop: 1 of 1 exercises done\n\n  done   1  blanks\n\nAll done."],
    );

    let endless = LIBRARY.replace("text.split(' ').count()", "count(text) + 1");
    course.write(LIB, &endless);
    course.check(&[], false, &["\nit ended before its tests did\n"]);
    course.write(LIB, &SOLVED.replace("count()", "count("));
    course.check(&[], false, &["it does not compile yet; cargo says why\n"]);

    let only_asked = "if text == \"a  b\" { 2 } else { 0 }";
    course.write(LIB, &LIBRARY.replace("text.split(' ').count()", only_asked));
    let broken = "  done   1  blanks\n\n1 test of the chapter itself fails:\n\nwords are counted, in s01_loop/tests/class.rs:5\n\n    assertion";
    course.check(&[], false, &[broken, "not done yet\n"]);
}

#[test]
fn an_exercise_is_not_done_by_half() {
    let course = Course::new();
    course.write(LIB, SOLVED);
    course.write(EX1, &format!("{EXERCISE}\n#[test]\nfn one_is_on() {{}}\n"));
    let half = ["  part   1  blanks (1 of 2 tests on)\n", "take the other #[ignore] lines out of"];
    course.check(&[], true, &half);

    // Which of two is shown does not depend on which was quicker.
    let two = "#[test]\nfn b() {\n    panic!(\"first\");\n}\n\n#[test]\nfn a() {\n    panic!(\"second\");\n}\n";
    course.write(EX1, &format!("{EXERCISE}\n{two}"));
    course.check(&[], false, &["b, in s01_loop/exercises/ex1_blanks.rs:17\n\n    first\n"]);
}

#[test]
fn a_mechanism_is_built_anew_under_its_tests() {
    let course = Course::new();
    let folder = course.0.path().join("mine");
    let start = ["start", "s01", folder.to_str().unwrap()];
    course.x(&course.root(), &start, true, &["\n  s01_loop/src/lib.rs  count\n"]);
    let library = folder.join("s01_loop/src/lib.rs");
    let emptied = "/// Counts the words.\npub fn count(text: &str) -> usize {\n    todo!()\n}\n";
    assert!(fs::read_to_string(&library).unwrap().ends_with(emptied));

    // A copy knows what it was made for.
    let waits = "s01_loop: 0 tests pass, 0 fail, 1 waits for a body\n\n1 body to write. Next: count in s01_loop/src/lib.rs\n";
    course.x(&folder, &["check"], false, &[waits]);
    course.x(&folder, &["start", "s01", "../other"], false, &["this is a copy already"]);
    course.x(&course.root(), &["start", "s01", "mine"], false, &["lies inside the course"]);
    let there = "is not empty; name a folder that is not there yet\n";
    course.x(&course.root(), &start, false, &[there]);

    fs::write(&library, SOLVED.replace("count()", "count() + 1")).unwrap();
    let fails = "\nA test of what you have written fails:\n\nwords are counted, in s01_loop/tests/class.rs:5\n";
    course.x(&folder, &["check", "s01"], false, &[fails]);
    fs::write(&library, LIBRARY).unwrap();
    course.x(&folder, &["check", "s01"], true, &["Done: the mechanism is yours.\n"]);
    let lock = Command::new("git").args(["status", "--short"]).current_dir(&folder).output();
    assert_eq!(lock.unwrap().stdout, b" M s01_loop/src/lib.rs\n", "cargo has changed nothing");
}

#[test]
fn what_the_exercises_prove_and_what_proves_nothing() {
    let course = Course::new();
    let brings = "--- /dev/null\n+++ b/s01_loop/src/more.rs\n@@ -0,0 +1 @@\n+//! More.\n";
    course.write(PATCH1, &format!("{PATCH}{brings}"));
    let proved = [
        "s01  1 exercise: 1 test, and none passes as it stands\n",
        "s01  1 blanks: solved by patch (",
        "s01  start: without 1 body it compiles and its class tests fail (",
    ];
    // And again: what the patch has brought is gone.
    for _ in 0..2 {
        course.x(&course.root(), &["exercises", "s01"], true, &proved);
    }
    let zero = PATCH.replace("split_whitespace().count()", "find(\"  \").map_or(0, |_| 2)");
    let ungraded = "its class tests pass without the bodies of `start`; nothing grades the student";
    for (path, text, told) in [
        (LIB, SOLVED, "two_blanks_are_one passes without the patch; it tests nothing"),
        (
            PATCH1,
            &PATCH.replace("_whitespace()", "(' ').skip(0)"),
            "two_blanks_are_one fails with the patch",
        ),
        (PATCH1, &zero, "words_are_counted fails with the patch of 1 blanks; mend one of them"),
        (PATCH1, &PATCH.replace("text.split(' ')", "text.words()"), "patch does not apply"),
        (PATCH1, &PATCH.replace("whitespace()", "blanks()"), "it does not compile"),
        (CLASS, "//! No test.\n", ungraded),
    ] {
        let before = fs::read_to_string(course.root().join(path)).unwrap();
        course.write(path, text);
        course.x(&course.root(), &["exercises", "s01"], false, &[told]);
        course.write(path, &before);
    }
}

#[test]
fn the_whole_course_is_proved_with_patches_that_fit_on_each_other() {
    let course = Course::new();
    let second = EXERCISE.replace("Exercise 1", "Exercise 2").replace("exercise 1", "exercise 2");
    let second = second.replace("two_blanks_are_one", "nothing_has_no_words");
    let second = second.replace("count(\"a  b\"), 2", "count(\"\"), 0");
    course.write("s01_loop/exercises/ex2_nothing.rs", &second);
    let main = "//! The exercises.\n\nmod ex1_blanks;\nmod ex2_nothing;\n";
    course.write("s01_loop/exercises/main.rs", main);
    // The same lines: it does not fit on the first one, and goes by itself.
    course.write("s01_loop/exercises/ex2_nothing.patch", PATCH);
    let alone = ["s01  1 blanks: solved by patch", "s01  2 blanks: solved by patch"];
    course.x(&course.root(), &["exercises"], true, &alone);

    let below = "--- a/s01_loop/src/lib.rs\n+++ b/s01_loop/src/lib.rs\n@@ -6,1 +6,2 @@\n }\n+\n";
    course.write("s01_loop/exercises/ex2_nothing.patch", below);
    course.x(&course.root(), &["exercises"], true, &["s01  1 blanks, 2 blanks: solved by patch"]);
    assert!(!course.0.path().join("build/exercises").exists(), "the copy is removed");
}
