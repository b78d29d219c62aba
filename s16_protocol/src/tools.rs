//! The tools of the protocol: three for the lead, one for a teammate.
//!
//! Invariant: requests and mail change together, under one lock.

use anyhow::{Result, ensure};
use s02_tools::{Access, Tool};
use s15_mailbox::{LEAD, Mail};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::protocol::{APPROVE, Protocol, SUBMIT_PLAN};
use crate::requests::{Kind, REQUEST_ID};

/// The maximum length of a plan: a message of this size is kept whole in a conversation.
const LONGEST_PLAN: usize = 20_000;

#[derive(Debug, Deserialize, JsonSchema)]
struct RequestShutdown {
    /// The name of the teammate.
    teammate: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct RequestPlan {
    /// The name of the teammate.
    teammate: String,
    /// What the plan shall be for.
    task: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ReviewPlan {
    /// The id in the plan's mail.
    request_id: String,
    /// Whether the teammate may go on as planned.
    approve: bool,
    /// What it should know or change.
    #[serde(default)]
    feedback: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SubmitPlan {
    /// The whole plan: what you will do, in which files, and how you will check it.
    plan: String,
}

impl Protocol {
    /// The tools of the lead: request_shutdown, request_plan, review_plan.
    pub fn tools(&self) -> [Tool; 3] {
        let [shutdown, plan, review] = [self.clone(), self.clone(), self.clone()];
        [
            Tool::blocking(
                "request_shutdown",
                "Ask a teammate to leave, done or not. If you want its result, wait for that first: both come as mail.",
                move |input: RequestShutdown| shutdown.request_shutdown(&input.teammate),
            )
            .touching(Access::Harness),
            Tool::blocking(
                "request_plan",
                "Ask a teammate for a plan before it changes anything. The plan comes as mail; answer it with review_plan.",
                move |input: RequestPlan| plan.request_plan(&input.teammate, &input.task),
            )
            .touching(Access::Harness),
            Tool::blocking(
                "review_plan",
                "Answer the plan of a teammate, after you have read it. It does nothing until then.",
                move |input: ReviewPlan| review.review_plan(&input),
            )
            .touching(Access::Harness),
        ]
    }

    /// The tool submit_plan of this teammate.
    pub fn submit_plan(&self, name: &str) -> Tool {
        let (protocol, name) = (self.clone(), name.to_owned());
        let description = "Send your plan to the lead and wait for the answer; nothing you call runs until it has come.";
        Tool::blocking(SUBMIT_PLAN, description, move |input: SubmitPlan| {
            protocol.submit(&name, &input.plan)
        })
        .touching(Access::Harness)
    }

    fn request_shutdown(&self, teammate: &str) -> Result<String> {
        ensure!(teammate != LEAD, "request_shutdown: the lead does not leave");
        let text = "Please stop and leave.";
        let id = self.send(Kind::Shutdown, LEAD, teammate, text)?;
        Ok(format!("asked {teammate} to leave ({id}); the answer comes by itself"))
    }

    fn request_plan(&self, teammate: &str, task: &str) -> Result<String> {
        ensure!(teammate != LEAD, "request_plan: ask a teammate, not yourself");
        ensure!(!task.trim().is_empty(), "request_plan: the task is empty");
        let text = format!("Before you change anything, send a plan with submit_plan for: {task}");
        let mut state = self.state();
        if let Some(id) = state.requests.open_from(Kind::Plan, teammate) {
            return Ok(format!("{teammate} has sent a plan already, {id}; it comes by itself"));
        }
        self.mail.send(Mail::new(LEAD, teammate, "message", text))?;
        // Nobody has read the message before the gate is closed: both wait for the lock.
        state.plan_wanted.insert(teammate.to_owned());
        Ok(format!("asked {teammate} for a plan; it comes by itself"))
    }

    fn review_plan(&self, input: &ReviewPlan) -> Result<String> {
        let ReviewPlan {
            request_id,
            approve,
            feedback,
        } = input;
        let (verdict, next) = if *approve {
            ("approved", "Go on.")
        } else {
            ("rejected", "Send another one with submit_plan.")
        };
        let text = format!("Your plan is {verdict}. {} {next}", feedback.trim());
        let mut planner = String::new();
        let state = &mut *self.state();
        state.requests.answer(request_id, Kind::Plan, LEAD, |to| {
            planner = to.to_owned();
            let answer = Mail::new(LEAD, to, Kind::Plan.response(), text);
            let answer = answer.with(REQUEST_ID, request_id.as_str());
            self.mail.send(answer.with(APPROVE, *approve))
        })?;
        let told = format!("{planner}'s plan {request_id} is {verdict}");
        if !*approve {
            // Another plan before anything is changed.
            state.plan_wanted.insert(planner);
        }
        Ok(told)
    }

    fn submit(&self, name: &str, plan: &str) -> Result<String> {
        ensure!(!plan.trim().is_empty(), "submit_plan: the plan is empty");
        let chars = plan.chars().count();
        ensure!(
            chars <= LONGEST_PLAN,
            "submit_plan: the plan has {chars} characters; {LONGEST_PLAN} are what is read whole"
        );
        // On the screen before anybody can approve it.
        self.repl.named(name).say(&format!("plan:\n{plan}"));
        let id = self.send(Kind::Plan, name, LEAD, plan)?;
        Ok(format!("sent as {id}; wait for the answer"))
    }

    /// Sends a request and records it. A plan that is sent is no longer owed.
    fn send(&self, kind: Kind, from: &str, to: &str, text: &str) -> Result<String> {
        let state = &mut *self.state();
        let id = state.requests.open(kind, from, to, |id| {
            let mail = Mail::new(from, to, kind.request(), text);
            self.mail.send(mail.with(REQUEST_ID, id))
        })?;
        if kind == Kind::Plan {
            state.plan_wanted.remove(from);
        }
        Ok(id)
    }
}
