//! Exercise 3 · as edited (15 minutes).
//!
//! cron.json is a file that people open. Whoever changes `"cron": "0 9 * * *"` to `"0 17 * * *"` in it expects the next
//! firing at five, but the stored `next` still says nine. Let the fields win: a durable job whose `cron` was changed by
//! hand follows the new fields from the next look at the clock on, and a firing that only the old fields meant does not
//! come. Fields that cannot be read change nothing: the job keeps the time it has.
//!
//! A job that nobody has edited must not be touched. What it missed while nothing ran was due by its own fields, and fires;
//! a cron.json that an older program wrote is not one that was edited.
//!
//! Hint: `next` was worked out from fields. Which ones, has to be kept beside it; src/job.rs says when it is worked out.
//!
//! Hint: a stored moment that is no longer right is known already, for a clock that was set back: look for
//! `is_ahead_of` in src/job.rs.

use std::fs;

use serde_json::json;

use crate::desk::{Desk, moment};

impl Desk {
    /// Edits cron.json as a person does.
    fn edit(&self, from: &str, to: &str) {
        let path = self.path();
        let text = fs::read_to_string(&path).unwrap();
        let [from, to] = [from, to].map(|cron| format!("\"cron\": \"{cron}\""));
        assert!(text.contains(&from), "{from} is not in cron.json:\n{text}");
        fs::write(path, text.replace(&from, &to)).unwrap();
    }
}

const JOB: &str = "[Scheduled] water the plants";

#[tokio::test]
#[ignore = "exercise 3"]
async fn edited_fields_count_from_the_next_look_on() {
    let desk = Desk::new();
    let session = desk.session();
    let job = json!({"cron": "0 12 * * *", "prompt": "water the plants", "durable": true});
    session.told("schedule_cron", job).await;
    desk.edit("0 12 * * *", "0 17 * * *");
    session.notices.take();
    desk.set("2026-02-27T12:00:00");
    assert_eq!(
        session.notices.take(),
        [""; 0],
        "twelve o'clock was edited to five, and it fired at twelve"
    );
    desk.set("2026-02-27T17:00:00");
    assert_eq!(session.notices.take(), [JOB], "it was to fire at five");
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn edited_fields_count_after_a_restart_and_what_was_missed_fires_all_the_same() {
    let desk = Desk::new();
    let session = desk.session();
    for (cron, prompt) in [("0 12 * * *", "water the plants"), ("0 13 * * *", "feed the cat")] {
        let job = json!({"cron": cron, "prompt": prompt, "durable": true});
        session.told("schedule_cron", job).await;
    }
    drop(session);
    desk.edit("0 12 * * *", "0 17 * * *");
    desk.set("2026-02-27T14:00:00");
    let next = desk.session();
    assert_eq!(
        next.notices.take(),
        ["[Scheduled] feed the cat\n<missed-at>2026-02-27 13:00; nothing ran then</missed-at>"],
        "the cat's one o'clock was missed and is run now; the plants were edited to five"
    );
    desk.set("2026-02-27T17:00:00");
    assert_eq!(next.notices.take(), [JOB], "it was to fire at five");
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn an_older_program_s_file_was_not_edited_and_fields_that_are_none_change_nothing() {
    let desk = Desk::new();
    fs::create_dir_all(desk.ws.root().join(".harness")).unwrap();
    let job = |id: &str| json!({"id": id, "cron": "0 12 * * *", "prompt": id, "next": moment("2026-02-27T12:00:00")});
    let content = json!({"version": 1, "jobs": [job("old"), job("broken")]});
    let path = desk.path();
    fs::write(&path, content.to_string()).unwrap();
    let session = desk.session();
    desk.set("2026-02-27T12:00:00");
    assert_eq!(
        session.notices.take(),
        ["[Scheduled] old", "[Scheduled] broken"],
        "a file without your field is no edited file"
    );
    // Now the harness has written it. One is edited to nonsense, the other to five o'clock.
    let mut stored = desk.stored();
    stored["jobs"][0]["cron"] = json!("0 17 * * *");
    stored["jobs"][1]["cron"] = json!("every now and then");
    fs::write(&path, stored.to_string()).unwrap();
    desk.set("2026-02-27T17:00:00");
    session.notices.take();
    desk.set("2026-02-28T12:00:00");
    assert_eq!(
        session.notices.take(),
        ["[Scheduled] broken"],
        "fields that cannot be read were to leave the time of the job alone; `old` was edited to five o'clock"
    );
}
