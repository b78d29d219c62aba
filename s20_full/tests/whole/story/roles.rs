//! Who plays whom: the lead follows the plot, teammates and the subagent follow their notes, side calls have one answer.

use std::sync::{Arc, Mutex};

use mock_servers::model::{Brain, Reply, Request, calls, says};
use serde_json::json;

use super::plot::{Ids, Scene, plot, reply};
use crate::{news, teammate};

/// All of them. Clones share what has been played.
#[derive(Clone)]
pub struct Cast(Arc<Mutex<Played>>);

struct Played {
    plot: Vec<Scene>,
    /// Results that tell them may be summarized away.
    ids: Ids,
}

impl Default for Cast {
    fn default() -> Self {
        let (plot, ids) = (plot(), Ids::new());
        Self(Arc::new(Mutex::new(Played { plot, ids })))
    }
}

impl Cast {
    /// The lines that were not played to their end.
    pub fn unplayed(&self) -> Vec<&'static str> {
        let played = self.0.lock().unwrap();
        let left = played.plot.iter().filter(|scene| !scene.replies.is_empty());
        left.map(|scene| scene.line).collect()
    }

    fn lead(&self, request: &Request) -> Reply {
        let news = news(request);
        let plans: Vec<&str> = after(&news, "Answer with review_plan, request_id ");
        if !plans.is_empty() {
            let approve = |reply: Reply, id: &&str| {
                reply.and_calls("review_plan", json!({"request_id": id, "approve": true}))
            };
            return plans.iter().fold(Reply::default(), approve);
        }
        let mut played = self.0.lock().unwrap();
        for (_, text) in request.results() {
            played.learn(&text);
        }
        let texts = request.user_texts();
        let place = |scene: &Scene| {
            let (_, line) = scene.line.split_once(' ').expect("a minute and a line");
            texts.iter().rposition(|text| text.contains(line))
        };
        let Played { plot, ids } = &mut *played;
        let now = plot.iter_mut().max_by_key(|scene| place(scene));
        match now.expect("there is a plot").replies.pop_front() {
            Some(calls) => reply(&calls, ids),
            None if news.contains("[Scheduled]") => calls("list_tasks", json!({})),
            None => says("Noted."),
        }
    }
}

impl Played {
    /// Keeps the ids in a result: of tasks by their subject, of scheduled prompts by their number.
    fn learn(&mut self, text: &str) {
        for id in after(text, "created ") {
            let subject = text.split_once(id).map_or("", |(_, rest)| rest);
            let subject = subject.trim_start_matches([':', ' ']).split(' ').next();
            self.ids
                .insert(subject.unwrap_or_default().to_owned(), id.to_owned());
        }
        for id in after(text, "cheduled ") {
            self.ids.entry("job".to_owned()).or_insert(id.to_owned());
        }
    }
}

impl Brain for Cast {
    fn answer(&self, request: &Request) -> Reply {
        let is = |begins: &str| request.system.starts_with(begins);
        let question = news(request);
        let has_said = question.contains("User: I prefer tabs.");
        match teammate(request) {
            Some(_) => works(request),
            None if is("You choose memories") => says(json!(after(&question, "- ")).to_string()),
            None if is("You extract memories") && has_said => says(TABS),
            None if is("You extract memories") => says("[]"),
            None if is("You summarize") => says("The day was planned and the work has begun."),
            None if is("You are a subagent") && request.calls().is_empty() => {
                calls("bash", json!({"command": "ls"}))
            }
            None if is("You are a subagent") => says(format!("There are: {question}")),
            None => self.lead(request),
        }
    }
}

const TABS: &str = r#"[{"name": "tabs", "description": "prefers tabs", "type": "user",
    "content": "The user prefers tabs."}]"#;

/// A plan when one is wanted; for each task that was claimed a file, a commit, and the end of the task.
fn works(request: &Request) -> Reply {
    if news(request).contains("send a plan with submit_plan") {
        return calls("submit_plan", json!({"plan": "A file, a commit, done."}));
    }
    let results = request.results();
    let says_so = |text: &str| results.iter().any(|(_, result)| result.starts_with(text));
    let texts = request.user_texts();
    let note = texts.iter().rfind(|text| text.contains("<claimed_task>"));
    let task = note.and_then(|note| note.split_once("task ")?.1.lines().next()?.split_once(": "));
    match task {
        Some((id, subject)) if !says_so(&format!("created {subject}.txt")) => {
            let path = format!("{subject}.txt");
            let commit = format!("git add --all && git commit -q -m {id}");
            calls("write_file", json!({"path": path, "content": "done\n"}))
                .and_calls("bash", json!({"command": commit}))
        }
        Some((id, _)) if !says_so(&format!("{id} is completed")) => {
            calls("complete_task", json!({"task_id": id}))
        }
        Some(_) | None => says("I am ready."),
    }
}

/// The words that follow this one, without what ends a sentence.
fn after<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let rests = text.split(word).skip(1);
    let words = rests.filter_map(|rest| rest.split([' ', '\n', ':', ';', ',']).next());
    words.map(|word| word.trim_end_matches('.')).collect()
}
