//! The binary as a person and a script meet it: what it prints, where, and its exit status.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A checkout of two chapters; the second one's main.rs has `lines` lines.
fn course(lines: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"s01_loop\", \"s02_tools\"]\n",
    );
    let course = "[package.metadata.course]\nadds = \"a\"\nminutes = 30\nstart = []\n";
    write("s01_loop/Cargo.toml", course);
    write("s01_loop/src/main.rs", "fn main() {}\n");
    write(
        "s02_tools/Cargo.toml",
        &format!("{course}base = \"s01_loop\"\n"),
    );
    write(
        "s02_tools/src/main.rs",
        &"fn main() { /* and more */ }\n".repeat(lines),
    );
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

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_diff_is_printed_without_colours_and_from_any_folder_of_the_course() {
    let course = course(1);

    let output = xtask(&course.path().join("s01_loop/src"), &["diff", "2"])
        .output()
        .unwrap();

    let (code, shown, errors) = said(&output);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        shown.contains("\n-fn main() {}\n+fn main() { /* and more */ }\n"),
        "{shown}"
    );
}

#[test]
fn a_reader_may_close_the_pipe() {
    // More than a pipe holds, so that the program is still writing when its reader leaves.
    let course = course(10_000);
    let mut child = xtask(course.path(), &["diff", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();

    drop(child.stdout.take());

    let (code, _, errors) = said(&child.wait_with_output().unwrap());
    assert_eq!((code, errors.as_str()), (Some(0), ""));
}

#[test]
fn a_mistake_is_one_sentence_and_an_exit_status() {
    let course = course(70);

    let (code, shown, errors) = said(&xtask(course.path(), &["diff", "s09"]).output().unwrap());
    assert_eq!((code, shown.as_str()), (Some(1), ""));
    assert_eq!(
        errors,
        "there is no chapter \"s09\"; the chapters are s01_loop, s02_tools\n"
    );

    let (code, _, errors) = said(&xtask(course.path(), &["budget"]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(
        errors.starts_with("s02_tools changes 71 lines of carried files; 60 are allowed"),
        "{errors}"
    );

    let (code, shown, _) = said(&xtask(course.path(), &["tidy"]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(
        shown.contains("s01_loop/README.md:1: the minutes are not those of Cargo.toml; open with a front matter that says minutes: 30\n"),
        "{shown}"
    );
}

/// A folder of programs: git, and what stands for mdbook.
fn programs(mdbook: Option<&str>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&paths).map(|path| path.join("git"));
    let git = git.into_iter().find(|git| git.is_file()).unwrap();
    std::os::unix::fs::symlink(git, folder.path().join("git")).unwrap();
    if let Some(says) = mdbook {
        let path = folder.path().join("mdbook");
        fs::write(&path, format!("#!/bin/sh\necho {says}\n")).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    folder
}

#[test]
fn a_book_without_mdbook_says_in_a_line_what_to_install() {
    let course = course(1);
    for (mdbook, why) in [
        (None, "mdbook is missing"),
        (
            Some("mdbook v0.4.40"),
            "mdbook v0.4.40 is too old for the book",
        ),
    ] {
        let programs = programs(mdbook);
        let line = format!("{why}; install it with: cargo install mdbook --locked\n");
        for args in [&["book"][..], &["book", "--test"]] {
            let output = xtask(course.path(), args)
                .env("PATH", programs.path())
                .output()
                .unwrap();
            assert_eq!(said(&output), (Some(1), String::new(), line.clone()));
        }
    }
}
