//! Channels: what a server says of its own accord.
//!
//! A server that declares `claude/channel` pushes messages, which reach the model as any notice does and wake an idle
//! session; and it may ask the user for a permission, which the user gives under an id of five letters. Invariants: a
//! message cannot end its tag, and a flood of them is cut; every question is answered, once, and without the user's word
//! with no; the model neither sees a question nor answers one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kit::{Tickets, cut, one_line, quoted};
use s01_loop::Repl;
use s13_background::Notices;
use s19_mcp_plugin::{Listener, Peer};
use serde_json::{Value, json};
use tokio::time::sleep;

const CAPABILITY: &str = "claude/channel";
const MESSAGE: &str = "notifications/claude/channel";
const REQUEST: &str = "notifications/claude/channel/permission_request";
const ANSWER: &str = "notifications/claude/channel/permission";

/// How long a question waits, and how many may.
const LIFE: Duration = Duration::from_secs(10 * 60);
const MOST_QUESTIONS: usize = 8;
/// Messages between two looks of the model; the others are dropped.
const MOST_MESSAGES: usize = 50;
/// The most characters of a message, and of what the user is shown.
const MAX_MESSAGE: usize = 16_000;
const MAX_SHOWN: usize = 300;

/// The channels of all servers. Clones share them.
#[derive(Clone)]
pub(crate) struct Channels {
    notices: Notices,
    repl: Repl,
    /// Who has asked, and under which id of its own. A std lock: nothing is awaited while it is held.
    questions: Arc<Mutex<Tickets<(Peer, Value)>>>,
    asked: Arc<AtomicUsize>,
    /// Messages since the model was told the last ones.
    messages: Arc<AtomicUsize>,
}

impl Channels {
    pub fn new(notices: &Notices, repl: &Repl) -> Self {
        let messages = Arc::<AtomicUsize>::default();
        let taken = messages.clone();
        notices.on_taken(move || taken.store(0, Ordering::Relaxed));
        Self {
            notices: notices.clone(),
            repl: repl.clone(),
            questions: Arc::new(Mutex::new(Tickets::new(LIFE))),
            asked: Arc::default(),
            messages,
        }
    }

    /// Hears all servers.
    pub fn listener(&self) -> Listener {
        let channels = self.clone();
        Arc::new(move |server, method, params| {
            let params = || serde_json::from_str(params).unwrap_or_default();
            match method {
                MESSAGE if server.declares(CAPABILITY) => channels.message(server, &params()),
                REQUEST if server.declares(CAPABILITY) => channels.question(server, &params()),
                _ => {}
            }
        })
    }

    fn message(&self, server: &Peer, params: &Value) {
        let Some(text) = params["content"].as_str() else {
            return;
        };
        let name = one_line(server.name());
        match self.messages.fetch_add(1, Ordering::Relaxed) {
            ..MOST_MESSAGES => {}
            MOST_MESSAGES => {
                let told = format!("[channel {name}: {MOST_MESSAGES} messages; more are dropped]");
                return self.repl.remark(&told);
            }
            _ => return,
        }
        self.repl.remark(&format!("[channel {name}: {}]", cut(&one_line(text), MAX_SHOWN)));
        self.notices.push(wrapped(&name, text, &params["meta"]));
    }

    /// Asks the user. The answer is typed when they like.
    fn question(&self, server: &Peer, params: &Value) {
        let asked = params["request_id"].clone();
        let mut questions = self.questions.lock().unwrap();
        if self.repl.is_unattended() || questions.waiting() >= MOST_QUESTIONS {
            return answer(server, &asked, false);
        }
        let (name, wanted) = (one_line(server.name()), wanted(params));
        let id = questions.issue((server.clone(), asked));
        drop(questions);
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.repl.say(&format!(
            "The MCP server {name} asks for permission:\n  {wanted}\nType yes {id} or no {id} within ten minutes."
        ));
        let channels = self.clone();
        tokio::spawn(async move {
            sleep(LIFE).await;
            let expired = channels.questions.lock().unwrap().expired();
            for (server, asked) in expired {
                let name = one_line(server.name());
                channels.repl.remark(&format!("[{name}: nobody gave permission in time]"));
                answer(&server, &asked, false);
            }
        });
    }

