//! Times in the user's words, and what is left of the sentence.
//!
//! Everybody says it differently. Invariant: what is scheduled is in the user's own words.

use super::*;

#[test]
fn times_become_fields_and_the_rest_is_the_prompt() {
    for (text, cron, prompt) in [
        (
            "Schedule a task to print the current date every 2 minutes",
            "*/2 * * * *",
            "print the current date",
        ),
        (
            "every five minutes, list the Python files",
            "*/5 * * * *",
            "list the Python files",
        ),
        (
            "Please print the date every minute",
            "* * * * *",
            "print the date",
        ),
        (
            "every other hour run the tests",
            "0 */2 * * *",
            "run the tests",
        ),
        (
            "show the git status every day at 9:30",
            "30 9 * * *",
            "show the git status",
        ),
        (
            "every Monday at 8 am, summarize README.md",
            "0 8 * * 1",
            "summarize README.md",
        ),
        (
            "On weekdays at 17:00 remind me to go home",
            "0 17 * * 1-5",
            "remind me to go home",
        ),
        (
            "Schedule `list the files` with cron `*/5 * * * *`",
            "*/5 * * * *",
            "list the files",
        ),
        ("hourly: read README.md", "0 * * * *", "read README.md"),
    ] {
        let found = scheduled(text);
        let [(_, got), (_, said), ..] = &found[0][..] else {
            panic!("{text}")
        };
        assert_eq!((got.as_str(), said.as_str()), (cron, prompt), "{text}");
        assert_eq!(found[0][2].1, "", "{text}");
    }
    let once = &scheduled("remind me at 14:30 to call Ada")[0];
    assert_eq!(once[0].1, "30 14 * * *");
    assert_eq!(once[1].1, "remind me to call Ada");
    assert_eq!(once[2].1, "false");
    assert!(scheduled("print the date").is_empty());
}

#[test]
fn a_reminder_lies_some_minutes_ahead() {
    for (text, minutes, prompt) in [
        (
            "Create a one-shot reminder in 1 minute to check the build status",
            "1",
            "Remind me to check the build status",
        ),
        (
            "remind me of the meeting in 3 minutes",
            "3",
            "remind me of the meeting",
        ),
        (
            "In an hour, list the Python files",
            "60",
            "list the Python files",
        ),
        (
            "set a reminder 10 minutes from now: stretch",
            "10",
            "Remind me to stretch",
        ),
    ] {
        let found = &reminder(text)[0];
        assert_eq!(
            (found[0].1.as_str(), found[1].1.as_str()),
            (minutes, prompt),
            "{text}"
        );
    }
    assert!(reminder("look for a.txt in src").is_empty());
}

#[test]
fn minutes_are_added_across_hours_days_and_months() {
    for (date, minutes, fields) in [
        ("2026-11-22 10:06", 1, "7 10 22 11 *"),
        ("2026-11-22 10:59", 1, "0 11 22 11 *"),
        ("2026-11-30 23:59", 2, "1 0 1 12 *"),
        ("2026-12-31 23:30", 60, "30 0 1 1 *"),
        ("2028-02-28 23:59", 1, "0 0 29 2 *"),
    ] {
        assert_eq!(
            fields_after(date, minutes).as_deref(),
            Some(fields),
            "{date}"
        );
    }
    assert_eq!(fields_after("Permission denied", 1), None);
}
