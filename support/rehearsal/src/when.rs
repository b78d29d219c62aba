//! Times in words as the five fields of a cron line.
//!
//! A model does not know the time, so a one-shot is worked out from what `date` prints. Invariant: a time that is not
//! understood to the last word is no time; nothing is rounded to today.

use crate::words::{Shape, Token, number};

/// When something is to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// Again and again: a cron line.
    Every(String),
    /// Once, so many minutes from now.
    In(u32),
    /// Once, on a day, at a time.
    At {
        /// The day.
        day: Day,
        /// The hour.
        hour: u32,
        /// The minute.
        minute: u32,
    },
}

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    /// Today, or tomorrow when the time is over.
    Next,
    /// So many days from now.
    In(u32),
    /// The next day of this name; 0 is Sunday.
    Weekday(u32),
}

const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// A time and the tokens that say it.
pub struct Found {
    /// The time.
    pub when: When,
    /// The first token.
    pub from: usize,
    /// The token behind the last.
    pub to: usize,
}

/// Finds a time.
pub fn find(source: &str, tokens: &[Token]) -> Option<Found> {
    (0..tokens.len()).find_map(|from| {
        let (when, len) =
            line(source, tokens, from).or_else(|| every(&tokens[from..])).or_else(|| once(&tokens[from..]))?;
        Some(Found { when, from, to: from + len })
    })
}

/// A cron line as it is.
fn line(source: &str, tokens: &[Token], from: usize) -> Option<(When, usize)> {
    const NAMED: [&str; 5] = ["@hourly", "@daily", "@weekly", "@monthly", "@yearly"];
    let start = tokens[from].start;
    let fields: Vec<&str> = source[start..].split_whitespace().take(5).collect();
    let is_field = |field: &&str| field.bytes().all(|b| b.is_ascii_digit() || b"*/,-".contains(&b));
    let is_line = fields.len() == 5 && fields.iter().all(is_field) && fields.iter().any(|field| field.contains('*'));
    let named = fields.first().filter(|word| NAMED.contains(word));
    if !is_line && named.is_none() || from > 0 && tokens[from - 1].end == start {
        return None;
    }
    let last = if is_line { fields[4] } else { fields[0] };
    let end = last.as_ptr() as usize - source.as_ptr() as usize + last.len();
    let len = tokens[from..].iter().take_while(|token| token.start < end).count();
    Some((When::Every(if is_line { fields.join(" ") } else { last.to_owned() }), len))
}

fn low(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.low.as_str())
}

/// `every 2 minutes`, `daily at 9`, `on mondays`.
fn every(tokens: &[Token]) -> Option<(When, usize)> {
    let first = match low(tokens, 0) {
        "every" | "each" | "on" => 1,
        "daily" | "hourly" | "weekly" => 0,
        _ => return None,
    };
    let is_on = low(tokens, 0) == "on";
    let count = number(low(tokens, first)).filter(|_| !is_on);
    let at = first + usize::from(count.is_some());
    let (step, unit) = (count.unwrap_or(1), low(tokens, at));
    let each = |one: &str, line: String| Some((When::Every(if step == 1 { one.to_owned() } else { line }), at + 1));
    let days = match unit {
        "minute" | "minutes" if !is_on && (1..60).contains(&step) => {
            return each("* * * * *", format!("*/{step} * * * *"));
        }
        "hour" | "hours" | "hourly" if !is_on && (1..24).contains(&step) => {
            return each("0 * * * *", format!("0 */{step} * * *"));
        }
        "day" | "days" | "daily" if !is_on && step == 1 => "*".to_owned(),
        "week" | "weekly" if !is_on && step == 1 => "1".to_owned(),
        "weekday" | "weekdays" => "1-5".to_owned(),
        "weekend" | "weekends" => "0,6".to_owned(),
        // `on monday` is once, `on mondays` and `every monday` are not.
        _ if is_on && !unit.ends_with('s') => return None,
        _ => DAYS.iter().position(|day| unit.trim_end_matches('s') == *day)?.to_string(),
    };
    let (hour, minute, len) = clock(&tokens[at + 1..]).unwrap_or((9, 0, 0));
    Some((When::Every(format!("{minute} {hour} * * {days}")), at + 1 + len))
}

/// `in 10 minutes`, `an hour from now`, `tomorrow at noon`, `at 9 on friday`.
fn once(tokens: &[Token]) -> Option<(When, usize)> {
    if let Some(found) = from_now(tokens) {
        return Some(found);
    }
    let (day, len) = day(tokens).unwrap_or((Day::Next, 0));
    let Some((hour, minute, more)) = clock(&tokens[len..]) else {
        return (len > 0 && low(tokens, 0) != "today").then_some((When::At { day, hour: 9, minute: 0 }, len));
    };
    let rest = &tokens[len + more..];
    // `at 9 every day`
    if let (0, "every", Some((When::Every(line), end))) = (len, low(rest, 0), every(rest)) {
        let days = line.strip_prefix("0 9 ")?;
        return Some((When::Every(format!("{minute} {hour} {days}")), more + end));
    }
    // `at noon tomorrow`: the day behind the time.
    let behind = self::day(rest).filter(|_| len == 0);
    let (day, extra) = behind.unwrap_or((day, 0));
    Some((When::At { day, hour, minute }, len + more + extra))
}

