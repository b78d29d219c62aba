//! Who answers: the lead or a subagent, a teammate, or one of the side calls of a harness.
//!
//! A side call is told by what it is given, a teammate by its tools. Invariant: everybody ends with a text that says what
//! came of it.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::clause::Join;
use crate::engine::{Outcome, Run, Stop};
use crate::history;
use crate::plan::{Act, Plan, Step};
use crate::scene::{Event, Scene, task_of};
use crate::speak::{announce, gist, one_line, refusal};
use crate::tools::{Can, Tools};
use crate::understand::{self, World};
use crate::words::{Shape, has, tokens};
use crate::{Block, Reply, Request};

/// The reply to a request.
pub fn answer(request: &Request) -> Reply {
    if let Some(reply) = continued(request) {
        return reply;
    }
    if request.tools.is_empty()
        && let Some(text) = side_call(request)
    {
        return Reply { text, ..Reply::default() };
    }
    let scene = Scene::read(request);
    let tools = Tools::of(request);
    let world = World::new(&tools, &scene, request.system);
    if tools.can(Can::Send) && !tools.can(Can::Spawn) { teammate(&world) } else { lead(&world) }
}

/// The rest of a reply that was cut.
fn continued(request: &Request) -> Option<Reply> {
    let [before @ .., part, asks] = &request.messages[..] else { return None };
    let is_asking = asks.blocks.iter().any(|block| matches!(block, Block::Text(text) if text.trim_start().starts_with("<continue")));
    if !is_asking || part.from_user {
        return None;
    }
    let said: String = part.blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(*text) } else { None }).collect();
    let whole = answer(&Request { messages: before.to_vec(), ..request.clone() });
    let rest = whole.text.strip_prefix(said.as_str())?;
    (!rest.is_empty()).then(|| Reply { text: rest.to_owned(), ..whole.clone() })
}

/// The calls of a stop, or what is said instead.
fn reply(calls: Vec<crate::tools::Call>, note: &str) -> Reply {
    let text = announce(&calls, note);
    Reply { text, calls: calls.into_iter().map(|call| (call.name, call.input)).collect(), stopped_at: None }
}

fn told(outcomes: &[Outcome]) -> Vec<String> {
    outcomes.iter().map(|outcome| outcome.text.clone()).filter(|text| !text.is_empty()).collect()
}

/// The answer of an agent that works for the user, or for another agent.
fn lead(world: &World) -> Reply {
    let scene = world.scene;
    let answered = history::last_answer(world);
    let newest = scene.newest();
    let used = Rc::default();
    let mut lines: Vec<String> = Vec::new();
    let fresh = newest.filter(|at| answered.is_none_or(|answered| *at > answered));
    if let Some(at) = fresh
        && let Event::Asked(text) = &scene.events[at]
    {
        let plan = understand::plan(&reminded(text), world);
        if let Some(no) = &plan.refusal {
            lines.push(refusal(no));
        } else {
            let run = Run::new(world, at, &used);
            let went = run.plan(&plan);
            lines.extend(told(&run.before.borrow()));
            match went {
                Ok(()) => {}
                Err(Stop::Call(calls, note)) => return reply(calls, &note),
                Err(Stop::Wait(what) | Stop::Fail(what)) => lines.push(what),
            }
        }
    }
    match older(world, newest.filter(|_| fresh.is_some()), answered, &used) {
        Ok(more) => {
            let since = answered.or(fresh).unwrap_or(0);
            let news = news_since(world, since);
            let new = news.into_iter().chain(more).filter(|line| !lines.contains(line)).collect::<Vec<_>>();
            lines.extend(new);
        }
        Err(reply) => return reply,
    }
    Reply { text: lines.join("\n"), ..Reply::default() }
}

/// `Remind me to …`, when its time has come.
fn reminded(text: &str) -> String {
    text.to_owned()
}

