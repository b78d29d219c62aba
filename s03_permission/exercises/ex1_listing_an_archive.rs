//! Exercise 1 · listing an archive (10 minutes).
//!
//! `tar -tf a.tar` only reads, and yet it asks. Make it pass, in the spellings people type: `tar tf a.tar`,
//! `tar -tvf a.tar`, `tar -tzf a.tgz src/`, in a pipe or alone. But tar can do much more: it writes files, starts
//! programs, and takes an archive from another machine. An entry in the list is a promise for every command line that
//! it lets through; what the promise does not cover goes on asking. Long options may go on asking, too.
//!
//! Hint: the table is `src/known.txt`; its first lines say what a row promises. A name in it may be several words, such as
//! `git log`. How many spellings are there to list?
//!
//! Hint: `man tar` has more than a hundred options. Is it easier to say what is forbidden, or what is allowed?
//!
//! Hint: `Row::knows` in `src/known.rs` makes one expression of a row. What does `format` make of the operands of `date`, and
//! what does `certain` say to a word of which only the running shell knows the text?

use std::path::Path;

use s03_permission::Decision;
use s03_permission::known::judge;

/// Asserts that this command runs without a question.
#[track_caller]
fn assert_passes(command: &str) {
    let decision = judge(command, Path::new("/srv/shop"));
    assert!(
        decision == Decision::Allow,
        "`{command}` only reads, and should not ask. The decision is {decision:?}"
    );
}

/// Asserts that this command asks.
#[track_caller]
fn assert_asks(command: &str, why: &str) {
    let decision = judge(command, Path::new("/srv/shop"));
    assert!(
        matches!(decision, Decision::Ask(_)),
        "`{command}` should ask: {why}. The decision is {decision:?}"
    );
}

#[test]
#[ignore = "exercise 1"]
fn listing_passes() {
    for command in [
        "tar -tf a.tar",
        "tar tf a.tar",
        "tar -tvf a.tar",
        "tar tvzf a.tgz",
        "tar -tJf 'my archive.tar.xz'",
        "tar -tzf a.tgz src/ README.md",
        "tar -tf a.tar | grep README | wc -l",
        "tar -tf - < a.tar",
    ] {
        assert_passes(command);
    }
}

/// The first trap: what else can stand behind `-t`.
#[test]
#[ignore = "exercise 1"]
fn what_does_more_than_list_asks() {
    assert_passes("tar -tf a.tar");
    for (command, why) in [
        ("tar -xf a.tar", "it writes files"),
        ("tar -cf a.tar .", "it writes an archive"),
        ("tar -rtf a.tar b.txt", "it adds to the archive"),
        ("tar -tf a.tar -x", "a later option may be another verb"),
        ("tar -tf a.tar --checkpoint=1 --checkpoint-action=exec=./evil", "it starts a program"),
        ("tar -tf a.tar --checkpoint-act=exec=./evil", "an abbreviation of that"),
        ("tar -tf a.tar -I ./evil", "it starts a program to unpack with"),
        ("tar -tIf ./evil a.tar", "the same, in one word"),
        ("tar -tf a.tar -F ./evil", "it starts a program between two archives"),
        ("tar -tvf a.tar --index-file=listing.txt", "it writes the listing to a file"),
        ("tar -tf evil.example:a.tar", "a name with a colon is an archive of another machine"),
        ("tar -tf a.tar > listing.txt", "it writes the listing to a file"),
    ] {
        assert_asks(command, why);
    }
}

/// The second trap: a word that nobody knows yet.
#[test]
#[ignore = "exercise 1"]
fn what_only_the_shell_knows_asks() {
    assert_passes("tar -tf a.tar");
    for (command, why) in [
        ("tar $options -tf a.tar", "the options are not known"),
        ("tar -tf $archive", "the variable may hold `evil.example:a.tar`, or several words"),
        ("tar -tf a.tar $names", "the names may be options"),
        (
            "tar -tf *.tar",
            "the second file that the star finds may be called `--checkpoint-action=exec=sh`",
        ),
    ] {
        assert_asks(command, why);
    }
}
