//! The tools that the owner has itself: tasks, memories, notes and a budget, over one database.
//!
//! They are the variants of one enum. Invariants: the schema that a client reads and the complaint about an argument come
//! from it; a call is one transaction, so what it reads is still so when it writes; an agent sees its own memories only.

use jiff::{Timestamp, Zoned};
use rusqlite::{Params, Transaction};
use s01_loop::ToolSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::config::{Agent, parsed};
use crate::database::rows;
use crate::owner::Failure;

/// Those that change nothing.
const READS: [&str; 5] =
    ["task_list", "memory_read", "memory_search", "budget_check", "budget_report"];
/// The kind of a failure that is a result: the call was right, and it cannot be done.
pub const REFUSED: &str = "refused";
const TASK: &str = "id, title, status, assignee, notes, made_by";

/// A call: the name of a tool, and its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    /// Create a task for all agents.
    TaskCreate {
        /// What is to be done.
        #[serde(deserialize_with = "filled")]
        title: String,
        /// The agent who is to do it.
        assignee: Option<String>,
        /// What else is known.
        notes: Option<String>,
    },
    /// List the tasks.
    TaskList {
        /// Only tasks in this state.
        status: Option<Status>,
        /// Only tasks of this agent.
        assignee: Option<String>,
    },
    /// Change a task's state.
    TaskUpdate {
        /// Its number.
        id: i64,
        status: Option<Status>,
        assignee: Option<String>,
        /// Added to its notes, as a line.
        note: Option<String>,
    },
    /// Read one of your memories.
    MemoryRead {
        /// What it is kept under.
        key: String,
    },
    /// Keep a memory.
    MemoryWrite {
        /// What it is kept under; what was there is replaced.
        #[serde(deserialize_with = "filled")]
        key: String,
        /// What is to be remembered.
        text: String,
    },
    /// Search your memories.
    MemorySearch {
        /// All of these words must be there.
        #[serde(deserialize_with = "filled")]
        query: String,
    },
    /// What you may still spend today.
    BudgetCheck {},
    /// What all have spent today.
    BudgetReport {},
    /// Spend units of today's budget.
    BudgetSpend {
        /// How many units.
        units: std::num::NonZeroU32,
    },
    /// Add a line to a note.
    NoteAppend {
        /// The note's name.
        #[serde(deserialize_with = "filled")]
        note: String,
        /// The line.
        text: String,
    },
}

/// The state of a task.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Open,
    InProgress,
    Done,
}

fn filled<'a, D: Deserializer<'a>>(field: D) -> Result<String, D::Error> {
    let text = String::deserialize(field)?;
    let text = Some(text.trim()).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| serde::de::Error::custom("must not be empty"))
}

/// All of them, as `tools/list` shows them, and whether they change nothing.
pub fn all() -> Vec<(Value, bool)> {
    let spec = ToolSpec::new::<Call>("", "");
    let variants = spec.input_schema()["oneOf"].as_array().into_iter().flatten();
    let tool = |variant: &Value| {
        let name = &variant["required"][0];
        let reads = READS.iter().any(|it| name == it);
        let hints = json!({ "readOnlyHint": reads, "destructiveHint": false,
            "idempotentHint": reads, "openWorldHint": false });
        let tool = json!({ "name": name, "description": variant["description"],
            "inputSchema": variant["properties"][name.as_str()?], "annotations": hints });
        Some((tool, reads))
    };
    variants.filter_map(tool).collect()
}

impl Call {
    /// A call of this tool; or what is wrong with the arguments.
    pub fn parse(tool: &str, arguments: &RawValue) -> Result<Self, String> {
        parsed(json!({ tool: arguments })).map_err(|why| {
            why.trim_start_matches(tool).trim_start_matches(['.', ':', ' ']).to_owned()
        })
    }

