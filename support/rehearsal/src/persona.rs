//! Who answers: the lead or a subagent, a teammate, or one of the side calls of a harness.
//!
//! A side call is told by what it is given, a teammate by its tools. Invariant: everybody ends with a text that says what
//! came of it.

use crate::act;
use crate::clause::{self, Clause, PLAIN};
use crate::history;
use crate::run::{Act, Run, Step, Stop};
use crate::scene::{Event, Scene, World};
use crate::slots::Slots;
use crate::speak::{announce, gist, one_line};
use crate::table::Make;
use crate::told::task_of;
use crate::tools::{Call, Can, Tools};
use crate::types::{Block, Reply, Request};
use crate::understand;
use crate::words::{tokens, unique};

pub fn answer(request: &Request) -> Reply {
    if let Some(reply) = continued(request) {
        return reply;
    }
    if request.tools.is_empty()
        && let Some(text) = history::side_call(request)
    {
        return Reply::said(text);
    }
    let scene = Scene::read(request);
    let tools = Tools::of(request);
    let world = World::new(&tools, &scene, request.system);
    let is_mate = tools.can(Can::Send) && !tools.can(Can::Spawn);
    let went = if is_mate { teammate(&world) } else { lead(&world) };
    went.map_or_else(|calls| calls, |lines| Reply::said(lines.join("\n")))
}

/// The rest of a reply that was cut: a harness asks for it in a tag, and what was said is the beginning of what is to be said.
fn continued(request: &Request) -> Option<Reply> {
    let [before @ .., part, asks] = &request.messages[..] else { return None };
    let is_text =
        part.blocks.iter().chain(&asks.blocks).all(|block| matches!(block, Block::Text(_)));
    if part.from_user || !is_text || !asks.texts().all(|text| text.trim_start().starts_with('<')) {
        return None;
    }
    let said: String = part.texts().collect();
    let mut whole = answer(&Request {
        messages: before.to_vec(),
        ..request.clone()
    });
    whole.text = whole.text.strip_prefix(&said).filter(|rest| !rest.is_empty())?.to_owned();
    Some(whole)
}

/// The calls of a stop, or what is said instead.
fn reply(calls: Vec<Call>, note: &str) -> Reply {
    let text = announce(&calls, note);
    Reply {
        text,
        calls: calls.into_iter().map(|call| (call.name, call.input)).collect(),
        stopped_at: None,
    }
}

type Told = Result<Vec<String>, Reply>;

/// What a plan came to, in lines; or the calls that are missing.
fn runs(run: &Run, steps: &[Step]) -> Told {
    let went = act::plan(run, steps);
    let outcomes = run.before.borrow();
    let mut lines: Vec<String> = outcomes.iter().map(|outcome| outcome.text.clone()).collect();
    lines.retain(|text| !text.is_empty());
    match went {
        Ok(()) => {}
        Err(Stop::Call(calls, _)) if run.is_stuck(&calls) => {
            lines.push("I have made the same call again and again, and stop here.".to_owned());
        }
        Err(Stop::Call(calls, note)) => return Err(reply(calls, &note)),
        Err(Stop::Wait(what) | Stop::Fail(what)) => lines.push(what),
    }
    Ok(lines)
}

/// The answer of an agent that works for the user, or for another agent.
fn lead(world: &World) -> Told {
    let scene = world.scene;
    let answered = history::last_answer(world);
    let mut lines: Vec<String> = Vec::new();
    let fresh = scene.asked().next_back().filter(|(at, _)| Some(*at) > answered);
    if let Some((at, text)) = fresh {
        let (at, text) = resumed(world, at, text);
        match understand::plan(text, world) {
            Ok(steps) => lines = runs(&Run::new(world, at), &steps)?,
            Err(no) => match act::search(&Run::new(world, at), text) {
                Some(Err(Stop::Call(calls, note))) => return Err(reply(calls, &note)),
                Some(Ok(outcome)) => lines.push(outcome.text),
                _ => lines.push(no.told()),
            },
        }
    }
    let more = older(world, fresh.map(|(at, _)| at), answered)?;
    lines.extend(news_since(world, answered.or(fresh.map(|(at, _)| at)).unwrap_or(0)));
    lines.extend(more);
    Ok(unique(lines.into_iter()))
}

/// `Go on` is the request before, from where it was interrupted.
fn resumed<'w>(world: &'w World, at: usize, text: &'w str) -> (usize, &'w str) {
    let goes_on = |text: &str| clause::find("go-on", &Clause::of(text), PLAIN).is_some();
    let before = world.scene.asked().rfind(|(other, text)| *other < at && !goes_on(text));
    before.filter(|_| goes_on(text)).unwrap_or((at, text))
}

