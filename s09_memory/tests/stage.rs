//! What the stories have in common: a workspace, a model, and the files of a memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mock_servers::model::{Block, MockModel, says};
use s01_loop::{Client, History, Message, Repl, Settings, Unobserved};
use s02_tools::Workspace;
use s09_memory::Memory;
use serde_json::{Value, json};
use tempfile::TempDir;

pub const CHOOSE: &str = "You choose memories";
pub const EXTRACT: &str = "You extract memories";
pub const CONSOLIDATE: &str = "You consolidate memories";

/// A workspace and a model that answers side calls from scripts.
pub struct Stage {
    pub dir: TempDir,
    pub model: MockModel,
}

impl Stage {
    pub fn new() -> Self {
        Self::with(MockModel::scripted([]))
    }

    pub fn with(model: MockModel) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir, model }
    }

    /// The memory as a process that starts now finds it.
    pub fn memory(&self) -> Memory {
        self.memory_in(self.dir.path())
    }

    /// The same in another directory.
    pub fn memory_in(&self, directory: &Path) -> Memory {
        let settings = Settings {
            base_url: Some(self.model.url().to_owned()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let ws = Workspace::at(directory).unwrap();
        Memory::open(&ws, &client, &Repl::once("s09_memory", "go").quiet())
    }

    /// Scripts the answers to one of the questions.
    pub fn answers(&self, question: &str, answers: impl IntoIterator<Item = Value>) -> &Self {
        let answers = answers.into_iter().map(|answer| says(answer.to_string()));
        self.model.script_for(question, answers.collect::<Vec<_>>());
        self
    }

    pub fn says(&self, question: &str, text: &str) -> &Self {
        self.model.script_for(question, [says(text)]);
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(".harness").join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes memories of these names by hand.
    pub fn knows(&self, names: &[&str]) -> &Self {
        for name in names {
            self.write(&format!("memory/{name}.md"), &file(name));
        }
        self
    }

    /// Writes `count` memories by hand: m10, m11, …
    pub fn memories(&self, count: usize) -> &Self {
        for number in 10..10 + count {
            self.knows(&[&format!("m{number}")]);
        }
        self
    }

    /// The memory files of a folder by name.
    pub fn files(&self, folder: &str) -> BTreeMap<String, String> {
        let files = fs::read_dir(self.path(folder)).into_iter().flatten();
        let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let memories = files.filter(|name| name.ends_with(".md") && name != "MEMORY.md");
        // Another process may remove one meanwhile.
        let text = |name: &String| fs::read_to_string(self.path(folder).join(name)).ok();
        memories.filter_map(|name| Some((name.clone(), text(&name)?))).collect()
    }

    pub fn names(&self) -> Vec<String> {
        self.files("memory").into_keys().collect()
    }

    /// The text of the last question.
    pub fn question(&self) -> String {
        let request = self.model.last_request();
        let [Block::Text(question)] = request.messages[0].blocks.as_slice() else {
            panic!("the question is one text");
        };
        question.clone()
    }

    /// How often a question was asked.
    pub fn asked(&self, question: &str) -> usize {
        let requests = self.model.requests();
        requests.iter().filter(|request| request.system.starts_with(question)).count()
    }
}

/// A memory file as we write it.
pub fn file(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: about {name}\ntype: project\n---\n\nAll about {name}.\n"
    )
}

/// A memory as an answer holds it.
pub fn entry(name: &str, content: &str) -> Value {
    json!({"name": name, "description": format!("about {name}"), "type": "user", "content": content})
}

/// The memories that [`Stage::memories`] writes, as an answer.
pub fn same(count: usize) -> Value {
    let same = |number| {
        let name = format!("m{number}");
        let mut same = entry(&name, &format!("All about {name}."));
        same["type"] = json!("project");
        same
    };
    (10..10 + count).map(same).collect()
}

/// A conversation of one request.
pub fn asking(request: &str) -> History {
    let mut history = History::default();
    history.user(request);
    history
}

/// A turn that is over.
pub fn turn() -> History {
    let mut history = asking("I prefer tabs.");
    history.push(Message::assistant("Noted."));
    history
}