/// Earlier requests that wait for mail: the calls that it makes possible, or what is to be said of them.
fn older(world: &World, newest: Option<usize>, answered: Option<usize>, used: &Rc<RefCell<Vec<bool>>>) -> Result<Vec<String>, Reply> {
    let scene = world.scene;
    let hires = |at: usize| scene.calls.iter().any(|call| call.at > at && [Can::Spawn, Can::RequestPlan, Can::Send].iter().any(|can| world.tools.get(*can).is_some_and(|tool| tool.name == call.name)));
    let has_mail = scene.mail().any(|(at, _)| answered.is_none_or(|answered| at > answered));
    let mut lines = Vec::new();
    if !has_mail {
        return Ok(lines);
    }
    let open: Vec<(usize, &str)> = scene.asked().filter(|(at, _)| Some(*at) != newest && hires(*at)).collect();
    for (at, text) in &open[open.len().saturating_sub(6)..] {
        let plan = understand::plan(text, world);
        if !plan.steps.iter().any(|step| step.act.waits()) {
            continue;
        }
        let run = Run::new(world, *at, used);
        match run.plan(&plan) {
            Err(Stop::Call(calls, note)) if run.waited.get() => return Err(reply(calls, &note)),
            Err(Stop::Call(..)) => {}
            Ok(()) | Err(_) => {
                let said = |line: &String| scene.said_since(*at).any(|said| said.contains(line.as_str()));
                lines.extend(told(&run.before.borrow()).into_iter().filter(|line| !said(line)));
            }
        }
    }
    Ok(lines)
}

/// The news since an event, each told once.
fn news_since(world: &World, since: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in &world.scene.events[(since).min(world.scene.events.len())..] {
        let line = match event {
            Event::Mail(mail) => Some(history::news(mail)),
            Event::Notice(name, text) => history::notice(name, text),
            _ => None,
        };
        lines.extend(line.filter(|line| !lines.contains(line)));
    }
    if lines.is_empty() && world.scene.newest().is_none_or(|at| at < since) {
        let asides = world.scene.events[since.min(world.scene.events.len())..].iter().filter_map(|event| if let Event::Notice(_, text) = event { Some(format!("Noted: {}", gist(text))) } else { None });
        lines.extend(asides);
    }
    lines
}

/// The answer of a teammate: it does what its job, its mail and its task ask for, in that order.
fn teammate(world: &World) -> Reply {
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
            Event::Mail(mail) if mail.kind == "message" => mail.text.clone(),
            Event::Claimed { id, subject } => {
                steps.push(Step { act: Act::DoTask(id.clone(), subject.clone(), false), join: Join::Then });
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
        steps.insert(0, Step { act: Act::OwnPlan(aim), join: Join::Then });
    }
    let used = Rc::default();
    let run = Run::new(world, since, &used);
    let went = run.plan(&Plan { steps, refusal: None });
    let mut lines = told(&run.before.borrow());
    match went {
        Ok(()) => {}
        Err(Stop::Call(calls, note)) => return reply(calls, &note),
        Err(Stop::Wait(what) | Stop::Fail(what)) => lines.push(what),
    }
    lines.extend(refusals);
    if lines.is_empty() {
        let heard = scene.mail().filter(|(at, mail)| *at >= since && mail.kind != "message").map(|(_, mail)| one_line(&mail.text, 200)).last();
        lines.push(heard.map_or_else(|| "I am ready.".to_owned(), |heard| format!("I have read: {heard}")));
    }
    Reply { text: lines.join("\n"), ..Reply::default() }
}

/// An order without the sentence that wants a plan first, and whether it had one.
fn without_plan(order: &str, submit: Option<&str>) -> (String, bool) {
    let Some(submit) = submit.filter(|name| order.contains(name)) else { return (order.to_owned(), false) };
    if let Some((_, aim)) = order.split_once(&format!("{submit} for: ")) {
        // The lead asks by mail; what it is for says nothing new.
        return (if aim.contains("claim") || aim.contains("asked to do") { String::new() } else { String::new() }, true);
    }
    let kept: Vec<&str> = order.split_inclusive(['.', '\n']).filter(|sentence| !sentence.contains(submit)).collect();
    (kept.concat().trim().to_owned(), true)
}

/// What an order asks of a teammate.
fn ordered(order: &str, world: &World) -> Result<Vec<Step>, String> {
    let step = |act: Act| Ok(vec![Step { act, join: Join::Then }]);
    if let Some((id, subject)) = task_of(order).or_else(|| task_of(&order.replace("Your task is", "Your task"))) {
        return step(Act::DoTask(id, subject, true));
    }
    let names = |can: Can| world.tools.get(can).is_some_and(|tool| order.contains(tool.name));
    if names(Can::ClaimTask) && names(Can::CompleteTask) {
        return step(Act::WorkBoard);
    }
    if order.starts_with("Wait for mail") {
        return Ok(Vec::new());
    }
    let plan = understand::plan(order, world);
    match plan.refusal {
        // Mail that asks for nothing is read, and that is all.
        Some(_) if !is_order(order) => step(Act::Say(format!("I have read: {}", one_line(order, 200)))),
        Some(no) => Err(refusal(&no)),
        None => Ok(plan.steps),
    }
}

