//! Acts with teammates: hiring, plans, reports, leaving.
//!
//! Invariant: what waits for mail waits; nothing is approved, rejected or ended without a mail or a word of the user.

use serde_json::json;

use super::board::look_at_board;
use super::outcome;
use crate::engine::{Outcome, Run, Stop, Went};
use crate::history;
use crate::people::sentence;
use crate::plan::Job;
use crate::scene::{Event, Mail};
use crate::speak::{listed, one_line, why};
use crate::tools::Can;

pub(crate) fn spawn(run: &Run, name: &str, role: &str, job: &Job, plan_first: bool) -> Went {
    let hired =
        run.before.borrow().iter().filter(|outcome| outcome.found.iter().any(|(title, _)| title == "teammate")).count();
    let text = match job {
        Job::Text(text) => text.clone(),
        Job::Board => "Look at the board with list_tasks. Claim a task that is free with claim_task, do it, and complete it with complete_task.".to_owned(),
        Job::Wait => "Wait for mail: what you shall do comes by itself.".to_owned(),
        Job::Assigned => match run.tasks().get(hired) {
            Some((id, subject)) => format!("Your task is {id}: {subject}\nYou work in the worktree of this task: use relative paths."),
            None => return Ok(Outcome::failed(format!("There is no task left for {name}: I did not hire."))),
        },
    };
    let text = if plan_first {
        format!("{text} Before you change anything, submit a plan with submit_plan and wait for the answer.")
    } else {
        text
    };
    let done = run.call(Can::Spawn, json!({"name": name, "role": role, "prompt": text}))?;
    let told = if done.failed {
        format!("I did not hire {name}: {}.", why(&done.text))
    } else {
        format!("{name} is at work.")
    };
    Ok(Outcome { failed: done.failed, ..Outcome::told(told) }.tagged("teammate", name))
}

pub(crate) fn ask_plan(run: &Run, names: &[String], about: Option<&str>) -> Went {
    let aim = about.unwrap_or(if run.tasks().is_empty() {
        "what you have been asked to do"
    } else {
        "the task you want to claim"
    });
    let done =
        run.calls(names.iter().map(|name| (Can::RequestPlan, json!({"teammate": name, "task": aim}))).collect())?;
    let texts = names.iter().zip(&done).map(|(name, done)| outcome(done, format!("I asked {name} for a plan.")).text);
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome { failed, ..Outcome::told(texts.collect::<Vec<_>>().join("\n")) })
}

/// The id in the mail of a plan.
pub(crate) fn plan_id(mail: &Mail) -> Option<&str> {
    let (_, rest) = mail.whole.split_once("request_id ")?;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().filter(|id| !id.is_empty())
}

pub(crate) fn answer_plans(run: &Run, names: &[String], approve: bool, feedback: &str) -> Went {
    let scene = run.world.scene;
    let name_of = |can: Can| run.world.tools.get(can).map_or("", |tool| tool.name);
    let (review, ask) = (name_of(Can::ReviewPlan), name_of(Can::RequestPlan));
    let of = |name: Option<&String>| name.map_or(String::new(), String::clone);
    let plans: Vec<(usize, &Mail, &str)> =
        scene.mail().filter_map(|(at, mail)| Some((at, mail, plan_id(mail)?))).collect();
    let answered = |id: &str| {
        scene.calls.iter().any(|call| call.at < run.from && call.name == review && call.input["request_id"] == id)
    };
    let asked_here = |name: &str| {
        scene.calls.iter().any(|call| call.at >= run.from && call.name == ask && call.input["teammate"] == name)
    };
    // Whose: those that were named, else everybody whose plan waits, else whoever sends the next one.
    let waiting =
        plans.iter().filter(|(at, _, id)| *at < run.from && !answered(id)).map(|(_, mail, _)| mail.from.clone());
    let whose: Vec<Option<String>> = if names.is_empty() {
        let waiting: Vec<Option<String>> = waiting.map(Some).collect();
        if waiting.is_empty() { vec![None] } else { waiting }
    } else {
        names.iter().cloned().map(Some).collect()
    };
    let (mut open, mut waits) = (Vec::new(), Vec::new());
    for name in &whose {
        let is_of = |mail: &Mail| name.as_ref().is_none_or(|name| mail.from == *name);
        let mut before = plans.iter().filter(|(at, mail, _)| *at < run.from && is_of(mail));
        let after = plans.iter().find(|(at, mail, _)| *at > run.from && is_of(mail));
        let is_asked = asked_here(&of(name.as_ref()));
        let unanswered = before.clone().rfind(|(_, _, id)| !is_asked && !answered(id));
        let is_wanted = scene.calls.iter().any(|call| call.name == ask && !call.failed);
        match unanswered.or(after) {
            Some(plan) => open.push(plan),
            // The same plan once more: who matches answers will say so.
            None if !is_asked && let Some(last) = before.next_back() => open.push(last),
            None if name.is_none() && !is_wanted => {
                return Ok(Outcome::told("There is no plan that waits for an answer."));
            }
            None => waits.push(name.as_ref().map_or("the".to_owned(), |name| format!("{name}'s"))),
        }
    }
    if open.iter().any(|(at, ..)| *at > run.from) {
        run.waited.set(true);
    }
    let open: Vec<(&str, &str)> = open.iter().map(|(_, mail, id)| (mail.from.as_str(), *id)).collect();
    let told = send_answers(run, &open, approve, feedback)?;
    if waits.is_empty() {
        return Ok(told);
    }
    run.before.borrow_mut().push(told);
    let lines: Vec<String> =
        waits.iter().map(|whose| format!("I wait for {whose} plan: that comes by itself.")).collect();
    Err(Stop::Wait(lines.join("\n")))
}

