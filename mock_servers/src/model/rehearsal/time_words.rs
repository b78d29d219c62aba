//! When something shall happen, in the user's words: `every 2 minutes`, `daily at 9`, `in 10 minutes`.
//!
//! Invariant: what is said about the time is no part of what is to be done then.

use super::table::Filling;

/// Words that ask for scheduling and are no part of what is to be done.
const POLITE: &[&str] = &[
    "please", "schedule", "i", "want", "need", "you", "to", "and", "then", "also", "that", "can",
    "could",
];

/// What is scheduled, and words that stand before it: `create a recurring job to …`.
const NOUNS: &[&str] = &["task", "job", "prompt", "reminder", "timer", "alarm"];
const BEFORE_NOUNS: &[&str] = &[
    "schedule",
    "create",
    "set",
    "add",
    "make",
    "start",
    "run",
    "up",
    "a",
    "an",
    "the",
    "new",
    "one-shot",
    "oneshot",
    "one-time",
    "single",
    "recurring",
    "repeating",
    "durable",
    "cron",
    "please",
    "me",
    "i",
    "want",
    "need",
    "give",
    "once",
];
const BEHIND_NOUNS: &[&str] = &["to", "that", "which", "for", "of", "about", "called", "and"];

/// What is asked for and when.
struct Words {
    /// The words, and which of them say when.
    words: Vec<(String, bool)>,
}

/// The slots of a prompt that fires at times the words give: `cron`, `prompt`, `recurring`, `durable`.
pub fn scheduled(text: &str) -> Vec<Filling> {
    let mut words = Words::of(text);
    let Some((cron, recurring)) = words.cron() else {
        return Vec::new();
    };
    vec![vec![
        ("cron", cron),
        ("prompt", words.prompt()),
        ("recurring", flag(!recurring, "false")),
        ("durable", durable(text)),
    ]]
}

/// The slots of a reminder some minutes from now: `minutes`, `prompt`, `durable`.
pub fn reminder(text: &str) -> Vec<Filling> {
    let mut words = Words::of(text);
    let Some(minutes) = words.minutes() else {
        return Vec::new();
    };
    vec![vec![
        ("minutes", minutes.to_string()),
        ("prompt", words.prompt()),
        ("durable", durable(text)),
    ]]
}

/// The five fields of the minute that lies `minutes` behind what `date '+%Y-%m-%d %H:%M'` printed.
pub fn fields_after(date: &str, minutes: u32) -> Option<String> {
    let mut numbers = date.trim().split(['-', ' ', ':']).map(str::parse::<u32>);
    let mut next = || numbers.next()?.ok();
    let (year, mut month, mut day, hour, minute) = (next()?, next()?, next()?, next()?, next()?);
    let total = hour * 60 + minute + minutes;
    for _ in 0..total / (24 * 60) {
        day += 1;
        if day > days_of(year, month) {
            (day, month) = (1, month % 12 + 1);
        }
    }
    let (hour, minute) = (total / 60 % 24, total % 60);
    Some(format!("{minute} {hour} {day} {month} *"))
}