/// Earlier requests that wait for mail: the calls that it makes possible, or what is to be said of them.
fn older(world: &World, newest: Option<usize>, answered: Option<usize>) -> Told {
    let scene = world.scene;
    let mut lines = Vec::new();
    let has_mail = scene.mail().any(|(at, _)| Some(at) > answered);
    if world.mates.is_empty() || !has_mail {
        return Ok(lines);
    }
    let open: Vec<(usize, &str)> = scene.asked().filter(|(at, _)| Some(*at) != newest).collect();
    for (at, text) in &open[open.len().saturating_sub(6)..] {
        let steps = understand::plan(text, world).unwrap_or_default();
        if !steps.iter().any(|step| step.act.waits()) {
            continue;
        }
        let run = Run::new(world, *at);
        match act::plan(&run, &steps) {
            Err(Stop::Call(calls, note)) if run.waited.get() => return Err(reply(calls, &note)),
            Err(Stop::Call(..)) => {}
            Ok(()) | Err(_) => {
                let is_said = |line: &str| scene.said_since(*at).any(|said| said.contains(line));
                let outcomes = run.before.take().into_iter().map(|outcome| outcome.text);
                lines.extend(outcomes.filter(|line| !line.is_empty() && !is_said(line)));
            }
        }
    }
    Ok(lines)
}

/// The news since an event, each told once. What only the model is told is news when there is nothing else.
fn news_since(world: &World, since: usize) -> Vec<String> {
    let has_asked = world.scene.newest().is_some_and(|at| at >= since);
    let (mut news, mut noted) = (Vec::new(), Vec::new());
    for event in world.scene.events.iter().skip(since) {
        match event {
            Event::Mail(mail) => news.push(history::news(mail)),
            Event::Notice(text) => match history::notice(text) {
                Some(told) => news.push(told),
                None => noted.push(format!("Noted: {}", gist(text))),
            },
            _ => {}
        }
    }
    if news.is_empty() && !has_asked { noted } else { unique(news.into_iter()) }
}

/// The answer of a teammate: it does what its job, its mail and its task ask for, in that order.
fn teammate(world: &World) -> Told {
    let scene = world.scene;
    let answered = history::last_answer(world);
    let since = answered.map_or(0, |at| at + 1);
    let mut steps: Vec<Step> = Vec::new();
    let mut refusals = Vec::new();
    let mut plan_for: Option<String> = None;
    let submit = world.tools.get(Can::SubmitPlan).map(|tool| tool.name);
    for event in &scene.events[since.min(scene.events.len())..] {
        let order = match event {
            Event::Asked(text) => text.clone(),
            Event::Mail(mail) if mail.kind == "message" => mail.text.to_owned(),
            Event::Claimed { id, subject } => {
                steps.push(Step::then(Act::DoTask(id.clone(), subject.clone(), false)));
                continue;
            }
            _ => continue,
        };
        let (order, wanted) = without_plan(&order, submit);
        if wanted {
            let aim = if order.trim().is_empty() { "do what was asked" } else { order.trim() };
            plan_for.get_or_insert(aim.to_owned());
        }
        if order.trim().is_empty() {
            continue;
        }
        match ordered(&order, world) {
            Ok(more) => steps.extend(more),
            Err(why) => refusals.push(why),
        }
    }
    if let Some(aim) = plan_for {
        steps.insert(0, Step::then(Act::of(Make::OwnPlan, Slots::of(&aim))));
    }
    let run = Run::new(world, since);
    let mut lines = runs(&run, &steps)?;
    lines.extend(refusals);
    if lines.is_empty() {
        let heard = scene.mail().rfind(|(at, mail)| *at >= since && mail.kind != "message");
        let read = heard.map(|(_, mail)| format!("I have read: {}", one_line(mail.text, 200)));
        lines.push(read.unwrap_or_else(|| "I am ready.".to_owned()));
    }
    Ok(lines)
}

/// An order without the sentence that wants a plan first, and whether it had one: it names the tool that sends one.
fn without_plan(order: &str, submit: Option<&str>) -> (String, bool) {
    let Some(submit) = submit else { return (order.to_owned(), false) };
    let wants = |sentence: &&str| {
        sentence.contains(submit) || sentence.to_lowercase().contains("submit a plan")
    };
    let sentences = order.split_inclusive(['.', '\n']);
    let (wanting, kept): (Vec<&str>, Vec<&str>) = sentences.partition(wants);
    // The lead asks by mail; what it is for says nothing new.
    if wanting.iter().any(|sentence| sentence.contains(": ")) {
        return (String::new(), true);
    }
    (kept.concat().trim().to_owned(), !wanting.is_empty())
}

/// What an order asks of a teammate.
fn ordered(order: &str, world: &World) -> Result<Vec<Step>, String> {
    let step = |act: Act| Ok(vec![Step::then(act)]);
    if let Some((id, subject)) = task_of(order) {
        return step(Act::DoTask(id, subject, true));
    }
    let names = |can: Can| world.tools.get(can).is_some_and(|tool| order.contains(tool.name));
    if names(Can::ClaimTask) && names(Can::CompleteTask) {
        return step(Act::of(Make::WorkBoard, Slots::of(order)));
    }
    if order.starts_with("Wait for mail") {
        return Ok(Vec::new());
    }
    let is_order = tokens(order).first().is_some_and(|first| crate::table::is_verb(&first.low));
    // Mail that asks for nothing is read, and that is all.
    let read = || step(Act::Say(format!("I have read: {}", one_line(order, 200))));
    understand::plan(order, world).or_else(|no| if is_order { Err(no.told()) } else { read() })
}