/// Answers plans: whose, and by which id.
fn send_answers(run: &Run, open: &[(&str, &str)], approve: bool, feedback: &str) -> Went {
    let args = |id: &str| json!({"request_id": id, "approve": approve, "feedback": feedback});
    let done = run.calls(open.iter().map(|(_, id)| (Can::ReviewPlan, args(id))).collect())?;
    let verdict = if approve { "approved" } else { "rejected" };
    let texts = open.iter().zip(&done);
    let texts = texts.map(|((name, _), done)| outcome(done, format!("{name}'s plan is {verdict}.")).text);
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome { failed, ..Outcome::told(texts.collect::<Vec<_>>().join("\n")) })
}

/// The reports that came from somebody since the request.
pub(crate) fn reports<'r>(run: &Run<'r, '_>, name: &str) -> Vec<&'r Mail> {
    run.world
        .scene
        .mail()
        .filter(|(at, mail)| *at > run.from && mail.from == name && (mail.kind == "result" || mail.kind == "error"))
        .map(|(_, mail)| mail)
        .collect()
}

pub(crate) fn leave(run: &Run, names: &[String]) -> Went {
    let has_job = |name: &String| {
        run.before
            .borrow()
            .iter()
            .any(|outcome| outcome.found.iter().any(|(title, who)| title == "teammate" && who == name))
    };
    let (ready, waits): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| !has_job(name) || !reports(run, name).is_empty());
    if ready.iter().any(|name| has_job(name)) {
        run.waited.set(true);
    }
    let done = run.calls(ready.iter().map(|name| (Can::Shutdown, json!({"teammate": name}))).collect())?;
    let texts: Vec<String> =
        ready.iter().zip(&done).map(|(name, done)| outcome(done, format!("I asked {name} to leave.")).text).collect();
    if let Some(first) = waits.first() {
        return Err(Stop::Wait(format!("I wait for {first}'s result: that comes by itself.")));
    }
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome { failed, ..Outcome::told(texts.join("\n")) })
}

/// Waits for those who work, then says what they reported.
pub(crate) fn report(run: &Run, names: &[String]) -> Went {
    let tasks = run.tasks();
    let all: Vec<&Mail> = run
        .world
        .scene
        .mail()
        .filter(|(at, mail)| *at > run.from && mail.kind == "result")
        .map(|(_, mail)| mail)
        .collect();
    let missing: Vec<String> = if tasks.is_empty() {
        names.iter().filter(|name| reports(run, name).is_empty()).cloned().collect()
    } else {
        tasks
            .iter()
            .filter(|(id, _)| !all.iter().any(|mail| mail.text.contains(id.as_str())))
            .map(|(_, subject)| subject.clone())
            .collect()
    };
    if !missing.is_empty() {
        return Err(Stop::Wait(format!("I wait for the reports on {}: that comes by itself.", listed(&missing))));
    }
    run.waited.set(true);
    let lines: Vec<String> = all.iter().map(|mail| format!("- {}: {}", mail.from, one_line(&mail.text, 200))).collect();
    Ok(Outcome::told(format!("All is done:\n{}", lines.join("\n"))))
}

pub(crate) fn inbox(run: &Run) -> Went {
    let done = run.call(Can::Inbox, json!({}))?;
    // Mail in the result is told with the other news.
    if done.failed || done.text.trim_start().starts_with('<') {
        return Ok(outcome(&done, String::new()));
    }
    let last: Vec<String> =
        run.world.scene.mail().filter(|(_, mail)| mail.kind == "result").map(|(_, mail)| history::news(mail)).collect();
    Ok(Outcome::told(match last.last() {
        Some(news) => format!("There is no new mail. This came by itself before: {news}"),
        None => "There is no new mail.".to_owned(),
    }))
}

/// Sends a plan and waits for the answer.
pub(crate) fn own_plan(run: &Run, aim: &str) -> Went {
    let mut plan = format!("1. Look at what is there.\n2. {}\n3. Check the result and report.", sentence(aim));
    if run.world.tools.can(Can::ListTasks) && aim.contains("task") {
        look_at_board(run)?;
        plan =
            "1. Claim a task on the board that is free.\n2. Do its work in a file of its own.\n3. Complete the task."
                .to_owned();
    }
    run.call(Can::SubmitPlan, json!({"plan": plan}))?;
    let sent = run.world.scene.events.iter().rposition(|event| matches!(event, Event::Called(at) if Some(run.world.scene.calls[*at].name) == run.world.tools.get(Can::SubmitPlan).map(|tool| tool.name)));
    let is_answer = |at: usize, mail: &Mail| sent.is_some_and(|sent| at > sent) && mail.kind.contains("approval");
    let answer = run.world.scene.mail().rfind(|(at, mail)| is_answer(*at, mail));
    match answer {
        None => Err(Stop::Wait("I wait for the answer to my plan.".into())),
        Some((_, mail)) if mail.text.contains("rejected") => Ok(Outcome::failed(format!(
            "My plan was rejected, so I changed nothing. I was told: {}",
            one_line(&mail.text, 200)
        ))),
        Some(_) => Ok(Outcome::told("")),
    }
}
