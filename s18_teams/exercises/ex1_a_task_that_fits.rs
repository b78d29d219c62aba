//! Exercise 1 · a task that fits (10 minutes).
//!
//! Whoever is idle claims the first task there is, so the technical writer gets the database. Let a teammate prefer
//! tasks whose subject has a word of its role, in capital or small letters: `Write the API` fits an `api developer`.
//! Of several that fit it takes the first. Nothing else changes: when none fits it takes the first one it may have, so
//! that no task is left over, and what it must leave alone it leaves alone however well it fits.
//!
//! Hint: the choice and the claim must stay one step of the board. Which line of `src/work_loop.rs` makes both?
//!
//! Hint: that line takes a condition. Ask twice.

use s18_teams::CLAIM_DELAY;

use crate::desk::{Desk, only, pass};

#[tokio::test(start_paused = true)]
#[ignore = "exercise 1"]
async fn each_takes_what_fits_its_role() {
    let desk = Desk::new();
    let [docs, api, ui] =
        ["Write the docs", "Write the API", "Draw the ui"].map(|it| desk.task(it, &[]));
    for (name, role, fits) in [
        ("alice", "UI designer", ui),
        ("bob", "api developer", api),
        ("carol", "docs-writer", docs),
    ] {
        let mut mate = desk.spawn_as(name, role).await;
        let note = only(mate.idles().await);
        assert!(
            note.contains(&fits.id),
            "{name} is a {role} and should have claimed {:?}; the note was {note:?}",
            fits.subject
        );
    }
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 1"]
async fn a_part_of_a_word_is_no_word() {
    let desk = Desk::new();
    desk.task("Build the parser", &[]);
    let ui = desk.task("Draw the UI", &[]);
    let mut alice = desk.spawn_as("alice", "ui designer").await;
    let note = only(alice.idles().await);
    assert!(
        note.contains(&ui.id),
        "\"Build\" holds the letters of \"ui\" and not the word; the note was {note:?}"
    );
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 1"]
async fn what_must_be_left_alone_is_left_alone_although_it_fits() {
    let desk = Desk::new();
    let docs = desk.task("Write the docs", &[]);
    let gone = desk.task("Test the API", &[]);
    desk.lose_worktree(&gone);
    let floor = desk.task("Sweep the floor", &[]);
    desk.task("Deploy the API", &["Write the docs"]);
    pass(CLAIM_DELAY).await;
    desk.turn_begins().await;
    let new = desk.task("Write the API", &[]);
    let mut alice = desk.spawn_as("alice", "API developer").await;
    let note = only(alice.idles().await);
    assert!(
        note.contains(&docs.id),
        "of the API tasks one has lost its worktree, one is blocked, one is the lead's for now; \
         the first of the others is {:?}, and the note was {note:?}",
        docs.subject
    );
    desk.turn_ends().await;
    let mut bob = desk.spawn_as("bob", "API developer").await;
    let note = only(bob.idles().await);
    assert!(
        note.contains(&new.id),
        "the lead's turn is over and {:?} fits bob; the note was {note:?}",
        new.subject
    );
    desk.board.complete(&docs.id, "alice").unwrap();
    let mut carol = desk.spawn_as("carol", "accountant").await;
    let note = only(carol.idles().await);
    assert!(
        note.contains(&floor.id),
        "nothing fits an accountant, who should take the first one; the note was {note:?}"
    );
}
