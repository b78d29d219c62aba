//! A schedule: five fields that say at which minutes.
//!
//! The fields are crontab(5)'s: minute, hour, day of month, month, day of week, in local time, with names, lists, ranges
//! and steps; 0 and 7 are Sunday. A library reads them. Invariant: a schedule that never fires is refused when it is
//! created.

use anyhow::{Result, anyhow, bail};
use cronexpr::{Crontab, FallbackTimezoneOption, MakeTimestamp, ParseOptions, parse_crontab_with};
use jiff::{Timestamp, Zoned};

/// The nicknames of crontab(5), but for `@reboot`: a session is no boot.
const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// When something happens.
#[derive(Clone, Debug)]
pub struct Schedule {
    crontab: Crontab,
    /// True if the hour field is no wildcard. Then it fires once when the clock is set back and an hour repeats.
    names_hours: bool,
}

impl Schedule {
    /// Reads five fields, or a nickname such as `@daily`.
    ///
    /// # Errors
    /// When they cannot be read, or no minute ever matches them.
    pub fn parse(text: &str) -> Result<Self> {
        let text = kit::one_line(text);
        let nickname = NICKNAMES.iter().find(|(name, _)| *name == text.to_lowercase());
        let fields = nickname.map_or(text.as_str(), |(_, fields)| fields);
        if fields.split(' ').count() != 5 {
            bail!(
                "{text:?} is no schedule; give five fields (minute hour day month weekday) or @daily"
            );
        }
        let schedule = Self::read(fields)
            .map_err(|error| anyhow!("{text:?} is no schedule: {}", reason(&error)))?;
        // Whether a date ever matches does not depend on the current time.
        match schedule.after(Timestamp::UNIX_EPOCH) {
            Some(_) => Ok(schedule),
            None => bail!("{text:?} never comes: no date matches it"),
        }
    }

    /// Reads five fields, and a time zone behind them when there is one.
    fn read(fields: &str) -> Result<Self, cronexpr::Error> {
        let mut options = ParseOptions::default();
        options.fallback_timezone_option = FallbackTimezoneOption::System;
        let names_hours = !fields.split(' ').nth(1).is_some_and(|hour| hour.starts_with('*'));
        Ok(Self {
            crontab: parse_crontab_with(fields, options)?,
            names_hours,
        })
    }

    /// The first matching minute after the minute of this moment.
    pub fn after(&self, moment: Timestamp) -> Option<Timestamp> {
        let next = |moment| self.crontab.find_next(MakeTimestamp(moment)).ok();
        let mut found = next(moment)?;
        while self.names_hours && comes_again(&found) {
            found = next(found.timestamp())?;
        }
        Some(found.timestamp())
    }
}

/// True in the second of two equal hours, in the night when the clock is set back.
fn comes_again(moment: &Zoned) -> bool {
    let shown = moment.time_zone().to_ambiguous_zoned(moment.datetime());
    shown.is_ambiguous() && shown.earlier().is_ok_and(|earlier| earlier != *moment)
}

/// The library's sentence without its picture of the text.
fn reason(error: &cronexpr::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches([' ', '^']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(fields: &str, moment: &str) -> String {
        let next = Schedule::parse(fields).unwrap().after(moment.parse().unwrap());
        // The machine's own zone, so that the test means the same everywhere.
        let zoned = next.unwrap().to_zoned(jiff::tz::TimeZone::system());
        zoned.strftime("%a %d %H:%M").to_string()
    }

    /// A moment in the machine's own zone.
    fn local(time: &str) -> String {
        let civil: jiff::civil::DateTime = time.parse().unwrap();
        let zoned = civil.to_zoned(jiff::tz::TimeZone::system()).unwrap();
        zoned.timestamp().to_string()
    }

    #[test]
    fn names_lists_ranges_steps_and_nicknames_are_read_as_crontab_does() {
        for (fields, expected) in [
            ("0 9 * * 0", "Sun 01 09:00"),
            ("0 9 * * 7", "Sun 01 09:00"),
            ("0 9 * * SUN", "Sun 01 09:00"),
            ("* * * * *", "Fri 27 10:07"),
            ("*/2 * * * *", "Fri 27 10:08"),
            ("5-20/5 * * * *", "Fri 27 10:10"),
            ("1,30 11 * * mon-fri", "Fri 27 11:01"),
            ("0 0 */2 * *", "Sun 01 00:00"),
            ("@daily", "Sat 28 00:00"),
            ("@hourly", "Fri 27 11:00"),
            ("0 9 1 jan *", "Fri 01 09:00"),
            // A day of the month or a day of the week: either will do.
            ("0 9 13 * mon", "Mon 02 09:00"),
        ] {
            assert_eq!(next(fields, &local("2026-02-27T10:06:52")), expected, "{fields}");
        }
    }

    /// The next times of a schedule in Berlin, in UTC.
    fn in_berlin(fields: &str, from: &str, count: usize) -> Vec<String> {
        let schedule = Schedule::read(&format!("{fields} Europe/Berlin")).unwrap();
        let mut moment: Timestamp = from.parse().unwrap();
        let mut times = Vec::new();
        for _ in 0..count {
            moment = schedule.after(moment).unwrap();
            times.push(moment.strftime("%d %H:%M").to_string());
        }
        times
    }

    #[test]
    fn a_time_that_a_night_has_twice_fires_once_and_one_that_it_has_not_the_next_day() {
        let (spring, autumn) = ("2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z");
        let times = |fields, from, count| in_berlin(fields, from, count).join(", ");
        assert_eq!(times("30 2 * * *", autumn, 2), "25 00:30, 26 01:30");
        // Every hour is meant.
        let night = "2026-10-25T00:00:00Z";
        assert_eq!(times("30 * * * *", night, 3), "25 00:30, 25 01:30, 25 02:30");
        assert_eq!(times("30 2 * * *", spring, 1), "30 00:30");
        assert_eq!(times("30 3 * * *", spring, 1), "29 01:30");
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_a_reason() {
        for (fields, reason) in [
            ("*/90 * * * *", "step must be in range"),
            ("*/0 * * * *", "step"),
            ("61 * * * *", "value must be in range 0..=59; found 61"),
            ("* * * *", "give five fields"),
            ("* * * * * *", "give five fields"),
            ("@reboot", "give five fields"),
            ("every minute now and then", "malformed"),
            ("0 0 31 2 *", "never comes"),
        ] {
            let error = Schedule::parse(fields).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains('\n'), "{fields}: {error}");
        }
    }
}
