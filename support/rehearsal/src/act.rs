//! How each act goes: straight code over results, which stops where a result is still missing.
//!
//! Invariants: a file is written over only when the request named it and gave its content; a change is an edit of what was
//! read; where nothing was said about a content, nothing is put there.

use serde_json::{Value, json};

use crate::create::{Content, Sample};
use crate::engine::{Done, Outcome, Run, Stop, Went};
use crate::history;
use crate::mcp;
use crate::people::sentence;
use crate::plan::{Act, Job, TaskSpec};
use crate::python;
use crate::scene::{Event, Mail};
use crate::speak::{block, cut, gist, listed, one_line, shown, why};
use crate::tasks::{self, OnBoard};
use crate::tools::{Call, Can};
use crate::understand::{self, shell};
use crate::when::When;
use crate::words::Shape;

/// So many files are read at once, and so many in all.
const AT_ONCE: usize = 4;
const MOST_FILES: usize = 40;

/// Does the next thing of an act.
pub fn go(act: &Act, run: &Run) -> Went {
    match act {
        Act::Say(text) => Ok(Outcome::told(text)),
        Act::Shell(command, in_background) => command_line(run, command, *in_background),
        Act::Tool(can, args) => tool(run, *can, args),
        Act::Named(name, input) => named(run, name, input),
        Act::Read(paths) => read(run, paths),
        Act::Lines(path, count, from_top) => lines(run, path, *count, *from_top),
        Act::About(paths) => about(run, paths),
        Act::ReadAll(dir, kind) => read_all(run, dir, kind.as_deref()),
        Act::List(dir) => list(run, dir.as_deref()),
        Act::Find(pattern) => found(run, pattern),
        Act::Count(pattern) => count(run, pattern),
        Act::Exists(path, shows) => exists(run, path, *shows),
        Act::Framework => framework(run),
        Act::Verify => verify(run),
        Act::Create(path, content) => create(run, path, content),
        Act::Replace(path, old, new) => replace(run, path, old, new),
        Act::Append(path, line) => append(run, path, line),
        Act::Mend(path, aspects) => python::mend(run, path.as_deref(), aspects),
        Act::Review(dir) => python::review(run, dir),
        Act::Package(dir, files) => python::package(run, dir, files),
        Act::Long(path, count) => long(run, path.as_deref(), *count),
        Act::Todo(items) => {
            run.call(Can::Todo, json!({"todos": items.iter().map(|item| json!({"content": item, "status": "pending"})).collect::<Vec<_>>()}))?;
            Ok(Outcome::told(format!("The plan has {} items; I have done none of them yet.", items.len())))
        }
        Act::Delegate(jobs) => delegate(run, jobs),
        Act::Skill(name, follows) => skill(run, name, *follows),
        Act::Tasks(specs) => make_tasks(run, specs),
        Act::Board(unblocked) => show_board(run, *unblocked),
        Act::ShowTask(words) => show_task(run, words),
        Act::Claim(words) => claim(run, words),
        Act::Complete(words) => complete(run, words),
        Act::WorkBoard => work_board(run),
        Act::DoTask(id, subject, claims) => do_task(run, id, subject, *claims),
        Act::OwnPlan(aim) => own_plan(run, aim),
        Act::Worktrees => worktrees(run),
        Act::Worktree(name, task) => {
            let args = match task {
                Some(task) => json!({"name": name, "task_id": task}),
                None => json!({"name": name}),
            };
            tool(run, Can::MakeTree, &args)
        }
        Act::Spawn(name, role, job, plan_first) => spawn(run, name, role, job, *plan_first),
        Act::Message(to, text) => {
            let done = run.call(Can::Send, json!({"to": to, "content": text}))?;
            Ok(outcome(&done, format!("I wrote to {to}.")).tagged("teammate", to))
        }
        Act::AskPlan(names, about) => ask_plan(run, names, about.as_deref()),
        Act::Answer(names, approve, feedback) => answer_plans(run, names, *approve, feedback),
        Act::Leave(names) => leave(run, names),
        Act::Report(names) => report(run, names),
        Act::Inbox => inbox(run),
        Act::Schedule(when, prompt, durable) => schedule(run, when, prompt, *durable),
        Act::CancelCron(words) => cancel(run, words),
        Act::Connect(servers) => {
            let done = run.calls(servers.iter().map(|server| (Can::Connect, json!({"name": server}))).collect())?;
            let failed = done.iter().any(|done| done.failed);
            Ok(Outcome { failed, ..Outcome::told(done.iter().map(|done| done.text.clone()).collect::<Vec<_>>().join("\n")) })
        }
        Act::Serve(server, words) => serve(run, server.as_deref(), words),
        Act::Tools => Ok(Outcome::told(history::tools(run.world))),
        Act::Recall(question) => Ok(Outcome::told(history::recall(run.world, question))),
        Act::FirstRequest => Ok(Outcome::told(history::first_request(run.world))),
        Act::Requests => Ok(Outcome::told(history::requests(run.world))),
        Act::WhatDidYouDo => Ok(Outcome::told(history::what_was_done(run.world, run.from))),
    }
}

impl Outcome {
    fn tagged(mut self, title: &str, body: &str) -> Self {
        self.found.push((title.to_owned(), body.to_owned()));
        self
    }
}

/// What is told of a call: this when it worked, else why it did not.
pub fn outcome(done: &Done, told: String) -> Outcome {
    if done.failed { Outcome::failed(format!("That did not work: {}.", why(&done.text))) } else { Outcome::told(told) }
}

fn is_missing(text: &str) -> bool {
    let low = text.to_lowercase();
    ["no such file", "not found", "does not exist", "cannot find", "there is no file"].iter().any(|words| low.contains(words))
}

/// The call that reads a file.
pub fn reading(run: &Run, path: &str) -> (Can, Value) {
    if run.world.tools.can(Can::Read) { (Can::Read, json!({"path": path})) } else { (Can::Bash, json!({"command": format!("cat {}", shell(path))})) }
}

fn read(run: &Run, paths: &[String]) -> Went {
    let done = run.calls(paths.iter().map(|path| reading(run, path)).collect())?;
    let mut told = Outcome::default();
    for (path, done) in paths.iter().zip(&done) {
        let line = if done.failed { format!("I could not read {path}: {}.", why(&done.text)) } else { format!("{path}:\n{}", block(&done.text)) };
        told.text.push_str(&format!("{line}\n"));
        told.failed |= done.failed;
        if !done.failed {
            told.found.push((path.clone(), done.text.clone()));
        }
    }
    told.text.truncate(told.text.trim_end().len());
    Ok(told)
}