fn from_now(tokens: &[Token]) -> Option<(When, usize)> {
    let first = usize::from(low(tokens, 0) == "in");
    if first == 1 && ["half", "an", "hour"].iter().zip(1..).all(|(word, at)| low(tokens, at) == *word) {
        return Some((When::In(30), 4));
    }
    let count = if matches!(low(tokens, first), "a" | "an") { 1 } else { number(low(tokens, first))? };
    let minutes = match low(tokens, first + 1) {
        "minute" | "minutes" | "min" | "mins" => 1,
        "hour" | "hours" => 60,
        "day" | "days" => 24 * 60,
        "week" | "weeks" => 7 * 24 * 60,
        _ => return None,
    };
    let is_from_now = low(tokens, first + 2) == "from" && low(tokens, first + 3) == "now";
    let len = first + 2 + if is_from_now { 2 } else { 0 };
    (first == 1 || is_from_now).then_some((When::In(count.checked_mul(minutes)?), len))
}

/// `today`, `tomorrow`, `on friday`, `for friday`, `next friday`, `friday`.
fn day(tokens: &[Token]) -> Option<(Day, usize)> {
    match low(tokens, 0) {
        "today" | "tonight" => return Some((Day::In(0), 1)),
        "tomorrow" => return Some((Day::In(1), 1)),
        _ => {}
    }
    let skip = tokens.iter().take_while(|token| token.is("on for next this")).count();
    let day = DAYS.iter().position(|day| *day == low(tokens, skip))?;
    Some((Day::Weekday(day as u32), skip + 1))
}

/// `at 9:30`, `at noon`, `at 5 pm`: the hour, the minute, and how many tokens say it.
fn clock(tokens: &[Token]) -> Option<(u32, u32, usize)> {
    let word = tokens.get(1).filter(|_| low(tokens, 0) == "at")?;
    if matches!(word.shape, Shape::Path | Shape::Quoted | Shape::Code) {
        return None;
    }
    match word.low.as_str() {
        "noon" => return Some((12, 0, 2)),
        "midnight" => return Some((0, 0, 2)),
        _ => {}
    }
    let digits = ["am", "pm", "a.m", "p.m"].iter().find_map(|half| word.low.strip_suffix(half)).unwrap_or(&word.low);
    let (hour, minute): (u32, u32) = match digits.split_once([':', '.']) {
        Some((hour, minute)) => (hour.parse().ok()?, minute.parse().ok()?),
        None => (number(digits)?, 0),
    };
    let half = if digits.len() < word.low.len() { &word.low[digits.len()..] } else { low(tokens, 2) };
    let is_half = matches!(half, "am" | "a.m" | "pm" | "p.m") || half.starts_with("o'clock");
    let hour = match hour {
        12 if is_half && half.starts_with('a') => 0,
        1..=11 if is_half && half.starts_with('p') => hour + 12,
        hour => hour,
    };
    let len = if is_half && digits.len() == word.low.len() { 3 } else { 2 };
    (hour < 24 && minute < 60).then_some((hour, minute, len))
}

impl When {
    /// The cron line, when `date` has printed this.
    pub fn line(&self, now: &str) -> Option<String> {
        if let Self::Every(line) = self {
            return Some(line.clone());
        }
        let mut parts = now.trim().split(['-', ' ', ':']).map(|part| part.parse::<i64>().ok());
        let mut next = || parts.next().flatten();
        let (year, month, day, hour, minute) = (next()?, next()?, next()?, next()?, next()?);
        let today = days_from_civil(year, month, day);
        let now = today * 1440 + hour * 60 + minute;
        let then = match self {
            Self::Every(_) => return None,
            Self::In(minutes) => now + i64::from(*minutes),
            Self::At { day, hour, minute } => {
                let time = i64::from(hour * 60 + minute);
                let ahead = match day {
                    Day::In(days) => i64::from(*days),
                    Day::Next => i64::from(today * 1440 + time <= now),
                    Day::Weekday(wanted) => {
                        // 1970-01-01 was a Thursday.
                        let ahead = (i64::from(*wanted) - (today + 4)).rem_euclid(7);
                        if ahead == 0 && today * 1440 + time <= now { 7 } else { ahead }
                    }
                };
                (today + ahead) * 1440 + time
            }
        };
        let (_, month, day) = civil_from_days(then.div_euclid(1440));
        let minutes = then.rem_euclid(1440);
        Some(format!("{} {} {day} {month} *", minutes % 60, minutes / 60))
    }
}

/// Days since 1970-01-01.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tokens;

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
            ("at noon", Some("0 12 23 11 *")),
            ("at 2pm", Some("0 14 22 11 *")),
            ("on monday at 8", Some("0 8 23 11 *")),
            ("the report for friday at 17:30", Some("30 17 27 11 *")),
            ("next tuesday at noon", Some("0 12 24 11 *")),
            ("at 9 friday", Some("0 9 27 11 *")),
            ("in 20 days", Some("22 13 12 12 *")),
            ("the cron */90 * * * * to print", Some("*/90 * * * *")),
            ("every 3 days", None),
            ("look at README.md", None),
        ] {
            // A Sunday.
            let found = find(words, &tokens(words)).and_then(|found| found.when.line("2026-11-22 13:22"));
            assert_eq!(found.as_deref(), line, "{words}");
        }
    }
}