fn days_of(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn flag(is_set: bool, value: &str) -> String {
    if is_set {
        value.to_owned()
    } else {
        String::new()
    }
}

fn durable(text: &str) -> String {
    let lower = text.to_lowercase();
    let says = [
        "durable",
        "permanent",
        "restart",
        "outlive",
        "across sessions",
    ];
    flag(says.iter().any(|word| lower.contains(word)), "true")
}

impl Words {
    fn of(text: &str) -> Self {
        let words = text.split_whitespace();
        Self {
            words: words.map(|word| (word.to_owned(), false)).collect(),
        }
    }

    /// A word without its marks.
    fn bare(&self, at: usize) -> String {
        let word = self.words.get(at).map_or("", |(word, _)| word);
        let marks = |c: char| {
            matches!(
                c,
                ',' | '.' | '!' | '?' | ';' | '"' | '\'' | '`' | '(' | ')'
            )
        };
        word.trim_matches(marks)
            .trim_end_matches(':')
            .to_lowercase()
    }

    fn take(&mut self, from: usize, to: usize) {
        self.words[from..to]
            .iter_mut()
            .for_each(|(_, says_when)| *says_when = true);
    }

    /// The five fields, and whether they are meant again and again.
    fn cron(&mut self) -> Option<(String, bool)> {
        if let Some(fields) = self.given() {
            return Some((fields, true));
        }
        let (hour, minute) = self.time().unwrap_or((9, 0));
        for at in 0..self.words.len() {
            let word = self.bare(at);
            let days = match word.as_str() {
                "daily" | "nightly" => Some("*".to_owned()),
                "hourly" | "minutely" => {
                    self.take(at, at + 1);
                    let cron = if word == "hourly" {
                        "0 * * * *"
                    } else {
                        "* * * * *"
                    };
                    return Some((cron.to_owned(), true));
                }
                "weekdays" => Some("1-5".to_owned()),
                "every" | "each" => match self.every(at) {
                    Some(Every::Fields(fields)) => return Some((fields, true)),
                    Some(Every::Days(days)) => Some(days),
                    None => None,
                },
                _ => None,
            };
            if let Some(days) = days {
                let before = at > 0 && matches!(self.bare(at - 1).as_str(), "on" | "every");
                self.take(at - usize::from(before), at + 1);
                return Some((format!("{minute} {hour} * * {days}"), true));
            }
        }
        let says_time = self.words.iter().any(|(_, says_when)| *says_when);
        says_time.then(|| (format!("{minute} {hour} * * *"), false))
    }

    /// Five fields as they stand: `*/5 * * * *`, or `@daily`.
    fn given(&mut self) -> Option<String> {
        let is_field = |word: &str| {
            let known = |c: char| c.is_ascii_digit() || matches!(c, '*' | '/' | '-' | ',');
            !word.is_empty() && word.chars().all(known)
        };
        for at in 0..self.words.len() {
            let word = |at: usize| {
                self.words[at]
                    .0
                    .trim_matches(['"', '`', '\'', '(', ')'])
                    .to_owned()
            };
            let to = match word(at) {
                name if name.starts_with('@') && name.len() > 1 => at + 1,
                _ if at + 5 <= self.words.len() && (at..at + 5).all(|at| is_field(&word(at))) => {
                    at + 5
                }
                _ => continue,
            };
            let fields: Vec<String> = (at..to).map(word).collect();
            let lead = (1..=3).take_while(|back| {
                at >= *back
                    && matches!(
                        self.bare(at - back).as_str(),
                        "with" | "on" | "at" | "cron" | "the" | "schedule"
                    )
            });
            let from = at - lead.count().min(at);
            self.take(from, to);
            return Some(fields.join(" "));
        }
        None
    }

    /// `every 2 minutes`, `every hour`, `every monday`, `every day`.
    fn every(&mut self, at: usize) -> Option<Every> {
        let number = number(&self.bare(at + 1));
        let unit_at = at + 1 + usize::from(number.is_some());
        let (unit, count) = (self.bare(unit_at), number.unwrap_or(1));
        let step = if count == 1 {
            "*".to_owned()
        } else {
            format!("*/{count}")
        };
        let fields = match unit.trim_end_matches('s') {
            "minute" | "min" => format!("{step} * * * *"),
            "hour" => format!("0 {step} * * *"),
            "day" | "morning" | "night" | "evening" => {
                self.take(at, unit_at + 1);
                return Some(Every::Days("*".to_owned()));
            }
            "weekday" => {
                self.take(at, unit_at + 1);
                return Some(Every::Days("1-5".to_owned()));
            }
            "week" => {
                self.take(at, unit_at + 1);
                return Some(Every::Days("1".to_owned()));
            }
            day => {
                let days = [
                    "sunday",
                    "monday",
                    "tuesday",
                    "wednesday",
                    "thursday",
                    "friday",
                    "saturday",
                ];
                let found = days.iter().position(|name| *name == day)?;
                self.take(at, unit_at + 1);
                return Some(Every::Days(found.to_string()));
            }
        };
        self.take(at, unit_at + 1);
        Some(Every::Fields(fields))
    }

    /// `at 9`, `at 14:30`, `at 9 am`, `at noon`.
    fn time(&mut self) -> Option<(u32, u32)> {
        let at = (0..self.words.len()).find(|at| self.bare(*at) == "at")?;
        let word = self.bare(at + 1);
        let (clock, half) = match word.find(['a', 'p']).filter(|_| word.ends_with('m')) {
            Some(end) => (word[..end].to_owned(), word[end..].to_owned()),
            None => (word.clone(), self.bare(at + 2)),
        };
        let (hour, minute) = clock.split_once(':').unwrap_or((&clock, "0"));
        let (hour, minute) = match word.as_str() {
            "noon" => (12, 0),
            "midnight" => (0, 0),
            _ => (hour.parse().ok()?, minute.parse().ok()?),
        };
        let hour = match half.as_str() {
            "pm" if hour < 12 => hour + 12,
            "am" if hour == 12 => 0,
            _ => hour,
        };
        let apart = matches!(half.as_str(), "am" | "pm") && !word.ends_with('m');
        self.take(at, at + 2 + usize::from(apart));
        (hour < 24 && minute < 60).then_some((hour, minute))
    }

    /// `in 10 minutes`, `in an hour`, `5 minutes from now`.
    fn minutes(&mut self) -> Option<u32> {
        for at in 0..self.words.len() {
            let word = self.bare(at);
            let behind_in = matches!(word.as_str(), "in" | "after");
            let (number_at, end) = match behind_in {
                true => (at + 1, 2),
                false => (at, 1),
            };
            let Some(count) = number(&self.bare(number_at)) else {
                continue;
            };
            let unit = self.bare(number_at + 1);
            let minutes = match unit.trim_end_matches('s') {
                "minute" | "min" => count,
                "hour" => 60 * count,
                "second" | "sec" => count.div_ceil(60),
                _ => continue,
            };
            let from_now = self.bare(number_at + 2) == "from" && self.bare(number_at + 3) == "now";
            if behind_in || from_now {
                let to = at + end + 1 + 2 * usize::from(from_now);
                self.take(at, to.min(self.words.len()));
                return Some(minutes.max(1));
            }
        }
        None
    }

    /// What is to be done, without what says when and that it shall be scheduled.
    fn prompt(&self) -> String {
        let kept: Vec<&str> = self
            .words
            .iter()
            .filter(|(_, says_when)| !says_when)
            .map(|(word, _)| word.as_str())
            .collect();
        let bare = |word: &str| word.trim_matches([',', ':', '.']).to_lowercase();
        let is = |list: &[&str], word: &str| list.contains(&bare(word).as_str());
        let before = kept
            .iter()
            .take_while(|word| is(BEFORE_NOUNS, word))
            .count();
        let lead = match kept.get(before).is_some_and(|word| is(NOUNS, word)) {
            true => {
                let behind = kept[before + 1..].iter();
                before + 1 + behind.take_while(|word| is(BEHIND_NOUNS, word)).count()
            }
            false => kept.iter().take_while(|word| is(POLITE, word)).count(),
        };
        let text = kept[lead..].join(" ");
        let text = text.trim_matches(|c: char| {
            matches!(c, ',' | '.' | ':' | '"' | '`' | '\'') || c.is_whitespace()
        });
        // `remind me to …` and `a reminder to …` are reminders when they fire, too.
        let reminds = kept[..lead].iter().any(|word| bare(word) == "reminder");
        let says_to = kept[..lead]
            .last()
            .is_none_or(|word| !is(&["of", "about", "for"], word));
        match reminds && !text.is_empty() {
            true if says_to => format!("Remind me to {text}"),
            true => format!("Remind me of {text}"),
            false => text.to_owned(),
        }
    }
}

enum Every {
    /// All five fields.
    Fields(String),
    /// Which days of the week; the time is said elsewhere.
    Days(String),
}

fn number(word: &str) -> Option<u32> {
    let spelled = [
        "a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    match word {
        "an" => Some(1),
        "other" => Some(2),
        _ => word.parse().ok().or_else(|| {
            let at = spelled.iter().position(|name| *name == word)?;
            u32::try_from(at.max(1)).ok()
        }),
    }
}

#[cfg(test)]
mod tests;
