//! Acts with teammates: hiring, plans, reports, leaving.
//!
//! Invariant: what waits for mail waits; nothing is approved, rejected or ended without a mail or a word of the user.

use serde_json::json;

use crate::history;
use crate::plan::Job;
use crate::run::{Outcome, Run, Stop, Went, fail};
use crate::scene::Mail;
use crate::speak::{listed, one_line, sentence};
use crate::tools::Can;
use crate::words::{Token, tokens};

pub(super) fn spawn(run: &Run, name: &str, role: &str, job: &Job, plan_first: bool) -> Went {
    let hired = run.before.borrow().iter().filter(|outcome| outcome.teammate.is_some()).count();
    let mut text = match job {
        Job::Text(text) => text.clone(),
        Job::Board => {
            let tools = [Can::ListTasks, Can::ClaimTask, Can::CompleteTask]
                .map(|can| run.world.tools.get(can));
            let [list, claim, complete] =
                tools.map(|tool| tool.map_or("the tool for it", |tool| tool.name));
            format!(
                "Look at the board with {list}. Claim a task that is free with {claim}, do it, and complete it with {complete}."
            )
        }
        Job::Wait => "Wait for mail: what you shall do comes by itself.".to_owned(),
        Job::Assigned => match run.tasks().get(hired) {
            Some((id, subject)) => {
                format!(
                    "Your task {id}: {subject}\nYou work in the worktree of this task: use relative paths."
                )
            }
            None => return fail(format!("There is no task left for {name}: I did not hire.")),
        },
    };
    if plan_first {
        text.push_str(" Before you change anything, submit a plan and wait for the answer.");
    }
    let args = json!({"name": name, "role": role, "prompt": text});
    run.text(Can::Spawn, args, &format!("I did not hire {name}"))?;
    Ok(Outcome {
        teammate: Some(name.to_owned()),
        ..Outcome::told(format!("{name} is at work."))
    })
}

pub(super) fn ask_plan(run: &Run, names: &[String], about: &str) -> Went {
    let aim = match about {
        "" if run.tasks().is_empty() => "what you have been asked to do",
        "" => "the task you want to claim",
        about => about,
    };
    let call = |name: &String| (Can::RequestPlan, json!({"teammate": name, "task": aim}));
    run.each(names, call, |name, done| done.or_why(format!("I asked {name} for a plan.")))
}

/// The id in the mail of a plan.
fn plan_id(mail: &Mail) -> Option<String> {
    let is_plan = mail.kind.contains("plan") && mail.kind.contains("request");
    let is_id = |token: &&Token| token.text.starts_with("req_");
    tokens(&mail.whole).iter().find(is_id).filter(|_| is_plan).map(|token| token.text.clone())
}

/// Answers plans: of those that are named; else all that wait, and with `all` also those that were asked for.
pub(super) fn answer_plans(
    run: &Run,
    (names, all): (&[String], bool),
    approve: bool,
    feedback: &str,
) -> Went {
    let scene = run.world.scene;
    let called = |can: Can| run.world.called(can).filter(|call| !call.failed);
    let plans: Vec<(usize, &Mail, String)> =
        scene.mail().filter_map(|(at, mail)| Some((at, mail, plan_id(mail)?))).collect();
    let answered = |id: &str| {
        called(Can::ReviewPlan).any(|call| call.at < run.from && call.input["request_id"] == id)
    };
    let mut whose: Vec<&str> = names.iter().map(String::as_str).collect();
    if whose.is_empty() {
        let open = plans.iter().filter(|(at, _, id)| *at < run.from && !answered(id));
        whose.extend(open.map(|(_, mail, _)| mail.from.as_str()));
        let is_answered =
            |name: &str| plans.iter().any(|(_, mail, id)| mail.from == name && answered(id));
        let asked = called(Can::RequestPlan).filter(|call| all && call.at < run.from);
        for name in asked
            .filter_map(|call| call.input["teammate"].as_str())
            .filter(|name| !is_answered(name))
        {
            whose.extend(Some(name).filter(|_| !whose.contains(&name)));
        }
    }
    if whose.is_empty() {
        if called(Can::RequestPlan).next().is_none() && plans.is_empty() {
            return Ok(Outcome::told("There is no plan that waits for an answer."));
        }
        // Whoever sends one.
        whose.push("");
    }
    let (mut open, mut waits) = (Vec::new(), Vec::new());
    for name in whose {
        let own = || plans.iter().filter(move |(_, mail, _)| name.is_empty() || mail.from == name);
        let is_asked = called(Can::RequestPlan)
            .any(|call| call.at >= run.from && call.input["teammate"] == name);
        let before =
            own().rfind(|(at, _, id)| *at < run.from && !answered(id)).filter(|_| !is_asked);
        let after = || own().find(|(at, ..)| *at > run.from);
        // The same plan once more: who matches answers will say so.
        match before.or_else(after).or_else(|| own().next_back().filter(|_| !is_asked)) {
            Some(plan) => open.push(plan),
            None if name.is_empty() => {
                waits.push("I wait for the plan: that comes by itself.".to_owned())
            }
            None => waits.push(format!("I wait for {name}'s plan: that comes by itself.")),
        }
    }
    if open.iter().any(|(at, ..)| *at > run.from) {
        run.waited.set(true);
    }
    let verdict = if approve { "approved" } else { "rejected" };
    let args = |(_, _, id): &&(usize, &Mail, String)| {
        (Can::ReviewPlan, json!({"request_id": id, "approve": approve, "feedback": feedback}))
    };
    let told = run.each(&open, args, |(_, mail, _), done| {
        done.or_why(format!("{}'s plan is {verdict}.", mail.from))
    })?;
    if waits.is_empty() {
        return Ok(told);
    }
    run.before.borrow_mut().push(told);
    Err(Stop::Wait(waits.join("\n")))
}

