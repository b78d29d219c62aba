//! Acts with tasks, their worktrees, and teammates: the board, hiring, plans, reports, leaving.
//!
//! Invariants: which task is meant is read from the board, never guessed, and one whose work cannot be rehearsed stays open;
//! what waits for mail waits; nothing is approved, rejected or ended without a mail or a word of the user.

use serde_json::json;

use super::files::write;
use crate::clause::says;
use crate::history;
use crate::run::{Job, Outcome, Run, Stop, Went, fail};
use crate::scene::Mail;
use crate::slots::Slots;
use crate::speak::{listed, one_line, sentence, shown};
use crate::table;
use crate::tasks::{self, OnBoard, TaskSpec};
use crate::tools::Can;
use crate::understand;
use crate::words::{Shape, Token, has, having, set, stems, tokens, unique};

pub(super) fn make_tasks(run: &Run, specs: &[TaskSpec]) -> Went {
    let call = |spec: &TaskSpec| {
        let mut args = json!({"subject": spec.subject});
        if !spec.blocked_by.is_empty() {
            args["blockedBy"] = json!(spec.blocked_by);
        }
        (Can::CreateTask, args)
    };
    run.each(specs, call, |spec, done| {
        let mut told = done.or_why(format!("I {}.", done.text.trim()));
        let id = tokens(&done.text).into_iter().find(|token| token.shape == Shape::Key);
        told.tasks.extend(id.filter(|_| !done.failed).map(|id| (id.text, spec.subject.clone())));
        told
    })
}

fn look_at_board(run: &Run) -> Result<Vec<OnBoard>, Stop> {
    Ok(tasks::board(&run.call(Can::ListTasks, json!({}))?.text))
}

/// The task that the words mean; the first one that fits when they name none.
fn meant(run: &Run, words: &str, fits: impl Fn(&OnBoard) -> bool) -> Result<OnBoard, Stop> {
    let board = look_at_board(run)?;
    let named = table::content(words).into_iter();
    let named = named.filter(|token| !has(set("of-tasks"), &token.low));
    let wanted: Vec<String> = named.flat_map(|token| stems(&token.low)).collect();
    if wanted.is_empty() {
        let first = board.into_iter().find(fits);
        return first.map_or_else(|| fail("There is no task on the board that I could take."), Ok);
    }
    let told = |task: &OnBoard| {
        let number = task.id.split('-').next().unwrap_or_default();
        format!("{} {} {number}", task.subject, task.id)
    };
    let all = having(&wanted, &board, told);
    if let Some(best) = all.into_iter().min_by_key(|task| tokens(&task.subject).len()) {
        return Ok(best.clone());
    }
    let subjects: Vec<&str> = board.iter().map(|task| task.subject.as_str()).collect();
    let there = if subjects.is_empty() { "nothing" } else { &subjects.join(", ") };
    fail(format!("There is no task “{}”; on the board is: {there}.", words.trim()))
}

pub(super) fn show_board(run: &Run, unblocked: bool) -> Went {
    let text = &run.call(Can::ListTasks, json!({}))?.text;
    if !unblocked {
        return Ok(Outcome::told(shown(text)).tagged("The board", text));
    }
    let free = tasks::board(text).into_iter().filter(|task| task.is_free);
    let free = free.map(|task| format!("{} ({})", task.subject, task.id)).collect();
    Ok(Outcome::told(told_free(free).unwrap_or("No task is unblocked now.".to_owned())))
}

fn told_free(tasks: Vec<String>) -> Option<String> {
    (!tasks.is_empty()).then(|| format!("Unblocked now: {}.", listed(&tasks)))
}

pub(super) fn claim(run: &Run, words: &str) -> Went {
    let OnBoard { id, subject, .. } = meant(run, words, |task| task.is_free)?;
    run.text(Can::ClaimTask, json!({"task_id": id}), "That did not work")?;
    let told = format!("I claimed {id}: {subject}.");
    Ok(Outcome {
        tasks: vec![(id, subject)],
        ..Outcome::told(told)
    })
}

pub(super) fn complete(run: &Run, words: &str) -> Went {
    let is_it = matches!(words.split_whitespace().next(), Some("it" | "it." | "that"));
    let (id, subject) = match run.tasks().pop().filter(|_| is_it) {
        Some(task) => task,
        None => {
            let task = meant(run, words, |task| task.mark != ' ' && task.mark != 'x')?;
            (task.id, task.subject)
        }
    };
    let text = run.text(Can::CompleteTask, json!({"task_id": id}), "That did not work")?;
    let line = |line: &str| {
        let (id, subject) = line.strip_prefix("unblocked: ")?.split_once(' ')?;
        Some(format!("{subject} ({id})"))
    };
    let next = told_free(text.lines().filter_map(line).collect());
    let next = next.map_or(String::new(), |next| format!("\n{next}"));
    Ok(Outcome::told(format!("I completed {id}: {subject}.{next}")))
}