fn lines(run: &Run, path: &str, count: u32, from_top: bool) -> Went {
    let done = match (from_top, run.world.tools.can(Can::Read)) {
        (true, true) => run.call(Can::Read, json!({"path": path, "limit": count}))?,
        (true, false) => run.call(Can::Bash, json!({"command": format!("head -n {count} {}", shell(path))}))?,
        (false, _) => run.call(Can::Bash, json!({"command": format!("tail -n {count} {}", shell(path))}))?,
    };
    Ok(outcome(&done, format!("{path}:\n{}", block(&done.text))))
}

fn about(run: &Run, paths: &[String]) -> Went {
    let before: Vec<(String, String)> = run.before.borrow().iter().flat_map(|outcome| outcome.found.clone()).collect();
    if paths.is_empty() && !before.is_empty() {
        let gists: Vec<String> = before.iter().map(|(title, text)| format!("{title}: {}", gist(text))).collect();
        return Ok(Outcome::told(gists.join("\n")));
    }
    let paths = if paths.is_empty() { vec!["README.md".to_owned()] } else { paths.to_vec() };
    let read = read(run, &paths)?;
    if read.failed {
        return Ok(read);
    }
    let gists: Vec<String> = read.found.iter().map(|(title, text)| format!("{title}: {}", gist(text))).collect();
    Ok(Outcome { found: read.found, ..Outcome::told(gists.join("\n")) })
}

/// The paths that match a pattern.
pub fn paths(run: &Run, pattern: &str) -> Result<(Vec<String>, Option<String>), Stop> {
    let done = if run.world.tools.can(Can::Glob) {
        run.call(Can::Glob, json!({"pattern": pattern}))?
    } else {
        let (dir, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let dir = dir.trim_end_matches("**").trim_end_matches('/');
        let dir = if dir.is_empty() { "." } else { dir };
        run.call(Can::Bash, json!({"command": format!("find {} -type f -name '{name}' -not -path '*/.*'", shell(dir))}))?
    };
    if done.failed {
        return Ok((Vec::new(), Some(why(&done.text))));
    }
    let is_path = |line: &&str| !line.is_empty() && !line.starts_with('(') && !line.starts_with('[') && !line.contains("no file");
    let lines = done.text.lines().map(|line| line.trim().trim_start_matches("./")).filter(is_path);
    Ok((lines.filter(|line| !line.contains(": ")).map(str::to_owned).collect(), None))
}

fn kind_of(pattern: &str) -> &'static str {
    match pattern.rsplit_once('.').map(|(_, ending)| ending) {
        Some("py") => "Python file",
        Some("rs") => "Rust file",
        Some("md") => "Markdown file",
        _ => "file",
    }
}

fn found(run: &Run, pattern: &str) -> Went {
    let (paths, failure) = paths(run, pattern)?;
    if let Some(why) = failure {
        return Ok(Outcome::failed(format!("I could not look for {pattern}: {why}.")));
    }
    let kind = kind_of(pattern);
    let told = match paths.len() {
        0 => format!("I found no {kind}s."),
        1 => format!("I found 1 {kind}: {}", paths[0]),
        many => format!("I found {many} {kind}s:\n{}", block(&paths.join("\n"))),
    };
    Ok(Outcome::told(told).tagged(&format!("The {kind}s"), &paths.join("\n")))
}

fn count(run: &Run, pattern: &str) -> Went {
    let (paths, failure) = paths(run, pattern)?;
    Ok(match failure {
        Some(why) => Outcome::failed(format!("I could not look for {pattern}: {why}.")),
        None => Outcome::told(format!("There are {} {}s.", paths.len(), kind_of(pattern))),
    })
}

fn list(run: &Run, dir: Option<&str>) -> Went {
    let dir = dir.unwrap_or(".");
    if !run.world.tools.can(Can::Bash) {
        return found(run, &if dir == "." { "*".to_owned() } else { format!("{dir}/*") });
    }
    let command = if dir == "." { "ls".to_owned() } else { format!("ls {}", shell(dir)) };
    let done = run.call(Can::Bash, json!({"command": command}))?;
    Ok(outcome(&done, shown(&done.text)).tagged("The files", &done.text))
}

/// Reads a folder in batches. What was read is noted beside the next calls: an old result may be taken away.
fn read_all(run: &Run, dir: &str, kind: Option<&str>) -> Went {
    let notes: Vec<&str> = run.world.scene.said_since(run.from).chain([run.world.scene.summary]).flat_map(str::lines).collect();
    let known = notes.iter().find_map(|line| line.strip_prefix("The files: "));
    let files: Vec<String> = match known {
        Some(list) => list.split(", ").map(str::to_owned).collect(),
        None => {
            let name = kind.map_or("*".to_owned(), |kind| if kind.contains('*') { kind.to_owned() } else { format!("*.{kind}") });
            let (files, failure) = paths(run, &if dir == "." { format!("**/{name}") } else { format!("{dir}/**/{name}") })?;
            if let Some(why) = failure {
                return Ok(Outcome::failed(format!("I could not look into {dir}: {why}.")));
            }
            files
        }
    };
    if files.is_empty() {
        return Ok(Outcome::told(format!("I found no files in {dir}.")));
    }
    let mut note = format!("The files: {}", files.join(", "));
    let mut told = Outcome::default();
    for batch in files[..files.len().min(MOST_FILES)].chunks(AT_ONCE) {
        let mut fresh = Vec::new();
        let mut missing = Vec::new();
        for path in batch {
            let head = format!("- {path}: ");
            let (can, args) = reading(run, path);
            let Some(call) = run.world.tools.call(can, args) else { return Err(Stop::Fail("I have no tool here that reads".into())) };
            if let Some(gist) = notes.iter().find_map(|line| line.strip_prefix(head.as_str())) {
                fresh.push((path.clone(), gist.to_owned()));
                continue;
            }
            match run.made(vec![call], "") {
                Ok(done) => fresh.push((path.clone(), if done[0].failed { format!("not read: {}", why(&done[0].text)) } else { gist(&done[0].text) })),
                Err(Stop::Call(calls, _)) => missing.extend(calls),
                Err(stop) => return Err(stop),
            }
        }
        if !missing.is_empty() {
            return Err(Stop::Call(missing, note));
        }
        note = fresh.iter().map(|(path, gist)| format!("- {path}: {gist}")).collect::<Vec<_>>().join("\n");
        told.found.extend(fresh);
    }
    told.text = told.found.iter().map(|(path, gist)| format!("- {path}: {gist}")).collect::<Vec<_>>().join("\n");
    if files.len() > MOST_FILES {
        told.text.push_str(&format!("\nI read the first {MOST_FILES} of {} files.", files.len()));
    }
    Ok(told)
}