/// The reports that came since the request, of somebody or of all.
fn reports<'r>(run: &Run<'r, '_>, name: Option<&str>) -> Vec<&'r Mail> {
    let is_report = |mail: &Mail| match name {
        Some(name) => mail.from == name && (mail.kind == "result" || mail.kind == "error"),
        None => mail.kind == "result",
    };
    run.world
        .scene
        .mail()
        .filter(|(at, mail)| *at > run.from && is_report(mail))
        .map(|(_, mail)| mail)
        .collect()
}

pub(super) fn leave(run: &Run, names: &[String]) -> Went {
    let has_job = |name: &String| {
        run.before.borrow().iter().any(|outcome| outcome.teammate.as_ref() == Some(name))
    };
    let is_ready = |name: &String| !has_job(name) || !reports(run, Some(name)).is_empty();
    let (ready, waits): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| is_ready(name));
    if ready.iter().any(|name| has_job(name)) {
        run.waited.set(true);
    }
    let call = |name: &&String| (Can::Shutdown, json!({"teammate": name}));
    let told =
        run.each(&ready, call, |name, done| done.or_why(format!("I asked {name} to leave.")))?;
    match waits.first() {
        Some(first) => {
            Err(Stop::Wait(format!("I wait for {first}'s result: that comes by itself.")))
        }
        None => Ok(told),
    }
}

/// Waits for those who work, then says what they reported.
pub(super) fn report(run: &Run, names: &[String]) -> Went {
    let (tasks, all) = (run.tasks(), reports(run, None));
    let is_told = |id: &str| all.iter().any(|mail| mail.text.contains(id));
    let missing: Vec<String> = if tasks.is_empty() {
        names.iter().filter(|name| reports(run, Some(name)).is_empty()).cloned().collect()
    } else {
        tasks.iter().filter(|(id, _)| !is_told(id)).map(|(_, subject)| subject.clone()).collect()
    };
    if !missing.is_empty() {
        return Err(Stop::Wait(format!(
            "I wait for the reports on {}: that comes by itself.",
            listed(&missing)
        )));
    }
    run.waited.set(true);
    let lines: Vec<String> =
        all.iter().map(|mail| format!("- {}: {}", mail.from, one_line(&mail.text, 200))).collect();
    Ok(Outcome::told(format!("All is done:\n{}", lines.join("\n"))))
}

pub(super) fn inbox(run: &Run) -> Went {
    let done = run.call(Can::Inbox, json!({}))?;
    // Mail in the result is told with the other news.
    if done.failed || done.text.trim_start().starts_with('<') {
        return Ok(done.or_why(""));
    }
    let last = run
        .world
        .scene
        .mail()
        .rfind(|(_, mail)| mail.kind == "result")
        .map(|(_, mail)| history::news(mail));
    let before = last.map_or(String::new(), |news| format!(" This came by itself before: {news}"));
    Ok(Outcome::told(format!("There is no new mail.{before}")))
}

/// Sends a plan and waits for the answer.
pub(super) fn own_plan(run: &Run, aim: &str) -> Went {
    let plan =
        format!("1. Look at what is there.\n2. {}\n3. Check the result and report.", sentence(aim));
    run.call(Can::SubmitPlan, json!({"plan": plan}))?;
    let sent = run.world.called(Can::SubmitPlan).last().map(|call| call.at);
    let is_answer = |at: usize, mail: &Mail| {
        sent.is_some_and(|sent| at > sent) && mail.kind.contains("approval")
    };
    match run.world.scene.mail().rfind(|(at, mail)| is_answer(*at, mail)) {
        None => Err(Stop::Wait("I wait for the answer to my plan.".into())),
        Some((_, mail)) if mail.text.contains("rejected") => Ok(Outcome::failed(format!(
            "My plan was rejected, so I changed nothing. I was told: {}",
            one_line(&mail.text, 200)
        ))),
        Some(_) => Ok(Outcome::told("")),
    }
}
