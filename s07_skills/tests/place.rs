//! A workspace, a home beside it, and the skills of both; the exercises use it, too.

use std::fs;
use std::path::{Path, PathBuf};

use s01_loop::{Output, Repl, ToolCall};
use s02_tools::Workspace;
use s07_skills::Skills;
use serde_json::Value;
use tempfile::TempDir;

/// A workspace, a home beside it, and the skills of both.
pub struct Place {
    root: TempDir,
    pub skills: Skills,
}

impl Place {
    /// A place with these files, each named from the directory that holds `ws` and `home`.
    pub fn with<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let [ws, home] = ["ws", "home"].map(|name| root.path().join(name));
        fs::create_dir(&ws).unwrap();
        for (path, text) in files {
            write(&root.path().join(path), text);
        }
        let ws = Workspace::at(ws).unwrap();
        let repl = Repl::typed("s07_skills").quiet().unattended();
        let skills = Skills::with_home(&ws, Some(&home), &repl);
        Self { root, skills }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// What the model reads when it calls `load_skill` with this input.
    pub async fn load(&self, input: Value) -> Output {
        let call = ToolCall::new("toolu_1", "load_skill", input);
        self.skills.tool().call(call).await
    }
}

pub fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The text of a SKILL.md.
pub fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Use it for {name}.\n---\n{body}\n")
}