fn exists(run: &Run, path: &str, shows: bool) -> Went {
    let (can, args) = reading(run, path);
    let done = run.call(can, args)?;
    let is_there = !is_missing(&done.text) || !(done.failed || done.text.contains("exit code"));
    Ok(match (is_there, done.failed) {
        (false, _) => Outcome::told(format!("{path} does not exist.")),
        (true, true) => Outcome::failed(format!("I could not look at {path}: {}.", why(&done.text))),
        (true, false) if shows => Outcome::told(format!("{path} exists:\n{}", block(&done.text))).tagged(path, &done.text),
        (true, false) => Outcome::told(format!("{path} exists.")).tagged(path, &done.text),
    })
}

fn framework(run: &Run) -> Went {
    const KNOWN: [(&str, &str); 8] = [("pytest", "pytest"), ("vitest", "Vitest"), ("jest", "Jest"), ("mocha", "Mocha"), ("junit", "JUnit"), ("rspec", "RSpec"), ("unittest", "unittest, Python's own"), ("[package]", "cargo test, Rust's own")];
    let (all, failure) = paths(run, "**/*")?;
    if let Some(why) = failure {
        return Ok(Outcome::failed(format!("I could not look around: {why}.")));
    }
    let is_telling = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        ["pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt", "go.mod", "pom.xml"].contains(&name) || (name.starts_with("test_") && name.ends_with(".py"))
    };
    let mut telling: Vec<String> = all.iter().filter(is_telling).cloned().collect();
    telling.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    telling.truncate(4);
    if telling.is_empty() {
        return Ok(Outcome::told("I found nothing that tells of a testing framework: no build file and no test."));
    }
    let read = read(run, &telling)?;
    let hit = KNOWN.iter().find_map(|(word, name)| read.found.iter().find(|(_, text)| text.contains(word)).map(|(path, _)| (name, path)));
    Ok(Outcome::told(match hit {
        Some((name, path)) => format!("The testing framework is {name}: {path} says so."),
        None => format!("I read {} and found no testing framework in them.", listed(&telling)),
    }))
}

fn verify(run: &Run) -> Went {
    let texts: Vec<String> = run.before.borrow().iter().flat_map(|outcome| outcome.found.iter().flat_map(|(title, body)| [title.clone(), body.clone()]).chain([outcome.text.clone()]).collect::<Vec<_>>()).collect();
    let path = texts.iter().flat_map(|text| crate::words::tokens(text)).find(|token| token.shape == Shape::Path && token.text.contains('.') && !token.text.starts_with('.'));
    let Some(path) = path.map(|token| token.text).or_else(|| run.world.last_path.clone()) else {
        return Ok(Outcome::failed("There is no file that I could look at."));
    };
    let (can, args) = reading(run, &path);
    let done = run.call(can, args)?;
    Ok(outcome(&done, format!("I have looked myself. {path}:\n{}", block(&done.text))))
}

/// What is asked of the user's style: tabs, and single quotes.
pub fn style(run: &Run) -> (bool, bool) {
    let facts = history::facts(run.world).join("\n").to_lowercase();
    let prefers = |wanted: &str, other: &str| {
        let at = |word: &str| facts.rfind(word);
        match (at(wanted), at(other)) {
            (Some(_), None) => true,
            (Some(wanted_at), Some(other_at)) => wanted_at < other_at || facts[..other_at].ends_with("not ") || facts.contains(&format!("over {other}")),
            (None, _) => false,
        }
    };
    (prefers("tabs", "spaces"), prefers("single quote", "double quote"))
}

fn create(run: &Run, path: &str, content: &Content) -> Went {
    let given = match content {
        Content::Given(text) => return write(run, path, text, false),
        Content::Sample(Sample::Table(name)) => format!("CREATE TABLE {name} (\n    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL\n);"),
        Content::Sample(Sample::Function(signature)) => python::function(signature, style(run)),
        Content::Sample(Sample::Python) => python::greeting(style(run)),
        Content::Nothing => String::new(),
        Content::Found(sources) => return summary(run, path, sources),
    };
    // Its content is not the user's, so it must not take the place of anything.
    if run.world.tools.can(Can::Write) && run.world.tools.can(Can::Read) {
        return match there(run, &[path.to_owned()])? {
            Ok(there) if there.is_empty() => write(run, path, &given, true),
            Ok(_) => Ok(Outcome::failed(format!("{path} is there already, and you did not say what it shall hold: I left it as it is."))),
            Err(why) => Ok(Outcome::failed(format!("I did not create {path}: {why}."))),
        };
    }
    let file = shell(path);
    let command = if given.is_empty() { format!("touch {file}") } else { format!("[ ! -e {file} ] && printf '%s\\n' {} > {file}", lines_for_shell(&given)) };
    let done = run.call(Can::Bash, json!({"command": command}))?;
    Ok(outcome(&done, format!("I created {path}.")))
}

/// Which of these files are there. A pattern would not tell: it leaves out what git ignores.
pub fn there(run: &Run, paths: &[String]) -> Result<Result<Vec<String>, String>, Stop> {
    if run.world.tools.can(Can::Bash) {
        let is_below = paths.iter().all(|path| !path.starts_with('/') && !path.contains(".."));
        let depth = paths.iter().map(|path| path.matches('/').count() + 1).max().unwrap_or(1);
        let words: Vec<String> = paths.iter().map(|path| shell(&if is_below { format!("./{}", path.trim_start_matches("./")) } else { path.clone() })).collect();
        // `find` says nothing of what is not there; `ls` calls it an error.
        let command = if is_below { format!("find . -maxdepth {depth} -path {}", words.join(" -o -path ")) } else { format!("ls -d {}", words.join(" ")) };
        let done = run.call(Can::Bash, json!({ "command": command }))?;
        if done.failed && !is_missing(&done.text) {
            return Ok(Err(why(&done.text)));
        }
        let is_told = |path: &&String| done.text.lines().any(|line| line.trim().trim_start_matches("./") == path.trim_start_matches("./"));
        return Ok(Ok(paths.iter().filter(is_told).cloned().collect()));
    }
    let done = run.calls(paths.iter().map(|path| (Can::Read, json!({"path": path}))).collect())?;
    if let Some(done) = done.iter().find(|done| done.failed && !is_missing(&done.text)) {
        return Ok(Err(why(&done.text)));
    }
    Ok(Ok(paths.iter().zip(&done).filter(|(_, done)| !done.failed).map(|(path, _)| path.clone()).collect()))
}