fn is_order(text: &str) -> bool {
    tokens(text).first().is_some_and(|first| crate::rank::is_verb(&first.low))
}

/// The answer to a question of the harness itself, told by what it is given.
fn side_call(request: &Request) -> Option<String> {
    let text = request.messages.iter().rev().find(|message| message.from_user)?.blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(*text) } else { None }).collect::<Vec<_>>().join("\n");
    let part = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.rsplit_once(&format!("</{tag}>")).map_or(rest, |(inner, _)| inner).trim())
    };
    match (part("memories"), part("request"), part("conversation")) {
        (Some(memories), Some(asked), _) => Some(chosen(memories.split("</memories>").next().unwrap_or(memories), asked)),
        (Some(memories), None, Some(conversation)) => Some(extracted(memories, conversation)),
        (None, None, Some(conversation)) => Some(summarized(conversation)),
        (Some(memories), None, None) => Some(merged(memories)),
        _ if text.trim_start().starts_with('[') && request.system.contains("memories") => Some(merged(&text)),
        _ if request.system.to_lowercase().contains("title") => Some(one_line(&text, 50)),
        _ => None,
    }
}

/// Which memories a request needs: those that share a word with it, and matters of style when code is to be written.
fn chosen(memories: &str, asked: &str) -> String {
    const STYLE: &str = "tab spac indentation quot styl prefer indent format languag";
    const CODE: &str = "python script code function creat writ mak preferenc preference lik told tell remember refactor modul know";
    let stems = |text: &str| tokens(text).into_iter().filter(|token| token.shape != Shape::Mark).map(|token| token.stem).collect::<Vec<_>>();
    let content = |text: &str| crate::rank::content(text).into_iter().map(|token| token.stem).collect::<Vec<_>>();
    let (wanted, all) = (content(asked), stems(asked));
    let is_code = all.iter().any(|word| has(CODE, &word)) || asked.contains(".py");
    let lines = memories.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let needed = lines.filter(|(slug, description)| {
        let own = stems(&format!("{} {description}", slug.replace('-', " ")));
        own.iter().any(|word| wanted.contains(word)) || (is_code && own.iter().any(|word| has(STYLE, &word)))
    });
    json!(needed.take(5).map(|(slug, _)| slug).collect::<Vec<_>>()).to_string()
}

/// The paragraphs of a conversation that is told: who, and what.
fn paragraphs(conversation: &str) -> Vec<(&str, String)> {
    const SPEAKERS: [&str; 4] = ["User: ", "Assistant: ", "Tool call: ", "Tool result: "];
    let mut found: Vec<(&str, String)> = Vec::new();
    for paragraph in conversation.split("\n\n") {
        match SPEAKERS.iter().find_map(|speaker| Some((*speaker, paragraph.strip_prefix(speaker)?))) {
            Some((speaker, text)) => found.push((speaker.trim_end_matches(": "), text.to_owned())),
            None => {
                if let Some((_, text)) = found.last_mut() {
                    text.push_str("\n\n");
                    text.push_str(paragraph);
                }
            }
        }
    }
    found
}

/// What the user said that is worth knowing later, and is not known yet.
fn extracted(memories: &str, conversation: &str) -> String {
    let mut all: Vec<Value> = Vec::new();
    let said = paragraphs(conversation).into_iter().filter(|(who, text)| *who == "User" && !text.trim_start().starts_with('<'));
    for sentence in said.flat_map(|(_, text)| text.split_inclusive(['.', '!', '\n']).map(str::to_owned).collect::<Vec<_>>()) {
        let Some(fact) = history::fact(&sentence).filter(|fact| !fact.is_empty()) else { continue };
        let fact = fact.trim_end_matches('.');
        let words: Vec<String> = crate::rank::content(fact).into_iter().map(|token| token.low).filter(|word| !["prefer", "using", "remember", "note", "also", "not", "over", "called", "than"].contains(&word.as_str())).take(3).collect();
        let is_known = memories.contains(fact) || all.iter().any(|known| known["description"] == fact);
        if !is_known && !words.is_empty() {
            let kind = if fact.starts_with("you") || fact.contains("use ") { "user" } else { "project" };
            all.push(json!({"name": words.join("-"), "description": fact, "type": kind, "content": format!("The user said: “{}”", sentence.trim())}));
        }
    }
    Value::from(all).to_string()
}