    /// Does what was called, or says why not; nothing was changed then.
    pub fn run(self, tx: &Transaction<'_>, by: &Agent) -> Result<Value, Failure> {
        let (now, today) = (Timestamp::now().to_string(), Zoned::now().date().to_string());
        match self {
            Self::TaskCreate {
                title,
                assignee,
                notes,
            } => {
                let sql = format!(
                    "INSERT INTO tasks (title, status, assignee, notes, made_by, changed)
                        VALUES (?, 'open', ?, coalesce(?, ''), ?, ?) RETURNING {TASK}"
                );
                one(tx, &sql, (title, assignee, notes, &by.name, now))
            }
            Self::TaskList { status, assignee } => {
                let sql = format!(
                    "SELECT {TASK} FROM tasks WHERE (?1 IS NULL OR status = ?1)
                        AND (?2 IS NULL OR assignee = ?2) ORDER BY id LIMIT 500"
                );
                Ok(json!({ "tasks": rows(tx, &sql, (word(status), assignee))? }))
            }
            Self::TaskUpdate {
                id,
                status,
                assignee,
                note,
            } => {
                let sql = format!(
                    "UPDATE tasks SET status = coalesce(?2, status), assignee = coalesce(?3, assignee), changed = ?5,
                        notes = CASE WHEN ?4 IS NULL THEN notes WHEN notes = '' THEN ?4 ELSE notes || char(10) || ?4 END
                        WHERE id = ?1 RETURNING {TASK}"
                );
                let found = rows(tx, &sql, (id, word(status), assignee, note, now))?.pop();
                found.ok_or_else(|| refused(format!("there is no task {id}; task_list lists them")))
            }
            Self::MemoryRead { key } => {
                let sql = "SELECT key, text FROM memories WHERE agent = ? AND key = ?";
                let found = rows(tx, sql, (&by.name, &key))?.pop();
                found.ok_or_else(|| refused(format!("there is no memory {key:?}")))
            }
            Self::MemoryWrite { key, text } => {
                let sql = "INSERT OR REPLACE INTO memories (agent, key, text, changed)
                    VALUES (?, ?, ?, ?) RETURNING key AS kept";
                one(tx, sql, (&by.name, key, text, now))
            }
            Self::MemorySearch { query } => search(tx, by, &query.to_lowercase()),
            Self::BudgetCheck {} => {
                let (spent, left) = budget(tx, by, &today)?;
                Ok(json!({ "allowance": by.allowance, "spent": spent, "left": left }))
            }
            Self::BudgetReport {} => {
                let sql = "SELECT agent, units AS spent FROM spent WHERE day = ? ORDER BY agent";
                Ok(json!({ "agents": rows(tx, sql, [today])? }))
            }
            Self::BudgetSpend { units } => {
                let (spent, left) = budget(tx, by, &today)?;
                let units = u64::from(units.get());
                if units > left {
                    let why = format!("{units} units are more than the {left} that are left today");
                    return Err(refused(why));
                }
                let sql = "INSERT OR REPLACE INTO spent (agent, day, units) VALUES (?, ?, ?)";
                tx.execute(sql, (&by.name, today, spent + units))?;
                Ok(json!({ "spent": spent + units, "left": left - units }))
            }
            Self::NoteAppend { note, text } => {
                let sql = "INSERT INTO notes (note, agent, text, at) VALUES (?, ?, ?, ?)";
                tx.execute(sql, (&note, &by.name, text, now))?;
                let sql = "SELECT ? AS note, count(*) AS lines FROM notes WHERE note = ?1";
                one(tx, sql, [note])
            }
        }
    }
}

fn search(tx: &Transaction<'_>, by: &Agent, query: &str) -> Result<Value, Failure> {
    let sql = "SELECT key, text FROM memories WHERE agent = ? ORDER BY changed DESC";
    let mut found = rows(tx, sql, [&by.name])?;
    found.retain(|it| {
        let all = [&it["key"], &it["text"]].map(|it| it.as_str().unwrap_or_default());
        let all = all.join(" ").to_lowercase();
        query.split_whitespace().all(|word| all.contains(word))
    });
    found.truncate(20);
    Ok(json!({ "found": found }))
}

/// What an agent has spent on a day, and what it may spend still.
fn budget(tx: &Transaction<'_>, by: &Agent, day: &str) -> rusqlite::Result<(u64, u64)> {
    let sql = "SELECT coalesce(sum(units), 0) FROM spent WHERE agent = ? AND day = ?";
    let spent = tx.query_row(sql, [&by.name, day], |row| row.get(0))?;
    Ok((spent, by.allowance.saturating_sub(spent)))
}

fn one(tx: &Transaction<'_>, sql: &str, values: impl Params) -> Result<Value, Failure> {
    Ok(rows(tx, sql, values)?.pop().unwrap_or_default())
}

fn refused(why: String) -> Failure {
    Failure::new(200, REFUSED, why)
}

fn word(status: Option<Status>) -> Option<String> {
    json!(status).as_str().map(str::to_owned)
}