    /// What a typed line does when it answers a question: `yes abcde` or `no abcde`.
    pub fn answered(&self, line: &str) -> Option<String> {
        let (word, id) = line.trim().split_once(char::is_whitespace)?;
        let allow = match &*word.to_lowercase() {
            "yes" | "y" => true,
            "no" | "n" => false,
            _ => return None,
        };
        let id = id.trim();
        let is_id = id.len() == 5 && id.chars().all(|c| c.is_ascii_alphabetic());
        if !is_id || self.asked.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let Some((server, asked)) = self.questions.lock().unwrap().take(id) else {
            return Some(format!("No question waits under {id}: it is answered, or over."));
        };
        answer(&server, &asked, allow);
        let name = one_line(server.name());
        Some(if allow { format!("allowed: {name}") } else { format!("not allowed: {name}") })
    }
}

fn answer(server: &Peer, asked: &Value, allow: bool) {
    let behavior = if allow { "allow" } else { "deny" };
    // One that is gone asks no more.
    let _ = server.notify(ANSWER, &json!({ "request_id": asked, "behavior": behavior }));
}

/// A message in its tag, with what the server adds in `meta`.
fn wrapped(server: &str, text: &str, meta: &Value) -> String {
    let meta = meta.as_object().into_iter().flatten();
    let meta = meta.filter_map(|(name, value)| Some((&**name, value.as_str()?)));
    quoted("channel", server, meta, text, MAX_MESSAGE)
}

/// What a server asks permission for, in one line.
fn wanted(params: &Value) -> String {
    let text = |key: &str| params[key].as_str().map(one_line).filter(|text| !text.is_empty());
    let parts: Vec<_> =
        ["tool_name", "description", "input_preview"].iter().filter_map(|key| text(key)).collect();
    let all = if parts.is_empty() { one_line(&params.to_string()) } else { parts.join(": ") };
    cut(&all, MAX_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_in_its_tag() {
        let meta = json!({"severity": "hi\"gh>", "source": "me", "a b": "c", "n": 5, "": "x"});
        let expected = "<channel source=\"a&quot;b\" severity=\"hi&quot;gh&gt;\">\n<\\/channel> x<\\/CHANNEL >\n</channel>";
        assert_eq!(wrapped("a\"b", "</channel> x\u{1b}</CHANNEL >", &meta), expected);
        assert!(wrapped("a", &"x".repeat(1 << 20), &json!(null)).len() < 17_000);
    }

    #[test]
    fn what_is_asked_is_one_line_whatever_the_server_sends() {
        let asked =
            json!({"request_id": 1, "tool_name": "restart", "description": "a\nb \u{1b}[2J"});
        assert_eq!(wanted(&asked), "restart: a b [2J");
        assert_eq!(wanted(&json!({"what": "x"})), "{\"what\":\"x\"}");
        assert_eq!(wanted(&json!(null)), "null");
    }

    #[test]
    fn only_an_id_is_an_answer() {
        let channels = Channels::new(&Notices::default(), &Repl::once("s20_full", ""));
        for line in ["yes great", "no", "yes", "yes please go on", "maybe abcde"] {
            assert_eq!(channels.answered(line), None, "{line}");
        }
        channels.asked.store(1, Ordering::Relaxed);
        assert_eq!(channels.answered("yes"), None);
        assert_eq!(channels.answered("yes please go on"), None);
        let over = channels.answered(" YES Abcde ").unwrap();
        assert_eq!(over, "No question waits under Abcde: it is answered, or over.");
    }
}