fn lines_for_shell(text: &str) -> String {
    text.lines().map(|line| format!("'{}'", line.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

/// Writes a file whose content is known.
pub fn write(run: &Run, path: &str, text: &str, is_new: bool) -> Went {
    let text = if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let done = if run.world.tools.can(Can::Write) {
        run.call(Can::Write, json!({"path": path, "content": text}))?
    } else {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("mkdir -p {} && ", shell(folder)));
        run.call(Can::Bash, json!({"command": format!("{folder}printf '%s\\n' {} > {}", lines_for_shell(&text), shell(path))}))?
    };
    if done.failed {
        return Ok(Outcome::failed(format!("I did not write {path}: {}.", why(&done.text))));
    }
    let verb = if !is_new && done.text.contains("replaced") { "replaced" } else { "created" };
    let empty = if text.is_empty() { " It is empty: you did not say what it shall hold." } else { "" };
    Ok(Outcome::told(format!("I {verb} {path}.{empty}")).tagged(path, &text))
}

/// Writes what was found to a file: what files say, or the results before.
fn summary(run: &Run, path: &str, sources: &[String]) -> Went {
    let mut parts: Vec<(String, String)> = Vec::new();
    if sources.is_empty() {
        parts.extend(run.before.borrow().iter().flat_map(|outcome| outcome.found.clone()));
        if parts.is_empty() {
            let last = run.world.scene.calls.iter().rev().find(|call| call.at < run.from && !call.failed && !call.text.is_empty());
            parts.extend(last.map(|call| (call.name.to_owned(), call.text.to_string())));
        }
    } else {
        let read = read(run, sources)?;
        if read.failed {
            return Ok(read);
        }
        parts = read.found;
    }
    if parts.is_empty() {
        return Ok(Outcome::failed(format!("I have found nothing that I could write to {path}.")));
    }
    let is_file = |title: &str| title.contains('.') && !title.contains(' ');
    let body: Vec<String> = parts.iter().map(|(title, text)| format!("## {title}\n\n{}", if is_file(title) { gist(text) } else { cut(text.trim(), 6_000) })).collect();
    let names: Vec<String> = parts.iter().filter(|(title, _)| is_file(title)).map(|(title, _)| title.rsplit('/').next().unwrap_or(title).split('.').next().unwrap_or_default().to_lowercase()).collect();
    let path = if path == "summary.md" && !names.is_empty() { format!("summary_of_{}.md", names.join("_")) } else { path.to_owned() };
    write(run, &path, &format!("# Summary\n\n{}", body.join("\n\n")), false)
}

/// The text of a file without the line numbers that another harness puts in front.
pub fn without_numbers(text: &str) -> String {
    let strip = |line: &str| {
        let trimmed = line.trim_start();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &trimmed[digits..];
        rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')).filter(|_| digits > 0).map(str::to_owned)
    };
    let all: Option<Vec<String>> = text.lines().map(strip).collect();
    all.filter(|lines| !lines.is_empty()).map_or_else(|| text.to_owned(), |lines| lines.join("\n") + "\n")
}

fn replace(run: &Run, path: &str, old: &str, new: &str) -> Went {
    let (can, args) = reading(run, path);
    let done = run.call(can, args)?;
    if done.failed {
        return Ok(Outcome::failed(format!("I could not read {path}: {}.", why(&done.text))));
    }
    if run.world.tools.can(Can::Edit) {
        let done = run.call(Can::Edit, json!({"path": path, "old_text": old, "new_text": new}))?;
        return Ok(if done.failed { Outcome::failed(format!("I changed nothing in {path}: {}.", why(&done.text))) } else { Outcome::told(format!("I replaced “{old}” by “{new}” in {path}.")) });
    }
    match done.text.matches(old).count() {
        1 => change(run, path, &done.text, &done.text.replacen(old, new, 1), &format!("I replaced “{old}” by “{new}” in {path}.")),
        0 => Ok(Outcome::failed(format!("“{old}” does not occur in {path}: I changed nothing."))),
        many => Ok(Outcome::failed(format!("“{old}” occurs {many} times in {path}: I changed nothing. Name more of the passage."))),
    }
}

/// Turns what was read into what it shall be: an edit of the lines that differ, or the whole file where nothing edits.
pub fn change(run: &Run, path: &str, old: &str, new: &str, told: &str) -> Went {
    let call = changing(run, path, old, new).ok_or_else(|| Stop::Fail(format!("I have no tool here that edits {path}")))?;
    let done = run.made(vec![call], "")?.remove(0);
    Ok(if done.failed { Outcome::failed(format!("I did not change {path}: {}.", why(&done.text))) } else { Outcome::told(told).tagged(path, new) })
}

/// The call for such a change.
pub fn changing(run: &Run, path: &str, old: &str, new: &str) -> Option<Call> {
    if !run.world.tools.can(Can::Edit) {
        return run.world.tools.call(Can::Write, json!({"path": path, "content": new}));
    }
    let (before, after): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = |one: &[&str], other: &[&str], from_end: bool| {
        let pairs = one.len().min(other.len());
        (0..pairs).take_while(|at| if from_end { one[one.len() - 1 - at] == other[other.len() - 1 - at] } else { one[*at] == other[*at] }).count()
    };
    let mut head = same(&before, &after, false);
    let mut tail = same(&before[head..], &after[head..], true);
    // The passage must occur once.
    loop {
        let passage: String = before[head..before.len() - tail].concat();
        if !passage.trim().is_empty() && old.matches(&passage).count() == 1 {
            let put: String = after[head..after.len() - tail].concat();
            return run.world.tools.call(Can::Edit, json!({"path": path, "old_text": passage, "new_text": put}));
        }
        match (head, tail) {
            (0, 0) => return run.world.tools.call(Can::Write, json!({"path": path, "content": new})),
            (0, _) => tail -= 1,
            _ => head -= 1,
        }
    }
}

fn append(run: &Run, path: &str, line: &str) -> Went {
    let (can, args) = reading(run, path);
    let done = run.call(can, args)?;
    if done.failed {
        return Ok(Outcome::failed(format!("I could not read {path}: {}.", why(&done.text))));
    }
    let old = without_numbers(&done.text);
    if !run.world.tools.can(Can::Edit) && !run.world.tools.can(Can::Write) {
        let done = run.call(Can::Bash, json!({"command": format!("printf '%s\\n' {} >> {}", lines_for_shell(line), shell(path))}))?;
        return Ok(outcome(&done, format!("I added the line to {path}.")));
    }
    let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    change(run, path, &old, &format!("{old}{end}{line}\n"), &format!("I added the line to {path}."))
}

fn long(run: &Run, path: Option<&str>, count: u32) -> Went {
    let text = python::long(count.min(400));
    match path {
        Some(path) => write(run, path, &text, false),
        None => Ok(Outcome::told(format!("```python\n{text}```"))),
    }
}

fn command_line(run: &Run, command: &str, in_background: bool) -> Went {
    let args = if in_background { json!({"command": command, "run_in_background": true}) } else { json!({"command": command}) };
    let has_ground = run.world.tools.get(Can::Bash).is_some_and(|tool| tool.schema["properties"]["run_in_background"].is_object());
    if in_background && !has_ground {
        return Err(Stop::Fail(format!("I have no tool here that runs `{command}` in the background.")));
    }
    let done = run.call(Can::Bash, args)?;
    let text = done.text.trim();
    Ok(if done.failed {
        let did = if text.starts_with("permission denied") || text.contains("denied") { "I did not run" } else { "There was an error with" };
        Outcome::failed(format!("{did} `{}`: {}.", one_line(command, 80), why(text)))
    } else if text.is_empty() || text == "(no output)" {
        Outcome::told(format!("`{}` is done; it printed nothing.", one_line(command, 80)))
    } else {
        Outcome::told(shown(text)).tagged(&format!("`{}`", one_line(command, 80)), text)
    })
}

fn tool(run: &Run, can: Can, args: &Value) -> Went {
    let done = run.call(can, args.clone())?;
    Ok(outcome(&done, shown(&done.text)))
}

fn named(run: &Run, name: &str, input: &Value) -> Went {
    let call = Call { can: None, name: name.to_owned(), input: input.clone(), args: input.clone() };
    let done = run.made(vec![call], "")?.remove(0);
    let (server, _) = mcp::parts(name);
    let is_served = run.world.tools.outside().iter().any(|tool| tool.name == name) && !server.is_empty();
    let who = if is_served { server } else { name };
    let line = if done.text.trim().contains('\n') { "\n" } else { " " };
    Ok(outcome(&done, format!("{who}:{line}{}", done.text.trim())).tagged(&format!("What {who} says"), &done.text))
}

fn serve(run: &Run, server: Option<&str>, words: &str) -> Went {
    let clause = crate::clause::Clause::of(words);
    match mcp::pick(&clause, run.world.tools, server) {
        Some(Ok((name, input))) => named(run, &name, &input),
        other => {
            let quoted = if let Some(Err(word)) = other { word } else { words.to_owned() };
            let of_server = run.world.tools.outside().iter().map(|tool| mcp::parts(tool.name)).filter(|(of, _)| server.is_none_or(|server| *of == server));
            let names: Vec<String> = of_server.map(|(_, tool)| tool.to_owned()).collect();
            let there = if names.is_empty() { "it has no tool on offer".to_owned() } else { format!("it has {}", listed(&names)) };
            Ok(Outcome::failed(format!("I do not know how {} could do “{quoted}”: {there}.", server.unwrap_or("a server"))))
        }
    }
}

fn delegate(run: &Run, jobs: &[String]) -> Went {
    let done = run.calls(jobs.iter().map(|job| (Can::Task, json!({"prompt": job}))).collect())?;
    let mut told = Outcome::default();
    let mut texts = Vec::new();
    for (at, done) in done.iter().enumerate() {
        let who = if jobs.len() == 1 { "The subagent".to_owned() } else { format!("Subagent {}", at + 1) };
        texts.push(if done.failed { format!("{who} failed: {}.", why(&done.text)) } else { format!("{who} reports:\n{}", done.text.trim()) });
        told.failed |= done.failed;
        told.found.push((format!("{who}: {}", jobs[at]), done.text.clone()));
    }
    told.text = texts.join("\n");
    Ok(told)
}

fn skill(run: &Run, name: &str, follows: bool) -> Went {
    let done = run.call(Can::Skill, json!({"name": name}))?;
    if done.failed {
        return Ok(outcome(&done, String::new()));
    }
    let says = gist(&done.text.lines().filter(|line| !line.starts_with('<')).collect::<Vec<_>>().join("\n"));
    if !follows || !name.contains("review") {
        let rest = if follows { " I have read its instructions; more than reading them I cannot rehearse." } else { "" };
        return Ok(Outcome::told(format!("I have loaded the skill {name}. It says: {says}{rest}")));
    }
    let (all, _) = paths(run, "**/*.{rs,py,js,ts,go,java,c,rb,sh}")?;
    let some: Vec<String> = all.into_iter().filter(|path| !path.contains("target/")).take(AT_ONCE + 1).collect();
    if some.is_empty() {
        return Ok(Outcome::told(format!("I have loaded the skill {name}, and found no source files to review.")));
    }
    let read = read(run, &some)?;
    let lines: Vec<String> = read.found.iter().map(|(path, text)| format!("- {path}: {} lines; {}", text.lines().count(), gist(text))).collect();
    Ok(Outcome::told(format!("I have loaded the skill {name} and read what it asks for:\n{}\nA verdict is beyond a rehearsal.", lines.join("\n"))))
}

fn make_tasks(run: &Run, specs: &[TaskSpec]) -> Went {
    let wanted = specs.iter().map(|spec| (Can::CreateTask, if spec.blocked_by.is_empty() { json!({"subject": spec.subject}) } else { json!({"subject": spec.subject, "blockedBy": spec.blocked_by}) }));
    let done = run.calls(wanted.collect())?;
    let mut told = Outcome::default();
    let mut texts = Vec::new();
    for (spec, done) in specs.iter().zip(&done) {
        let id = done.text.strip_prefix("created ").and_then(|rest| rest.split(':').next()).filter(|_| !done.failed);
        told.failed |= done.failed;
        told.tasks.extend(id.map(|id| (id.to_owned(), spec.subject.clone())));
        texts.push(if done.failed { format!("I did not create “{}”: {}.", spec.subject, why(&done.text)) } else { format!("I {}.", done.text.trim()) });
    }
    told.text = texts.join("\n");
    Ok(told)
}

fn look_at_board(run: &Run) -> Result<(Vec<OnBoard>, String), Stop> {
    let done = run.call(Can::ListTasks, json!({}))?;
    Ok((tasks::board(&done.text), done.text))
}

fn with_ids(tasks: &[&OnBoard]) -> String {
    listed(&tasks.iter().map(|task| format!("{} ({})", task.subject, task.id)).collect::<Vec<_>>())
}

fn show_board(run: &Run, unblocked: bool) -> Went {
    let (board, text) = look_at_board(run)?;
    if !unblocked {
        return Ok(Outcome::told(shown(&text)).tagged("The board", &text));
    }
    let free: Vec<&OnBoard> = board.iter().filter(|task| task.is_free()).collect();
    Ok(Outcome::told(if free.is_empty() { "No task is unblocked now.".to_owned() } else { format!("Unblocked now: {}.", with_ids(&free)) }))
}

fn show_task(run: &Run, words: &str) -> Went {
    let (board, _) = look_at_board(run)?;
    match tasks::meant(&words.replace(" in full", "").replace("about", ""), &board, |_| true) {
        Ok(task) => tool(run, Can::GetTask, &json!({"task_id": task.id})),
        Err(why) => Ok(Outcome::failed(sentence(&why))),
    }
}

fn claim(run: &Run, words: &str) -> Went {
    let (board, _) = look_at_board(run)?;
    match tasks::meant(words, &board, OnBoard::is_free) {
        Ok(task) => {
            let done = run.call(Can::ClaimTask, json!({"task_id": task.id}))?;
            let mut told = outcome(&done, format!("I claimed {}: {}.", task.id, task.subject));
            if !done.failed {
                told.tasks.push((task.id.clone(), task.subject.clone()));
            }
            Ok(told)
        }
        Err(why) => Ok(Outcome::failed(sentence(&why))),
    }
}

fn complete(run: &Run, words: &str) -> Went {
    let own = run.tasks();
    let is_it = words.split_whitespace().next().is_some_and(|word| word == "it" || word == "it.") || words == "that";
    let task = match own.last().filter(|_| is_it) {
        Some(task) => task.clone(),
        None => {
            let (board, _) = look_at_board(run)?;
            match tasks::meant(words, &board, |task| task.mark != ' ' && task.mark != 'x') {
                Ok(task) => (task.id.clone(), task.subject.clone()),
                Err(why) => return Ok(Outcome::failed(sentence(&why))),
            }
        }
    };
    let done = run.call(Can::CompleteTask, json!({"task_id": task.0}))?;
    let unblocked = done.text.lines().filter_map(|line| line.strip_prefix("unblocked: ")?.split_once(' ')).map(|(id, subject)| format!("{subject} ({id})")).collect::<Vec<_>>();
    let next = if unblocked.is_empty() { String::new() } else { format!("\nUnblocked now: {}.", listed(&unblocked)) };
    Ok(outcome(&done, format!("I completed {}: {}.{next}", task.0, task.1)))
}

/// Takes a task that is free, does it, completes it.
fn work_board(run: &Run) -> Went {
    for _ in 0..6 {
        let (board, _) = look_at_board(run)?;
        let Some(task) = board.iter().find(|task| task.is_free()) else {
            return Ok(Outcome::told("No task on the board is free. I am ready for the next one."));
        };
        let done = run.call(Can::ClaimTask, json!({"task_id": task.id}))?;
        if !done.failed {
            return do_task(run, &task.id, &task.subject, false);
        }
    }
    Ok(Outcome::failed("Others took every task that I wanted."))
}

fn do_task(run: &Run, id: &str, subject: &str, claims: bool) -> Went {
    let has_board = run.world.tools.can(Can::CompleteTask);
    if claims && has_board {
        let done = run.call(Can::ClaimTask, json!({"task_id": id}))?;
        if done.failed {
            return Ok(outcome(&done, String::new()));
        }
    }
    let work = do_subject(run, subject)?;
    if work.failed || !has_board {
        return Ok(Outcome { text: format!("{}\n(task {id})", work.text), ..work });
    }
    let done = run.call(Can::CompleteTask, json!({"task_id": id}))?;
    Ok(Outcome { failed: done.failed, ..Outcome::told(format!("{}\n{}", work.text, outcome(&done, format!("I completed {id}: {subject}.")).text)) })
}

/// The work of a task: what its subject asks for. What nobody can rehearse is noted down under its name, and said so.
fn do_subject(run: &Run, subject: &str) -> Went {
    let sample = subject.strip_prefix("write notes/").and_then(|rest| rest.strip_suffix(".md"));
    let known = sample.and_then(|name| tasks::SAMPLES.iter().find(|(known, _)| name.trim_end_matches(char::is_numeric) == *known));
    if let (Some(name), Some((_, line))) = (sample, known) {
        return write(run, &format!("notes/{name}.md"), &format!("# {name}\n\n{line}"), true);
    }
    let plan = understand::plan(subject, run.world);
    if plan.refusal.is_none() {
        let inner = run.within();
        inner.plan(&plan)?;
        let outcomes = inner.before.into_inner();
        let texts: Vec<String> = outcomes.iter().map(|outcome| outcome.text.clone()).filter(|text| !text.is_empty()).collect();
        return Ok(Outcome { failed: outcomes.iter().any(|outcome| outcome.failed), ..Outcome::told(texts.join("\n")) });
    }
    let name: String = subject.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let path = format!("notes/{}.md", name.trim_matches('-').replace("--", "-"));
    let went = create(run, &path, &Content::Nothing).map(|went| Outcome { failed: false, ..went })?;
    Ok(Outcome { text: format!("“{subject}” is more than a rehearsal can do; {path} stands for it. {}", went.text), ..went })
}

fn worktrees(run: &Run) -> Went {
    let mut all = run.tasks();
    if all.is_empty() {
        let (board, _) = look_at_board(run)?;
        all = board.iter().filter(|task| task.mark == ' ').map(|task| (task.id.clone(), task.subject.clone())).collect();
    }
    if all.is_empty() {
        return Ok(Outcome::failed("There is no task that a worktree could be bound to."));
    }
    let name = |(id, subject): &(String, String)| {
        let slug: String = subject.to_lowercase().trim_start_matches("write ").trim_end_matches(".md").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(24).collect();
        format!("{}-{}", slug.trim_matches('-'), id.split('-').next().unwrap_or(id))
    };
    let done = run.calls(all.iter().map(|task| (Can::MakeTree, json!({"name": name(task), "task_id": task.0}))).collect())?;
    let failed = done.iter().any(|done| done.failed);
    let texts: Vec<String> = done.iter().map(|done| outcome(done, format!("I {}.", done.text.trim())).text).collect();
    Ok(Outcome { failed, ..Outcome::told(texts.join("\n")) })
}

fn spawn(run: &Run, name: &str, role: &str, job: &Job, plan_first: bool) -> Went {
    let hired = run.before.borrow().iter().filter(|outcome| outcome.found.iter().any(|(title, _)| title == "teammate")).count();
    let text = match job {
        Job::Text(text) => text.clone(),
        Job::Board => "Look at the board with list_tasks. Claim a task that is free with claim_task, do it, and complete it with complete_task.".to_owned(),
        Job::Wait => "Wait for mail: what you shall do comes by itself.".to_owned(),
        Job::Assigned => match run.tasks().get(hired) {
            Some((id, subject)) => format!("Your task is {id}: {subject}\nYou work in the worktree of this task: use relative paths."),
            None => return Ok(Outcome::failed(format!("There is no task left for {name}: I did not hire."))),
        },
    };
    let text = if plan_first { format!("{text} Before you change anything, submit a plan with submit_plan and wait for the answer.") } else { text };
    let done = run.call(Can::Spawn, json!({"name": name, "role": role, "prompt": text}))?;
    let told = if done.failed { format!("I did not hire {name}: {}.", why(&done.text)) } else { format!("{name} is at work.") };
    Ok(Outcome { failed: done.failed, ..Outcome::told(told) }.tagged("teammate", name))
}

fn ask_plan(run: &Run, names: &[String], about: Option<&str>) -> Went {
    let aim = about.unwrap_or(if run.tasks().is_empty() { "what you have been asked to do" } else { "the task you want to claim" });
    let done = run.calls(names.iter().map(|name| (Can::RequestPlan, json!({"teammate": name, "task": aim}))).collect())?;
    let texts = names.iter().zip(&done).map(|(name, done)| outcome(done, format!("I asked {name} for a plan.")).text);
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome { failed, ..Outcome::told(texts.collect::<Vec<_>>().join("\n")) })
}

/// The id in the mail of a plan.
fn plan_id(mail: &Mail) -> Option<&str> {
    let (_, rest) = mail.whole.split_once("request_id ")?;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().filter(|id| !id.is_empty())
}

fn answer_plans(run: &Run, names: &[String], approve: bool, feedback: &str) -> Went {
    let scene = run.world.scene;
    let review = run.world.tools.get(Can::ReviewPlan).map_or("", |tool| tool.name);
    let plans: Vec<(usize, &Mail, &str)> = scene.mail().filter(|(_, mail)| names.is_empty() || names.contains(&mail.from)).filter_map(|(at, mail)| Some((at, mail, plan_id(mail)?))).collect();
    let answered = |id: &str| scene.calls.iter().any(|call| call.at < run.from && call.name == review && call.input["request_id"] == id);
    // Asked in this request: only a plan that came since is meant.
    let asked = run.world.tools.get(Can::RequestPlan).map_or("", |tool| tool.name);
    let is_asked_here = |name: &str| scene.calls.iter().any(|call| call.at >= run.from && call.name == asked && call.input["teammate"] == name);
    let mut open: Vec<&(usize, &Mail, &str)> = plans.iter().filter(|(at, mail, id)| if is_asked_here(&mail.from) { *at > run.from } else { !answered(id) }).collect();
    let waits: Vec<String> = names.iter().filter(|name| !open.iter().any(|(_, mail, _)| mail.from == **name) && (is_asked_here(name) || !plans.iter().any(|(_, mail, _)| mail.from == **name))).cloned().collect();
    if open.is_empty() && waits.is_empty() {
        // The same plan once more: who matches answers will say so.
        open.extend(plans.last());
    }
    if open.is_empty() && names.is_empty() {
        let is_wanted = scene.calls.iter().any(|call| call.name == asked && !call.failed);
        return if is_wanted { Err(Stop::Wait("I wait for the plan: that comes by itself.".into())) } else { Ok(Outcome::told("There is no plan that waits for an answer.")) };
    }
    if open.iter().any(|(at, ..)| *at > run.from) {
        run.waited.set(true);
    }
    let done = run.calls(open.iter().map(|(_, _, id)| (Can::ReviewPlan, json!({"request_id": id, "approve": approve, "feedback": feedback}))).collect())?;
    let verdict = if approve { "approved" } else { "rejected" };
    let texts: Vec<String> = open.iter().zip(&done).map(|((_, mail, _), done)| outcome(done, format!("{}'s plan is {verdict}.", mail.from)).text).collect();
    if !waits.is_empty() {
        run.before.borrow_mut().push(Outcome::told(texts.join("\n")));
        let lines: Vec<String> = waits.iter().map(|name| format!("I wait for {name}'s plan: that comes by itself.")).collect();
        return Err(Stop::Wait(lines.join("\n")));
    }
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome { failed, ..Outcome::told(texts.join("\n")) })
}

