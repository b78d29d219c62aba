//! The tools that the owner has itself: tasks, memories, notes and a budget, over one database.
//!
//! Invariants: the schema that a client reads and the complaint about an argument come from one struct; a tool is one
//! transaction, so what it reads is still so when it writes; an agent sees its own memories only.

use std::sync::Arc;

use jiff::{Timestamp, Zoned};
use rusqlite::{OptionalExtension, Transaction, params};
use s01_loop::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a tool has no result, in a sentence for the model.
#[derive(Debug)]
pub enum ToolError {
    /// The arguments are wrong.
    Arguments(String),
    /// They are right, and it cannot be done.
    Refused(String),
    /// The database failed.
    Broken(String),
}

impl From<rusqlite::Error> for ToolError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(format!("the database: {error}"))
    }
}

/// Who calls.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The agent.
    pub agent: String,
    /// What it may spend in a day.
    pub allowance: u64,
}

type Done = Result<Value, ToolError>;
type Run = Arc<dyn Fn(&Transaction<'_>, &Caller, Value) -> Done + Send + Sync>;

/// A tool.
#[derive(Clone)]
pub struct Builtin {
    /// Its name, description and schema.
    pub spec: ToolSpec,
    /// Whether it changes nothing.
    pub reads: bool,
    run: Run,
}

impl Builtin {
    /// Does it.
    ///
    /// # Errors
    /// Why not; nothing was changed then.
    pub fn run(&self, tx: &Transaction<'_>, by: &Caller, input: Value) -> Done {
        (self.run)(tx, by, input)
    }
}

/// All of them.
pub fn all() -> Vec<Builtin> {
    fn tool<T: DeserializeOwned + JsonSchema + 'static>(
        name: &str,
        reads: bool,
        description: &str,
        run: fn(&Transaction<'_>, &Caller, T) -> Done,
    ) -> Builtin {
        Builtin {
            spec: ToolSpec::new::<T>(name, description),
            reads,
            run: Arc::new(move |tx, by, input| run(tx, by, read(input)?)),
        }
    }
    vec![
        tool("task_create", false, "Create a task for all agents.", task_create),
        tool("task_list", true, "List the tasks.", task_list),
        tool("task_update", false, "Change a task's state.", task_update),
        tool("memory_read", true, "Read one of your memories.", memory_read),
        tool("memory_write", false, "Keep a memory.", memory_write),
        tool("memory_search", true, "Search your memories.", memory_search),
        tool("budget_check", true, "What you may still spend today.", budget_check),
        tool("budget_report", true, "What all have spent today.", budget_report),
        tool("budget_spend", false, "Spend units of today's budget.", budget_spend),
        tool("note_append", false, "Add a line to a note.", note_append),
    ]
}

/// The arguments, or a sentence with the field that is wrong.
fn read<T: DeserializeOwned>(input: Value) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        let field = error.path().to_string();
        let wrong = error.into_inner();
        let text = if field == "." { wrong.to_string() } else { format!("{field}: {wrong}") };
        ToolError::Arguments(text)
    })
}

fn filled(field: &str, text: &str) -> Result<String, ToolError> {
    match text.trim() {
        "" => Err(ToolError::Arguments(format!("{field}: must not be empty"))),
        text => Ok(text.to_owned()),
    }
}

fn now() -> String {
    Timestamp::now().to_string()
}

fn today() -> String {
    Zoned::now().date().to_string()
}

/// The state of a task.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Open,
    InProgress,
    Done,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Done => "done",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskCreate {
    /// What is to be done.
    title: String,
    /// The agent who is to do it.
    assignee: Option<String>,
    /// What else is known.
    notes: Option<String>,
}

fn task_create(tx: &Transaction<'_>, by: &Caller, input: TaskCreate) -> Done {
    let title = filled("title", &input.title)?;
    let notes = input.notes.unwrap_or_default();
    tx.execute(
        "INSERT INTO tasks (title, status, assignee, notes, made_by, changed) VALUES (?, 'open', ?, ?, ?, ?)",
        params![title, input.assignee, notes, by.agent, now()],
    )?;
    task(tx, tx.last_insert_rowid())
}

fn task(tx: &Transaction<'_>, id: i64) -> Done {
    let found =
        tx.query_row(&format!("{TASKS} WHERE id = ?"), [id], shown).optional()?.ok_or_else(
            || ToolError::Refused(format!("there is no task {id}; task_list lists them")),
        )?;
    Ok(found)
}

const TASKS: &str = "SELECT id, title, status, assignee, notes, made_by FROM tasks";

