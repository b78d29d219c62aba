//! The plot, as `plot.txt` has it: at which minute what is said to the lead, and what the lead does about it.
//!
//! `-` begins a reply with a call, `+` adds one to it; `$name` in the arguments is the id of that name. After the last
//! reply the lead has nothing more to say.

use std::collections::{BTreeMap, VecDeque};

use mock_servers::model::Reply;

/// Ids by the names they were given for.
pub type Ids = BTreeMap<String, String>;

/// A line to the lead, the minute in front, and the replies: calls, each a tool and its arguments.
pub struct Scene {
    pub line: &'static str,
    pub replies: VecDeque<Vec<&'static str>>,
}

pub fn plot() -> Vec<Scene> {
    let mut plot: Vec<Scene> = Vec::new();
    for line in include_str!("plot.txt").lines() {
        match (line.split_at(2), plot.last_mut()) {
            (("- ", call), Some(scene)) => scene.replies.push_back(vec![call]),
            (("+ ", call), Some(scene)) => scene.replies.back_mut().unwrap().push(call),
            _ => plot.push(Scene {
                line,
                replies: VecDeque::new(),
            }),
        }
    }
    plot
}

pub fn reply(calls: &[&str], ids: &Ids) -> Reply {
    calls.iter().fold(Reply::default(), |reply, call| {
        let (tool, input) = call.split_once(' ').expect("a tool and its arguments");
        let put = |input: String, (name, id): (&String, &String)| {
            input.replace(&format!("\"${name}\""), &format!("\"{id}\""))
        };
        let input = ids.iter().fold(input.to_owned(), put);
        reply.and_calls(tool, serde_json::from_str(&input).expect("JSON"))
    })
}