/// The reports that came from somebody since the request.
fn reports<'r>(run: &Run<'r, '_>, name: &str) -> Vec<&'r Mail> {
    run.world.scene.mail().filter(|(at, mail)| *at > run.from && mail.from == name && (mail.kind == "result" || mail.kind == "error")).map(|(_, mail)| mail).collect()
}

fn leave(run: &Run, names: &[String]) -> Went {
    let has_job = |name: &String| run.before.borrow().iter().any(|outcome| outcome.found.iter().any(|(title, who)| title == "teammate" && who == name));
    let (ready, waits): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| !has_job(name) || !reports(run, name).is_empty());
    if ready.iter().any(|name| has_job(name)) {
        run.waited.set(true);
    }
    let done = run.calls(ready.iter().map(|name| (Can::Shutdown, json!({"teammate": name}))).collect())?;
    let texts: Vec<String> = ready.iter().zip(&done).map(|(name, done)| outcome(done, format!("I asked {name} to leave.")).text).collect();
    if let Some(first) = waits.first() {
        return Err(Stop::Wait(format!("I wait for {first}'s result: that comes by itself.")));
    }
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome { failed, ..Outcome::told(texts.join("\n")) })
}

/// Waits for those who work, then says what they reported.
fn report(run: &Run, names: &[String]) -> Went {
    let tasks = run.tasks();
    let all: Vec<&Mail> = run.world.scene.mail().filter(|(at, mail)| *at > run.from && mail.kind == "result").map(|(_, mail)| mail).collect();
    let missing: Vec<String> = if tasks.is_empty() {
        names.iter().filter(|name| reports(run, name).is_empty()).cloned().collect()
    } else {
        tasks.iter().filter(|(id, _)| !all.iter().any(|mail| mail.text.contains(id.as_str()))).map(|(_, subject)| subject.clone()).collect()
    };
    if !missing.is_empty() {
        return Err(Stop::Wait(format!("I wait for the reports on {}: that comes by itself.", listed(&missing))));
    }
    run.waited.set(true);
    let lines: Vec<String> = all.iter().map(|mail| format!("- {}: {}", mail.from, one_line(&mail.text, 200))).collect();
    Ok(Outcome::told(format!("All is done:\n{}", lines.join("\n"))))
}

