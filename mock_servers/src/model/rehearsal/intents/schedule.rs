//! Prompts for later: every few minutes, at a time of day, some minutes from now.
//!
//! A model does not know what time it is, so for `in 10 minutes` it looks at the clock first.
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::phrases::first_line;
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::table::{Filling, Intent, Known, On, PART, Part, ROW, Way, bash, way};
use crate::model::rehearsal::{task_words, time_words};

const BY: &[Way] = &[way(
    "schedule_cron",
    &[
        ("cron", "{cron}"),
        ("prompt", "{prompt}"),
        ("recurring", "{recurring|json}"),
        ("durable", "{durable|json}"),
    ],
)];

const CLOCK: &[Part] = &[Part {
    row: "look at the clock",
    on: On::Nothing,
    ..PART
}];

const LISTED: &[Part] = &[Part {
    row: "list the scheduled prompts",
    on: On::Nothing,
    ..PART
}];

/// The minute that is so many minutes ahead of the clock.
fn minute(slots: &Slots, known: &[Known]) -> Vec<Filling> {
    let minutes = slots
        .get("minutes")
        .and_then(|minutes| minutes.parse().ok());
    let clocks = known.iter().rev().filter(|known| known.tool == "bash");
    let cron = clocks
        .filter_map(|clock| time_words::fields_after(clock.content, minutes?))
        .next();
    cron.map(|cron| vec![("cron", cron), ("recurring", "false".to_owned())])
        .into_iter()
        .collect()
}

/// The scheduled prompts that the words mean.
fn meant(slots: &Slots, known: &[Known]) -> Vec<Filling> {
    let listing = known.iter().rev().find(|known| known.tool == "list_crons");
    let lines: Vec<&str> = listing
        .into_iter()
        .flat_map(|listing| listing.content.lines())
        .filter(|line| line.starts_with("cron_"))
        .collect();
    let which = slots.get("which").unwrap_or("").to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| which.contains(word));
    let is_once = |line: &&str| line.contains(", once,");
    let chosen: Vec<&str> = if says(&["recurring", "repeating", "every"]) {
        lines
            .iter()
            .copied()
            .filter(|line| !is_once(line))
            .collect()
    } else if says(&["one-shot", "once", "reminder"]) {
        lines.iter().copied().filter(is_once).collect()
    } else {
        let named = |line: &&str| {
            which.split_whitespace().any(|word| line.starts_with(word))
                || task_words::fits(line, &which)
        };
        let named: Vec<&str> = lines.iter().copied().filter(named).collect();
        if named.is_empty() { lines } else { named }
    };
    let most = if says(&["all", "both", "jobs", "reminders", "every"]) {
        usize::MAX
    } else {
        1
    };
    let ids = chosen
        .into_iter()
        .take(most)
        .filter_map(|line| line.split_whitespace().next());
    ids.map(|id| vec![("cron_id", id.to_owned())]).collect()
}

fn sentence(content: &str) -> String {
    let line = first_line(content);
    let mut letters = line.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    format!("{}.", first.into_iter().chain(letters).collect::<String>())
}

/// The rows.
pub const SCHEDULE: &[Intent] = &[
    Intent {
        name: "cancel a scheduled prompt",
        needs: "cancel_cron",
        says: &[
            "cancel|stop|delete|remove|drop|unschedule|kill|clear {which:text} job|jobs|cron|crons|schedule|schedules|reminder|reminders|prompt|prompts",
            "cancel|unschedule {which:text}",
            "cancel|stop|delete|remove|drop|clear job|cron|schedule|reminder|jobs|crons|reminders|it",
        ],
        by: &[way("cancel_cron", &[("job_id", "{cron_id}")])],
        changes: true,
        parts: LISTED,
        later: Some(meant),
        says_of: Some(sentence),
        told: "{said}",
        doing: "cancel the scheduled prompt",
        ..ROW
    },
    Intent {
        name: "list the scheduled prompts",
        needs: "list_crons",
        says: &[
            "list|show|display|what|which|see|view|check|verify|get|is|are|confirm * crons|cron|scheduled|schedule|schedules|reminders|list_crons",
            "verify|confirm|check|list * with|using|by list_crons",
            "^ verify|confirm|check it|that|this $",
        ],
        by: &[way("list_crons", &[])],
        told: "{printed}",
        doing: "list the scheduled prompts",
        ..ROW
    },
    Intent {
        name: "set a reminder",
        needs: "schedule_cron",
        says: &[
            "^ * in {n:number} minutes|minute|min|mins|hours|hour|seconds|second",
            "^ * in minute|hour",
            "^ * {n:number} minutes|minute|hours|hour from now",
        ],
        by: BY,
        changes: true,
        whole: true,
        splits: Some(time_words::reminder),
        parts: CLOCK,
        later: Some(minute),
        says_of: Some(sentence),
        told: "{said}",
        doing: "schedule “{prompt}”",
        ..ROW
    },
    Intent {
        name: "schedule a prompt",
        needs: "schedule_cron",
        says: &[
            "^ * every|each {n:number} minutes|minute|min|hours|hour",
            "^ * every|each minute|hour|day|week|weekday|morning|evening|night|other|monday|tuesday|wednesday|thursday|friday|saturday|sunday",
            "^ * daily|hourly|nightly|weekdays",
            "^ remind|schedule|wake|alert * at {time:word}",
            "schedule * cron|@daily|@hourly|@weekly",
            "schedule {job:text} with|on|at {fields:quote}",
        ],
        by: BY,
        changes: true,
        whole: true,
        splits: Some(time_words::scheduled),
        says_of: Some(sentence),
        told: "{said}",
        doing: "schedule “{prompt}”",
        ..ROW
    },
    Intent {
        name: "look at the clock",
        by: &[bash(&[("command", "date '+%Y-%m-%d %H:%M'")])],
        doing: "look at the clock",
        ..ROW
    },
    Intent {
        name: "remind the user",
        needs: "schedule_cron",
        says: &[
            "^ remind me|user|us to|of|about|that {what:text}",
            "^ remind me|user|us {what:text}",
        ],
        told: "Reminder: {what}.",
        ..ROW
    },
];
