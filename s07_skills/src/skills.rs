//! The skills: a catalogue in the system prompt, the body on demand.
//!
//! What a model should know for one kind of work (a checklist, a procedure, the traps of a format) is of no use in all
//! other work, and every token of it would be paid for in every request. So the prompt holds a line a skill, and a tool
//! gives the rest to the model that asks. Invariants: a body is in no request before it was loaded; of one name the
//! project's skill wins over the user's, the user's over the shipped one; a broken file is named once and stops nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail};
use kit::{STATE_DIR, harmless};
use s01_loop::Repl;
use s02_tools::{Access, Tool, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::folder::{read_skill, skill_files};
use crate::skill::Skill;

/// The folder of skills: in the workspace, and in the state folder of the user's home.
const SKILLS_DIR: &str = "skills";

/// The head of the catalogue.
const HEAD: &str = "# Skills\n\
    A skill is a set of instructions for one kind of work. When a request fits one of these descriptions, call load_skill \
    with its name before you begin, and follow what it says.";

/// The skills that come with the course.
const SHIPPED: [&str; 4] = [
    include_str!("../skills/agent-builder/SKILL.md"),
    include_str!("../skills/code-review/SKILL.md"),
    include_str!("../skills/mcp-builder/SKILL.md"),
    include_str!("../skills/pdf/SKILL.md"),
];

/// The skills there are. Clones share them.
#[derive(Clone)]
pub struct Skills(Arc<Shared>);

struct Shared {
    ws: Workspace,
    repl: Repl,
    /// Where skills are looked for; the first folder that has a name wins.
    folders: Vec<PathBuf>,
    /// The problems of the last read, which the user has been told. A std lock: nothing is awaited while it is held.
    problems: Mutex<BTreeSet<String>>,
}

/// The input of load_skill.
#[derive(Deserialize, JsonSchema)]
struct LoadSkill {
    /// The name of the skill, as the catalogue gives it.
    name: String,
}

impl Skills {
    /// The skills of the workspace, of the user and of this crate; a broken file is named on the terminal.
    pub fn open(ws: &Workspace, repl: &Repl) -> Self {
        Self::with_home(ws, std::env::home_dir().as_deref(), repl)
    }

    /// The same with another home directory, or none.
    pub fn with_home(ws: &Workspace, home: Option<&Path>, repl: &Repl) -> Self {
        let project = ws.root().join(SKILLS_DIR);
        let user = home.map(|home| home.join(STATE_DIR).join(SKILLS_DIR));
        let skills = Self(Arc::new(Shared {
            ws: ws.clone(),
            repl: repl.clone(),
            folders: [project].into_iter().chain(user).collect(),
            problems: Mutex::default(),
        }));
        // Problems are reported before the first prompt.
        skills.catalogue();
        skills
    }

    /// The tool load_skill.
    pub fn tool(&self) -> Tool {
        let skills = self.clone();
        Tool::blocking(
            "load_skill",
            "Get the full instructions of a skill. Do it before the work the skill is for.",
            move |input: LoadSkill| skills.load(&input.name),
        )
        // It reads, and only what the catalogue offers.
        .touching(Access::Nothing)
    }

    /// What the system prompt says about the skills. The files are read anew each time.
    pub fn catalogue(&self) -> String {
        let lines = self
            .0
            .read()
            .into_values()
            .map(|skill| format!("\n- {}: {}", skill.name, skill.description));
        format!("{HEAD}{}", lines.collect::<String>())
    }

    fn load(&self, name: &str) -> Result<String> {
        let skills = self.0.read();
        let skill = skills.get(name.trim()).with_context(|| {
            let names: Vec<&str> = skills.keys().map(String::as_str).collect();
            format!("there is no skill `{name}`; the skills are {}", names.join(", "))
        })?;
        let folder = skill.folder.as_deref().map_or_else(String::new, |folder| {
            let folder = self.0.ws.shown(folder).replace('"', "&quot;");
            format!(" folder=\"{folder}\"")
        });
        let Skill { name, body, .. } = skill;
        let body = harmless("skill", body);
        Ok(format!("<skill name=\"{name}\"{folder}>\n{body}\n</skill>"))
    }
}

impl Shared {
    /// The skills by name, of each the one that wins. The user is told of new problems.
    fn read(&self) -> BTreeMap<String, Skill> {
        let mut skills: BTreeMap<String, Skill> = BTreeMap::new();
        let mut problems = BTreeSet::new();
        for folder in &self.folders {
            let files = skill_files(folder).unwrap_or_else(|error| {
                let folder = self.ws.shown(folder);
                problems.insert(format!("the folder of skills {folder} cannot be read: {error:#}"));
                Vec::new()
            });
            for file in files {
                let read = read_skill(&file).and_then(|skill| match skills.get(&skill.name) {
                    Some(first) if are_neighbours(first, &skill) => {
                        bail!("another skill beside it has the name {}", skill.name)
                    }
                    _ => Ok(skill),
                });
                match read {
                    Ok(skill) => {
                        skills.entry(skill.name.clone()).or_insert(skill);
                    }
                    Err(error) => {
                        let file = self.ws.shown(&file);
                        problems.insert(format!("the skill {file} is left out: {error:#}"));
                    }
                }
            }
        }
        for text in SHIPPED {
            let skill = Skill::read(text, None).expect("a shipped skill is whole");
            skills.entry(skill.name.clone()).or_insert(skill);
        }
        let mut said = self.problems.lock().unwrap();
        for problem in problems.difference(&said) {
            self.repl.say(problem);
        }
        *said = problems;
        skills
    }
}

/// Whether both lie in the same folder of skills, so that neither wins over the other.
fn are_neighbours(one: &Skill, other: &Skill) -> bool {
    let place = |skill: &Skill| Some(skill.folder.as_deref()?.parent()?.to_owned());
    place(one) == place(other)
}