fn inbox(run: &Run) -> Went {
    let done = run.call(Can::Inbox, json!({}))?;
    // Mail in the result is told with the other news.
    if done.failed || done.text.trim_start().starts_with('<') {
        return Ok(outcome(&done, String::new()));
    }
    let last: Vec<String> = run.world.scene.mail().filter(|(_, mail)| mail.kind == "result").map(|(_, mail)| history::news(mail)).collect();
    Ok(Outcome::told(match last.last() {
        Some(news) => format!("There is no new mail. This came by itself before: {news}"),
        None => "There is no new mail.".to_owned(),
    }))
}

fn schedule(run: &Run, when: &When, prompt: &str, durable: bool) -> Went {
    let line = match when {
        When::Every(line) => line.clone(),
        _ => {
            let clock = run.call(Can::Bash, json!({"command": "date '+%Y-%m-%d %H:%M'"}))?;
            match when.line(&clock.text) {
                Some(line) => line,
                None => return Ok(Outcome::failed(format!("I could not read the clock: {}.", why(&clock.text)))),
            }
        }
    };
    let mut args = json!({"cron": line, "prompt": prompt});
    if !matches!(when, When::Every(_)) {
        args["recurring"] = json!(false);
    }
    if durable {
        args["durable"] = json!(true);
    }
    let done = run.call(Can::Schedule, args)?;
    Ok(outcome(&done, sentence(&done.text)))
}

