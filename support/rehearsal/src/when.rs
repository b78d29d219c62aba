//! Times in words as the five fields of a cron line.
//!
//! A model does not know the time, so an hour from now is worked out from what `date` prints. Invariant: a time that is not
//! understood to the last word is no time; nothing is rounded to today.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::clause::{self, Clause};
use crate::words::{Token, entry, number};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// Again and again: a cron line.
    Every(String),
    /// When this cron line comes next.
    Next(String),
    /// Once, so many minutes from now.
    In(u32),
    /// Once, so many minutes from the midnight before.
    On(u32),
}

/// A time and the tokens that say it.
pub struct Found {
    pub when: When,
    /// The first token.
    pub from: usize,
    /// The token behind the last.
    pub to: usize,
}

pub fn find(clause: &Clause) -> Option<Found> {
    let kind = |kind: &str, tokens: &[Token], at: usize| match kind {
        "clock" => clock(&tokens[at..]).map(|(_, _, len)| at + len),
        _ => None,
    };
    (0..clause.tokens.len()).find_map(|from| {
        let again = clause::find_at("when", clause, from, &kind);
        let is_once = again.is_none();
        let found = again.or_else(|| clause::find_at("once", clause, from, &kind))?;
        let (n, to) = (found.number("n").unwrap_or(1), found.end);
        let (hour, minute, _) = clock(found.tokens("at")).unwrap_or((9, 0, 0));
        let when = match found.label {
            "today" => When::On(hour * 60 + minute),
            "tomorrow" => When::On(1440 + hour * 60 + minute),
            "cron" => When::Every(clause.between(from, to).to_owned()),
            minutes if !minutes.contains(' ') => When::In(n.checked_mul(minutes.parse().ok()?)?),
            template => {
                let day = found.text("day").to_lowercase();
                let day = entry("days", day.trim_end_matches('s')).unwrap_or_default();
                let at = format!("{minute} {hour}");
                let line = template.replace("{n}", &n.to_string()).replace("{at}", &at);
                let line = line.replace("{day}", day);
                // A step does not go round evenly beyond an hour, or a day.
                let most = if template.starts_with("*/") { 60 } else { 24 };
                if template.contains("{n}") && !(1..most).contains(&n) {
                    return None;
                }
                if is_once { When::Next(line) } else { When::Every(line) }
            }
        };
        Some(Found { when, from, to })
    })
}

/// `at 9:30`, `at noon`, `at 5 pm`: the hour, the minute, and how many tokens say it.
fn clock(tokens: &[Token]) -> Option<(u32, u32, usize)> {
    static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
        let half = r"( ?)(am|pm|[ap]\.m\.?|o'clock)";
        let clock = format!(r"^at ([a-z]+|\d+)(?:[:.](\d+))?(?:{half})?(?: |$)");
        Regex::new(&clock).expect("it is one")
    });
    let said = tokens.iter().take(3).take_while(|token| !token.is_quoted());
    let said = said.map(|token| token.low.as_str()).collect::<Vec<_>>().join(" ");
    let found = CLOCK.captures(&said)?;
    let group = |at| found.get(at).map_or("", |group| group.as_str());
    let hour = match group(1) {
        "noon" => 12,
        "midnight" => 0,
        hour => number(hour)?,
    };
    let minute = if group(2).is_empty() { 0 } else { group(2).parse().ok()? };
    let hour = match hour {
        12 if group(4).starts_with('a') => 0,
        1..=11 if group(4).starts_with('p') => hour + 12,
        hour => hour,
    };
    (hour < 24 && minute < 60).then_some((hour, minute, 2 + group(3).len()))
}

impl When {
    /// The cron line, when `date` has printed this; a line that needs no clock is there without it.
    pub fn line(&self, now: &str) -> Option<String> {
        if let Self::Every(line) | Self::Next(line) = self {
            return Some(line.clone());
        }
        let fields = now.trim().split(['-', ' ', ':']).map(|field| field.parse().ok());
        let fields: Vec<u32> = fields.collect::<Option<_>>()?;
        let [mut year, mut month, mut day, hour, minute] = fields[..] else { return None };
        let minutes = match *self {
            Self::In(minutes) => minutes.saturating_add(hour * 60 + minute),
            Self::On(minutes) => minutes,
            Self::Every(_) | Self::Next(_) => return None,
        };
        for _ in 0..minutes / 1440 {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u32::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day = day % length + 1;
            month = if day == 1 { month % 12 + 1 } else { month };
            year += u32::from(day == 1 && month == 1);
        }
        Some(format!("{} {} {day} {month} *", minutes % 60, minutes / 60 % 24))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_cron_lines() {
        for (words, line) in [
            ("print it every 2 minutes", Some("*/2 * * * *")),
            ("every hour read it", Some("0 * * * *")),
            ("every day at 9:30", Some("30 9 * * *")),
            ("on weekdays at 17:00 go", Some("0 17 * * 1-5")),
            ("every monday at 5 pm", Some("0 17 * * 1")),
            ("in 10 minutes", Some("32 13 22 11 *")),
            ("in an hour", Some("22 14 22 11 *")),
            ("tomorrow at noon", Some("0 12 23 11 *")),
            ("at noon tomorrow", Some("0 12 23 11 *")),
            ("at noon", Some("0 12 * * *")),
            ("at 2pm", Some("0 14 * * *")),
            ("on monday at 8", Some("0 8 * * 1")),
            ("the report for friday at 17:30", Some("30 17 * * 5")),
            ("next tuesday at noon", Some("0 12 * * 2")),
            ("at 9 friday", Some("0 9 * * 5")),
            ("in 20 days", Some("22 13 12 12 *")),
            ("the cron */90 * * * * to print", Some("*/90 * * * *")),
            ("0 9 * * 1,3 go", Some("0 9 * * 1,3")),
            ("in 400 days", Some("22 13 27 12 *")),
            ("every 3 days", None),
            ("look at README.md", None),
        ] {
            // A Sunday.
            let found =
                find(&Clause::of(words)).and_then(|found| found.when.line("2026-11-22 13:22"));
            assert_eq!(found.as_deref(), line, "{words}");
        }
    }
}