fn shown(row: &rusqlite::Row<'_>) -> rusqlite::Result<Value> {
    Ok(json!({
        "id": row.get::<_, i64>(0)?, "title": row.get::<_, String>(1)?,
        "status": row.get::<_, String>(2)?, "assignee": row.get::<_, Option<String>>(3)?,
        "notes": row.get::<_, String>(4)?, "made_by": row.get::<_, String>(5)?,
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskList {
    /// Only tasks in this state.
    status: Option<Status>,
    /// Only tasks of this agent.
    assignee: Option<String>,
}

fn task_list(tx: &Transaction<'_>, _: &Caller, input: TaskList) -> Done {
    let sql = format!(
        "{TASKS} WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR assignee = ?2) ORDER BY id LIMIT 500"
    );
    let mut rows = tx.prepare_cached(&sql)?;
    let rows = rows.query_map(params![input.status.map(Status::name), input.assignee], shown)?;
    Ok(json!({ "tasks": rows.collect::<Result<Vec<_>, _>>()? }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskUpdate {
    /// Its number.
    id: i64,
    status: Option<Status>,
    assignee: Option<String>,
    /// Added to its notes, as a line.
    note: Option<String>,
}

fn task_update(tx: &Transaction<'_>, _: &Caller, input: TaskUpdate) -> Done {
    tx.execute(
        "UPDATE tasks SET status = coalesce(?2, status), assignee = coalesce(?3, assignee), changed = ?5,
            notes = CASE WHEN ?4 IS NULL THEN notes WHEN notes = '' THEN ?4 ELSE notes || char(10) || ?4 END
            WHERE id = ?1",
        params![input.id, input.status.map(Status::name), input.assignee, input.note, now()],
    )?;
    task(tx, input.id)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Key {
    /// What it is kept under.
    key: String,
}

fn memory_read(tx: &Transaction<'_>, by: &Caller, input: Key) -> Done {
    let sql = "SELECT text FROM memories WHERE agent = ? AND key = ?";
    let text: Option<String> =
        tx.query_row(sql, [&by.agent, &input.key], |row| row.get(0)).optional()?;
    let none = || ToolError::Refused(format!("there is no memory {:?}", input.key));
    Ok(json!({ "key": input.key, "text": text.ok_or_else(none)? }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryWrite {
    /// What it is kept under; what was there is replaced.
    key: String,
    /// What is to be remembered.
    text: String,
}

fn memory_write(tx: &Transaction<'_>, by: &Caller, input: MemoryWrite) -> Done {
    let key = filled("key", &input.key)?;
    let sql = "INSERT OR REPLACE INTO memories (agent, key, text, changed) VALUES (?, ?, ?, ?)";
    tx.execute(sql, params![by.agent, key, input.text, now()])?;
    Ok(json!({ "kept": key }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Words {
    /// All of these words must be there.
    query: String,
}

fn memory_search(tx: &Transaction<'_>, by: &Caller, input: Words) -> Done {
    let query = filled("query", &input.query)?.to_lowercase();
    let sql = "SELECT key, text FROM memories WHERE agent = ? ORDER BY changed DESC";
    let mut rows = tx.prepare_cached(sql)?;
    let rows = rows.query_map([&by.agent], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found = Vec::new();
    for row in rows {
        let (key, text): (String, String) = row?;
        let all = format!("{key} {text}").to_lowercase();
        if query.split_whitespace().all(|word| all.contains(word)) && found.len() < 20 {
            found.push(json!({ "key": key, "text": text }));
        }
    }
    Ok(json!({ "found": found }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn spent(tx: &Transaction<'_>, agent: &str) -> Result<u64, ToolError> {
    let sql = "SELECT units FROM spent WHERE agent = ? AND day = ?";
    let units: Option<u64> = tx.query_row(sql, [agent, &today()], |row| row.get(0)).optional()?;
    Ok(units.unwrap_or_default())
}

fn budget_check(tx: &Transaction<'_>, by: &Caller, _: Nothing) -> Done {
    let spent = spent(tx, &by.agent)?;
    Ok(
        json!({ "allowance": by.allowance, "spent": spent, "left": by.allowance.saturating_sub(spent) }),
    )
}

fn budget_report(tx: &Transaction<'_>, _: &Caller, _: Nothing) -> Done {
    let mut rows =
        tx.prepare_cached("SELECT agent, units FROM spent WHERE day = ? ORDER BY agent")?;
    let rows = rows.query_map([today()], |row| {
        Ok(json!({ "agent": row.get::<_, String>(0)?, "spent": row.get::<_, u64>(1)? }))
    })?;
    Ok(json!({ "agents": rows.collect::<Result<Vec<_>, _>>()? }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spend {
    /// How many units.
    #[schemars(range(min = 1))]
    units: u32,
}

fn budget_spend(tx: &Transaction<'_>, by: &Caller, input: Spend) -> Done {
    let units = u64::from(input.units);
    let sum = spent(tx, &by.agent)? + units;
    if units == 0 {
        return Err(ToolError::Arguments("units: at least 1".to_owned()));
    }
    if sum > by.allowance {
        let left = by.allowance.saturating_sub(sum - units);
        let why = format!("{units} units are more than the {left} that are left today");
        return Err(ToolError::Refused(why));
    }
    let sql = "INSERT OR REPLACE INTO spent (agent, day, units) VALUES (?, ?, ?)";
    tx.execute(sql, params![by.agent, today(), sum])?;
    Ok(json!({ "spent": sum, "left": by.allowance - sum }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoteAppend {
    /// The note's name.
    note: String,
    /// The line.
    text: String,
}

fn note_append(tx: &Transaction<'_>, by: &Caller, input: NoteAppend) -> Done {
    let note = filled("note", &input.note)?;
    let sql = "INSERT INTO notes (note, agent, text, at) VALUES (?, ?, ?, ?)";
    tx.execute(sql, params![note, by.agent, input.text, now()])?;
    let sql = "SELECT count(*) FROM notes WHERE note = ?";
    let lines: i64 = tx.query_row(sql, [&note], |row| row.get(0))?;
    Ok(json!({ "note": note, "lines": lines }))
}