/// Takes a task that is free, does it, completes it.
pub(super) fn work_board(run: &Run) -> Went {
    for _ in 0..6 {
        let board = look_at_board(run)?;
        let Some(task) = board.iter().find(|task| task.is_free) else {
            return Ok(Outcome::told("No task on the board is free. I am ready for the next one."));
        };
        let done = run.call(Can::ClaimTask, json!({"task_id": task.id}))?;
        if !done.failed {
            return do_task(run, &task.id, &task.subject, false);
        }
    }
    Ok(Outcome::failed("Others took every task that I wanted."))
}

pub(super) fn do_task(run: &Run, id: &str, subject: &str, claims: bool) -> Went {
    let has_board = run.world.tools.can(Can::CompleteTask);
    if claims && has_board {
        run.text(Can::ClaimTask, json!({"task_id": id}), "That did not work")?;
    }
    let work = do_subject(run, subject)?;
    if work.failed || !has_board {
        return Ok([work, Outcome::told(format!("(task {id})"))].into_iter().collect());
    }
    let done = run.call(Can::CompleteTask, json!({"task_id": id}))?;
    Ok([work, done.or_why(format!("I completed {id}: {subject}."))].into_iter().collect())
}

/// The work of a task: what its subject asks for. What cannot be rehearsed is said, and the task stays open.
fn do_subject(run: &Run, subject: &str) -> Went {
    if let Some((path, text)) = tasks::sample(subject) {
        return write(run, &path, &text, true);
    }
    let steps = understand::plan(subject, run.world).or_else(|no| {
        fail(format!("I did not do “{subject}”, and it stays open: {}", no.told()))
    })?;
    let inner = Run::new(run.world, run.from);
    super::plan(&inner, &steps)?;
    Ok(inner.before.into_inner().into_iter().collect())
}

pub(super) fn worktrees(run: &Run) -> Went {
    let mut all = run.tasks();
    if all.is_empty() {
        let pending = look_at_board(run)?.into_iter().filter(|task| task.mark == ' ');
        all = pending.map(|task| (task.id, task.subject)).collect();
    }
    if all.is_empty() {
        return Ok(Outcome::failed("There is no task that a worktree could be bound to."));
    }
    let name = |(id, subject): &(String, String)| {
        let subject = subject.to_lowercase();
        let subject = subject.trim_start_matches("write ").trim_end_matches(".md");
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let slug: String = subject.chars().map(letter).take(24).collect();
        format!("{}-{}", slug.trim_matches('-'), id.split('-').next().unwrap_or(id))
    };
    let call =
        |task: &(String, String)| (Can::MakeTree, json!({"name": name(task), "task_id": task.0}));
    run.each(&all, call, |_, done| done.or_why(format!("I {}.", done.text.trim())))
}

