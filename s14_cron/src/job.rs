//! A scheduled prompt as it lies in `cron.json`.
//!
//! The time of its next firing is stored, not computed from the clock each time, so a missed firing is noticed. Invariants: a field nobody here knows is kept when the file is written again; a job fires once for a minute,
//! also when the clock is set back.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schedule::Schedule;

/// A job that fires this late was missed: no session ran, or the machine slept.
const MISSED: Duration = Duration::from_secs(60);

/// When the clock is set back by more than this, the next firings are computed anew. Less is a correction, and no minute
/// fires twice.
const SET_BACK: Duration = Duration::from_secs(60 * 60);

/// A prompt that fires on a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// When it fires, as it was written.
    pub cron: String,
    /// What is asked for when it fires.
    pub prompt: String,
    /// Whether it fires more than once.
    #[serde(default = "yes")]
    pub recurring: bool,
    /// When it fires next.
    pub next: Timestamp,
    /// When `next` was computed. A time in the future means that the clock was set back.
    #[serde(default)]
    pub computed_at: Timestamp,
    /// True for a one-shot that was handed to the model and waits to be removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub handed_over: bool,
    /// The session that fires it. When that has ended, the next one that looks takes it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether it outlives the session. What lies in the file does.
    #[serde(skip)]
    pub durable: bool,
    /// Fields of other versions.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

fn yes() -> bool {
    true
}

impl Job {
    /// True if it fires or is rescheduled now.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        !self.handed_over && (self.next <= now || self.is_ahead_of(now))
    }

    /// What the model is told when it fires now.
    pub(crate) fn notice(&self, now: Timestamp) -> String {
        let mut notice = format!("[Scheduled] {}", self.prompt);
        if self.is_missed(now) {
            let missed = local(self.next);
            notice += &format!("\n<missed-at>{missed}; nothing ran then</missed-at>");
        }
        notice
    }

    /// What the user is shown then.
    pub(crate) fn remark(&self, now: Timestamp) -> String {
        let prompt = self.prompt_line();
        if self.is_missed(now) {
            return format!("[missed at {}, run now: {prompt}]", local(self.next));
        }
        format!("[scheduled: {prompt}]")
    }

    /// The prompt in one line.
    pub(crate) fn prompt_line(&self) -> String {
        kit::one_line(&self.prompt)
    }

    fn is_missed(&self, now: Timestamp) -> bool {
        now.duration_since(self.next).unsigned_abs() >= MISSED
    }

    fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.computed_at > now && self.computed_at.duration_since(now).unsigned_abs() > SET_BACK
    }

    /// Computes the next firing; a job without one is over.
    fn reschedule(&mut self, now: Timestamp) {
        let schedule = Schedule::parse(&self.cron).ok();
        match schedule.and_then(|schedule| schedule.after(now)) {
            Some(next) => (self.next, self.computed_at) = (next, now),
            None => self.handed_over = true,
        }
    }
}

/// Takes the jobs whose time has come: recurring ones go on, one-shots are marked, and those marked before go.
pub(crate) fn take_due(jobs: &mut Vec<Job>, now: Timestamp) -> Vec<Job> {
    jobs.retain(|job| !job.handed_over);
    let mut fired = Vec::new();
    for job in jobs.iter_mut() {
        if job.is_ahead_of(now) {
            job.reschedule(now);
        }
        if job.next <= now {
            fired.push(job.clone());
            if job.recurring {
                job.reschedule(now);
            } else {
                job.handed_over = true;
            }
        }
    }
    fired
}

/// A moment as the user's clock shows it.
pub(crate) fn local(moment: Timestamp) -> String {
    let local = moment.to_zoned(TimeZone::system());
    local.strftime("%Y-%m-%d %H:%M").to_string()
}
