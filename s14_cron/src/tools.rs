//! The tools of cron: schedule, list, cancel.
//!
//! Invariant: times are shown as the user's clock shows them.

use s02_tools::{Access, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cron::Cron;
use crate::job::{Job, local};

#[derive(Debug, Deserialize, JsonSchema)]
struct ScheduleCron {
    /// When: five fields in local time (minute hour day month weekday), or `@hourly`, `@daily`, `@weekly`, …
    cron: String,
    /// What you will be asked to do then.
    prompt: String,
    /// Whether it fires every time (the default) or once.
    #[serde(default = "yes")]
    recurring: bool,
    /// Whether it outlives this session. What is missed then runs once at the next start.
    #[serde(default)]
    durable: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListCrons {}

#[derive(Debug, Deserialize, JsonSchema)]
struct CancelCron {
    /// The id of the job, as list_crons shows it.
    job_id: String,
}

impl Cron {
    /// schedule_cron, list_crons and cancel_cron.
    pub fn tools(&self) -> [Tool; 3] {
        let [schedule, list, cancel] = [self.clone(), self.clone(), self.clone()];
        [
            Tool::blocking(
                "schedule_cron",
                "Schedule a prompt for yourself: at its time it comes as a message that begins with [Scheduled].",
                move |input: ScheduleCron| {
                    let ScheduleCron { cron, prompt, recurring, durable } = input;
                    let job = schedule.schedule(&cron, &prompt, recurring, durable)?;
                    Ok(format!("scheduled {}", line(&job)))
                },
            )
            .touching(Access::Harness),
            Tool::blocking("list_crons", "List the scheduled prompts.", move |_: ListCrons| {
                let jobs = list.list()?;
                if jobs.is_empty() {
                    return Ok("nothing is scheduled".to_owned());
                }
                Ok(jobs.iter().map(line).collect::<Vec<_>>().join("\n"))
            })
            .touching(Access::Nothing),
            Tool::blocking("cancel_cron", "Cancel a scheduled prompt.", move |input: CancelCron| {
                Ok(format!("cancelled {}", line(&cancel.cancel(&input.job_id)?)))
            })
            .touching(Access::Harness),
        ]
    }
}

/// `cron_k3f9x2ab  */2 * * * *  next 2026-11-22 01:30, this session only  print the current date`
fn line(job: &Job) -> String {
    let once = if job.recurring { "" } else { ", once" };
    let life = if job.durable { ", durable" } else { ", this session only" };
    format!("{}  {}  next {}{once}{life}  {}", job.id, job.cron, local(job.next), job.prompt_line())
}