pub(super) fn spawn(run: &Run, name: &str, role: &str, job: &Job, plan_first: bool) -> Went {
    let hired = run.before.borrow().iter().filter(|outcome| outcome.teammate.is_some()).count();
    let mut text = match job {
        Job::Text(text) => text.clone(),
        Job::Board => {
            let name = |can| run.world.tools.get(can).map_or("the tool for it", |tool| tool.name);
            format!(
                "Look at the board with {}. Claim a task that is free with {}, do it, and complete it with {}.",
                name(Can::ListTasks),
                name(Can::ClaimTask),
                name(Can::CompleteTask)
            )
        }
        Job::Wait => "Wait for mail: what you shall do comes by itself.".to_owned(),
        Job::Assigned => {
            let all = run.tasks();
            let Some((id, subject)) = all.get(hired) else {
                return fail(format!("There is no task left for {name}: I did not hire."));
            };
            let how = "You work in the worktree of this task: use relative paths.";
            format!("Your task {id}: {subject}\n{how}")
        }
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
    tokens(mail.whole).iter().find(is_id).filter(|_| is_plan).map(|token| token.text.clone())
}

/// Answers plans: of those that are named; else all that wait, and of all also those that were asked for.
pub(super) fn answer_plans(run: &Run, slots: &Slots, approve: bool) -> Went {
    let called = |can: Can| run.world.called(can).filter(|call| !call.failed);
    let plans: Vec<(usize, &Mail, String)> =
        run.world.scene.mail().filter_map(|(at, mail)| Some((at, mail, plan_id(mail)?))).collect();
    let is_open = |id: &str| {
        !called(Can::ReviewPlan).any(|call| call.at < run.from && call.input["request_id"] == id)
    };
    let asked: Vec<(usize, &str)> = called(Can::RequestPlan)
        .filter_map(|call| Some((call.at, call.input["teammate"].as_str()?)))
        .collect();
    let all = says(&tokens(&slots.said), "plans both all their everybody everyone");
    let mut whose: Vec<&str> = slots.names.iter().map(String::as_str).collect();
    if whose.is_empty() {
        let open = plans.iter().filter(|(at, _, id)| *at < run.from && is_open(id));
        whose = open.map(|(_, mail, _)| mail.from).collect();
        let is_answered =
            |name: &str| plans.iter().any(|(_, mail, id)| mail.from == name && !is_open(id));
        let owed = asked.iter().filter(|(at, name)| *at < run.from && !is_answered(name));
        let owed: Vec<&str> =
            owed.filter(|_| all || whose.is_empty()).map(|(_, name)| *name).collect();
        whose = unique(whose.into_iter().chain(owed));
    }
    if whose.is_empty() {
        return Ok(Outcome::told("There is no plan that waits for an answer."));
    }
    let (mut open, mut waits) = (Vec::new(), Vec::new());
    for name in whose {
        // What was asked for in this request counts from there on. The same plan once more: who matches answers will say so.
        let is_asked = asked.iter().any(|(at, mate)| *at >= run.from && *mate == name);
        let own = || plans.iter().filter(|(_, mail, _)| mail.from == name);
        let before = || own().filter(|(at, ..)| *at < run.from && !is_asked);
        let last_open = before().filter(|(.., id)| is_open(id)).last();
        let next = || own().find(|(at, ..)| *at >= run.from);
        match last_open.or_else(next).or_else(|| before().last()) {
            Some(plan) => open.push(plan),
            None => waits.push(format!("{name}'s plan")),
        }
    }
    if open.iter().any(|(at, ..)| *at > run.from) {
        run.waited.set(true);
    }
    let verdict = if approve { "approved" } else { "rejected" };
    let why = if approve { "Go ahead as planned." } else { "Change nothing." };
    let feedback = slots.quoted.first().map_or(why, String::as_str);
    let args = |(_, _, id): &&(usize, &Mail, String)| {
        (Can::ReviewPlan, json!({"request_id": id, "approve": approve, "feedback": feedback}))
    };
    let told = run.each(&open, args, |(_, mail, _), done| {
        done.or_why(format!("{}'s plan is {verdict}.", mail.from))
    })?;
    run.or_wait(told, &waits)
}

/// The reports that came since the request, of somebody or of all.
fn reports<'r, 'w>(run: &Run<'r, 'w>, name: Option<&str>) -> Vec<&'r Mail<'w>> {
    let is_report = |mail: &Mail| match name {
        Some(name) => mail.from == name && (mail.kind == "result" || mail.kind == "error"),
        None => mail.kind == "result",
    };
    let mail = run.world.scene.mail().filter(|(at, mail)| *at > run.from && is_report(mail));
    mail.map(|(_, mail)| mail).collect()
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
    let waits: Vec<String> = waits.iter().take(1).map(|name| format!("{name}'s result")).collect();
    run.or_wait(told, &waits)
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
        let missing = format!("the reports on {}", listed(&missing));
        return run.or_wait(Outcome::default(), &[missing]);
    }
    run.waited.set(true);
    let lines: Vec<String> =
        all.iter().map(|mail| format!("- {}: {}", mail.from, one_line(mail.text, 200))).collect();
    Ok(Outcome::told(format!("All is done:\n{}", lines.join("\n"))))
}

pub(super) fn inbox(run: &Run) -> Went {
    let done = run.call(Can::Inbox, json!({}))?;
    // Mail in the result is told with the other news.
    if done.failed || done.text.trim_start().starts_with('<') {
        return Ok(done.or_why(""));
    }
    let last = run.world.scene.mail().rfind(|(_, mail)| mail.kind == "result");
    let before =
        last.map(|(_, mail)| format!(" This came by itself before: {}", history::news(mail)));
    let before = before.unwrap_or_default();
    Ok(Outcome::told(format!("There is no new mail.{before}")))
}

/// Sends a plan and waits for the answer.
pub(super) fn own_plan(run: &Run, aim: &str) -> Went {
    let plan =
        format!("1. Look at what is there.\n2. {}\n3. Check the result and report.", sentence(aim));
    let sent = run.call(Can::SubmitPlan, json!({"plan": plan}))?.at;
    let is_answer = |at: usize, mail: &Mail| at > sent && mail.kind.contains("approval");
    match run.world.scene.mail().rfind(|(at, mail)| is_answer(*at, mail)) {
        None => Err(Stop::Wait("I wait for the answer to my plan.".into())),
        Some((_, mail)) if mail.text.contains("rejected") => fail(format!(
            "My plan was rejected, so I changed nothing. I was told: {}",
            one_line(mail.text, 200)
        )),
        Some(_) => Ok(Outcome::told("")),
    }
}