fn cancel(run: &Run, words: &str) -> Went {
    let listed_jobs = run.call(Can::ListCrons, json!({}))?;
    let jobs: Vec<&str> = listed_jobs.text.lines().filter(|line| line.trim_start().starts_with("cron_") || line.contains("  ")).collect();
    let low = words.to_lowercase();
    let general = "job jobs cron scheduled schedule prompt prompts reminder reminders recurring one-shot all it about which";
    let wanted: Vec<String> = crate::rank::content(words).into_iter().filter(|token| !crate::words::has(general, &token.low)).map(|token| token.stem).collect();
    let is_meant = |line: &&&str| {
        let is_once = line.contains(", once");
        let own: Vec<String> = crate::words::tokens(line).into_iter().map(|token| token.stem).collect();
        (!low.contains("recurring") || !is_once) && (!(low.contains("reminder") || low.contains("one-shot")) || is_once || line.to_lowercase().contains("remind")) && wanted.iter().all(|word| own.contains(word))
    };
    let meant: Vec<&str> = jobs.iter().filter(is_meant).copied().collect();
    let is_all = low.split_whitespace().any(|word| matches!(word, "all" | "every" | "both" | "jobs" | "reminders" | "them"));
    if meant.is_empty() || (meant.len() > 1 && !is_all) {
        let there = if jobs.is_empty() { "nothing is scheduled".to_owned() } else { format!("scheduled are:\n{}", block(&jobs.join("\n"))) };
        return Ok(Outcome::failed(format!("I cancelled nothing, because “{words}” is not exactly one of them; {there}")));
    }
    let ids: Vec<&str> = meant.iter().filter_map(|line| line.split_whitespace().next()).collect();
    let done = run.calls(ids.iter().map(|id| (Can::CancelCron, json!({"job_id": id}))).collect())?;
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome { failed, ..Outcome::told(done.iter().map(|done| outcome(done, sentence(&done.text)).text).collect::<Vec<_>>().join("\n")) })
}

/// Sends a plan and waits for the answer.
fn own_plan(run: &Run, aim: &str) -> Went {
    let mut plan = format!("1. Look at what is there.\n2. {}\n3. Check the result and report.", sentence(aim));
    if run.world.tools.can(Can::ListTasks) && aim.contains("task") {
        look_at_board(run)?;
        plan = "1. Claim a task on the board that is free.\n2. Do its work in a file of its own.\n3. Complete the task.".to_owned();
    }
    run.call(Can::SubmitPlan, json!({"plan": plan}))?;
    let sent = run.world.scene.events.iter().rposition(|event| matches!(event, Event::Called(at) if Some(run.world.scene.calls[*at].name) == run.world.tools.get(Can::SubmitPlan).map(|tool| tool.name)));
    let answer = run.world.scene.mail().filter(|(at, mail)| sent.is_some_and(|sent| *at > sent) && mail.kind.contains("approval")).last();
    match answer {
        None => Err(Stop::Wait("I wait for the answer to my plan.".into())),
        Some((_, mail)) if mail.text.contains("rejected") => Ok(Outcome::failed(format!("My plan was rejected, so I changed nothing. I was told: {}", one_line(&mail.text, 200)))),
        Some(_) => Ok(Outcome::told("")),
    }
}
