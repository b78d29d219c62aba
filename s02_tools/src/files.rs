//! The file tools: read, write and edit text.
//!
//! bash could do all of this; tools of their own can be checked (which path?), made safe (whole files or none) and
//! explained when they fail. Invariants: no path leaves the workspace, whatever commands do meanwhile; an edit changes the
//! file that it has read.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::place::Place;
use crate::tool::{Access, Tool};
use crate::workspace::Workspace;

/// The most lines that one read returns unless it asks for more.
pub const DEFAULT_LIMIT: usize = 2_000;

/// The most bytes that one read returns: far more would not fit into a context window, and the API takes 32 MB.
pub const MAX_READ: usize = 400_000;

/// The input of read_file.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadFile {
    /// The file, relative to the workspace.
    pub path: String,
    /// The first line to read, counted from 1. Default: 1.
    pub offset: Option<usize>,
    /// How many lines to read. Default: 2000.
    pub limit: Option<usize>,
}

/// The input of write_file.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WriteFile {
    /// The file, relative to the workspace. Missing directories are created.
    pub path: String,
    /// The whole new content.
    pub content: String,
}

/// The input of edit_file.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EditFile {
    /// The file, relative to the workspace.
    pub path: String,
    /// The text to replace, exactly as it stands in the file; it must occur once.
    pub old_text: String,
    /// The text to put in its place.
    pub new_text: String,
}

/// The tool read_file.
pub fn read_file(ws: &Workspace) -> Tool {
    let ws = ws.clone();
    Tool::blocking(
        "read_file",
        "Read a text file, or some of its lines.",
        move |input: ReadFile| {
            let path = ws.resolve(&input.path)?;
            let first = input.offset.unwrap_or(1).max(1);
            read_lines(&path, first, input.limit.unwrap_or(DEFAULT_LIMIT).max(1))
                .with_context(|| format!("reading {}", ws.shown(&path)))
        },
    )
    .touching(Access::FileToRead)
}

/// The tool write_file.
pub fn write_file(ws: &Workspace) -> Tool {
    let ws = ws.clone();
    Tool::blocking(
        "write_file",
        "Write a file, replacing what it held.",
        move |input: WriteFile| {
            let path = ws.resolve(&input.path)?;
            let was_there = Place::make(&path)
                .and_then(|place| place.write(input.content.as_bytes()))
                .with_context(|| format!("writing {}", ws.shown(&path)))?;
            let (done, size) =
                (if was_there { "replaced" } else { "created" }, input.content.len());
            Ok(format!("{done} {} ({size} bytes)", ws.shown(&path)))
        },
    )
    .touching(Access::FileToWrite)
}

/// The tool edit_file.
pub fn edit_file(ws: &Workspace) -> Tool {
    let ws = ws.clone();
    Tool::blocking("edit_file", "Replace one passage of a file.", move |input: EditFile| {
        let path = ws.resolve(&input.path)?;
        edit(&path, &input.old_text, &input.new_text)
            .with_context(|| format!("editing {}", ws.shown(&path)))?;
        Ok(format!("edited {}", ws.shown(&path)))
    })
    .touching(Access::FileToWrite)
}

fn edit(path: &Path, old: &str, new: &str) -> Result<()> {
    let place = Place::find(path)?;
    let mut bytes = Vec::new();
    place.open()?.read_to_end(&mut bytes)?;
    let text =
        String::from_utf8(bytes).ok().context("it is not UTF-8 text; use bash to change it")?;
    place.write(replace_once(&text, old, new)?.as_bytes())?;
    Ok(())
}

/// The lines from `first` (counted from 1), and a note when there are more.
fn read_lines(path: &Path, first: usize, limit: usize) -> Result<String> {
    let mut reader = BufReader::new(Place::find(path)?.open()?);
    let wanted = first..first.saturating_add(limit);
    let (mut shown, mut number, mut line) = (Vec::new(), 0, Vec::new());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        ensure!(!line.contains(&0), "it is a binary file; use bash to look at it");
        number += 1;
        if wanted.contains(&number) {
            shown.extend_from_slice(&line);
            ensure!(
                shown.len() <= MAX_READ,
                "lines {first} to {number} have more than {MAX_READ} bytes; read fewer, or search with bash"
            );
        }
    }
    let text = String::from_utf8_lossy(&shown).into_owned();
    let last = (wanted.end - 1).min(number);
    match number {
        0 => Ok("(the file is empty)".to_owned()),
        _ if first > number => {
            bail!("it has only {number} lines; offset {first} is behind its end")
        }
        _ if last < number => Ok(format!(
            "{text}(lines {first} to {last} of {number}; read on with offset {})",
            last + 1
        )),
        _ => Ok(text),
    }
}

fn replace_once(text: &str, old: &str, new: &str) -> Result<String> {
    ensure!(!old.is_empty(), "old_text is empty; to write a whole file use write_file");
    ensure!(old != new, "old_text and new_text are the same; nothing to change");
    match text.matches(old).count() {
        1 => Ok(text.replacen(old, new, 1)),
        // Models write \n; a file from Windows has \r\n.
        0 if text.contains("\r\n") && !old.contains('\r') && old.contains('\n') => {
            replace_once(text, &old.replace('\n', "\r\n"), &new.replace('\n', "\r\n"))
        }
        0 => bail!("old_text does not occur in it; read the file and copy the passage exactly"),
        count => bail!(
            "old_text occurs {count} times; add a line before or after it so that it is unique"
        ),
    }
}