/// All memories, without those that say the same.
fn merged(memories: &str) -> String {
    let array = memories.find('[').zip(memories.rfind(']')).and_then(|(from, to)| serde_json::from_str::<Vec<Value>>(&memories[from..=to]).ok());
    let mut kept: Vec<Value> = Vec::new();
    for memory in array.unwrap_or_default() {
        if !kept.iter().any(|other| other["content"] == memory["content"]) {
            kept.push(memory);
        }
    }
    Value::from(kept).to_string()
}

/// A summary from which this very brain can go on: what was asked, what was called for it, what was noted.
fn summarized(conversation: &str) -> String {
    let all = paragraphs(conversation);
    let earlier = all.iter().find_map(|(_, text)| text.split_once("<conversation-summary>").or_else(|| text.split_once("summary>"))).map_or("", |(_, rest)| rest);
    let own = |prefix: &'static str| earlier.lines().filter_map(move |line| line.strip_prefix(prefix)).map(str::to_owned);
    let asked: Vec<(usize, String)> = all.iter().enumerate().filter(|(_, (who, text))| *who == "User" && !text.trim_start().starts_with('<')).map(|(at, (_, text))| (at, one_line(text, 300))).collect();
    let first = own("The user asked first: ").next().or_else(|| asked.first().map(|(_, text)| text.clone())).unwrap_or_default();
    let current = asked.last().map(|(_, text)| text.clone()).or_else(|| own("The user asked last: ").next()).unwrap_or_default();
    let mut lines = vec![format!("The user asked first: {first}")];
    let mut known: Vec<String> = own("- asked: ").collect();
    known.extend(asked.iter().map(|(_, text)| text.clone()));
    known.dedup();
    let from = known.len().saturating_sub(12);
    lines.extend(known[from..].iter().map(|text| format!("- asked: {text}")));
    lines.push(format!("The user asked last: {current}"));
    let start = asked.last().map_or(0, |(at, _)| *at);
    let is_open = all.last().is_some_and(|(who, _)| *who != "Assistant");
    if is_open {
        if asked.is_empty() {
            lines.extend(own("- done: ").map(|line| format!("- done: {line}")));
        }
        lines.extend(calls(&all[start..]));
    }
    let noted: Vec<String> = all.iter().filter(|(who, _)| *who == "User").flat_map(|(_, text)| text.split_inclusive(['.', '!', '\n'])).filter_map(history::fact).filter(|fact| !fact.is_empty()).chain(own("- noted: ")).collect();
    lines.extend(noted.into_iter().map(|fact| format!("- noted: {fact}")));
    let said = all.iter().filter(|(who, _)| *who == "Assistant").flat_map(|(_, text)| text.lines()).chain(earlier.lines());
    let findings = said.filter(|line| is_open && (line.starts_with("The files: ") || line.starts_with("- ") && line.contains(": ") && !["- asked", "- done", "- noted"].iter().any(|head| line.starts_with(head))));
    let mut findings: Vec<String> = findings.map(str::to_owned).collect();
    findings.dedup();
    lines.extend(findings.into_iter().take(60));
    lines.join("\n")
}

/// Calls and their results, each on a line.
fn calls(paragraphs: &[(&str, String)]) -> Vec<String> {
    let mut calls: Vec<(String, Option<String>)> = Vec::new();
    for (who, text) in paragraphs {
        match *who {
            "Tool call" => calls.push((text.trim().to_owned(), None)),
            "Tool result" => {
                if let Some((_, result)) = calls.iter_mut().find(|(_, result)| result.is_none()) {
                    *result = Some(text.trim().to_owned());
                }
            }
            _ => {}
        }
    }
    let line = |(call, result): (String, Option<String>)| {
        let result = result?;
        let short = crate::speak::cut(&result, if call.contains("glob") { 1_500 } else { 400 });
        (!call.contains('\n') && call.len() < 1_000).then(|| format!("- done: {call} → {}", json!(short)))
    };
    calls.into_iter().filter_map(line).collect()
}
