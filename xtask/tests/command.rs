//! The binary as a person and a script meet it: what it prints, where, and its exit status.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A checkout of two chapters; the second one's main.rs has `lines` lines.
fn course(lines: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Cargo.toml", "[workspace]\nmembers = [\"s01_loop\", \"s02_tools\"]\n");
    let course = "[package.metadata.course]\nadds = \"a\"\nminutes = 30\nstart = []\n";
    write("s01_loop/Cargo.toml", course);
    write("s01_loop/src/main.rs", "fn main() {}\n");
    write("s02_tools/Cargo.toml", &format!("{course}base = \"s01_loop\"\n"));
    write("s02_tools/src/main.rs", &"fn main() { /* and more */ }\n".repeat(lines));
    assert!(
        Command::new("git")
            .args(["init", "--quiet"])
            // Of the repository that a git hook runs these tests for.
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .arg(folder.path())
            .status()
            .unwrap()
            .success()
    );
    folder
}

fn xtask(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
}

fn said(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let [shown, errors] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    (output.status.code(), shown, errors)
}

#[test]
fn a_diff_is_printed_without_colours_and_from_any_folder_of_the_course() {
    let course = course(1);
    let (code, shown, errors) =
        said(&mut xtask(&course.path().join("s01_loop/src"), &["diff", "2"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(shown.contains("\n-fn main() {}\n+fn main() { /* and more */ }\n"), "{shown}");
}

#[test]
fn a_reader_may_close_the_pipe() {
    // More than a pipe holds, so that the program is still writing when its reader leaves.
    let course = course(10_000);
    let mut diff = xtask(course.path(), &["diff", "2"]);
    let mut child = diff.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn a_mistake_is_one_sentence_and_an_exit_status() {
    let course = course(70);
    for (args, wanted) in [
        (
            &["diff", "s09"][..],
            "there is no chapter \"s09\"; the chapters are s01_loop, s02_tools\n",
        ),
        (&["budget"], "s02_tools changes 71 lines of carried files; 60 are allowed"),
        (&["tidy"], "s01_loop/src/main.rs:1: no header; open with `//!`"),
    ] {
        let (code, shown, errors) = said(&mut xtask(course.path(), args));
        assert_eq!(code, Some(1));
        assert!((shown + &errors).contains(wanted), "{args:?}: {errors}");
    }
}

#[test]
fn a_book_without_mdbook_says_in_a_line_what_to_install() {
    let course = course(1);
    let programs = tempfile::tempdir().unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    let mut git = std::env::split_paths(&paths).map(|path| path.join("git"));
    let git = git.find(|git| git.is_file()).unwrap();
    std::os::unix::fs::symlink(git, programs.path().join("git")).unwrap();
    let told = |why: &str| {
        let line = format!("{why}; install it with: cargo install mdbook --locked\n");
        for args in [&["book"][..], &["book", "--test"]] {
            let mut book = xtask(course.path(), args);
            let said = said(book.env("PATH", programs.path()));
            assert_eq!(said, (Some(1), String::new(), line.clone()));
        }
    };
    told("mdbook is missing");
    let old = programs.path().join("mdbook");
    fs::write(&old, "#!/bin/sh\necho mdbook v0.4.40\n").unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    told("mdbook v0.4.40 is too old for the book");
}
