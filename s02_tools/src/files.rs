//! The file tools: read, write and edit text.
//!
//! bash could do all of this; tools of their own can be checked (which path?), made safe (whole files or none) and
//! explained when they fail. Invariants: no path leaves the workspace; a reader sees the old file or the new one, never
//! half of one.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Tool, Touches};
use crate::workspace::Workspace;

/// The most lines that one read returns unless it asks for more.
pub const DEFAULT_LIMIT: usize = 2_000;

/// The most bytes that one read returns: far more would not fit into a context window, and the API takes 32 MB.
pub const MAX_READ: usize = 400_000;

/// The largest file that is read line by line, in bytes.
const MAX_FILE: u64 = 100_000_000;

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
    .touching(Touches::FileToRead)
}

/// The tool write_file.
pub fn write_file(ws: &Workspace) -> Tool {
    let ws = ws.clone();
    Tool::blocking(
        "write_file",
        "Write a file, replacing what it held.",
        move |input: WriteFile| {
            let path = ws.resolve(&input.path)?;
            let is_new = !path.exists();
            write_whole(&path, input.content.as_bytes())
                .with_context(|| format!("writing {}", ws.shown(&path)))?;
            let (done, size) = (
                if is_new { "created" } else { "replaced" },
                input.content.len(),
            );
            Ok(format!("{done} {} ({size} bytes)", ws.shown(&path)))
        },
    )
    .touching(Touches::FileToWrite)
}

/// The tool edit_file.
pub fn edit_file(ws: &Workspace) -> Tool {
    let ws = ws.clone();
    Tool::blocking(
        "edit_file",
        "Replace one passage of a file.",
        move |input: EditFile| {
            let path = ws.resolve(&input.path)?;
            let edited = replace_once(&read_text(&path)?, &input.old_text, &input.new_text);
            edited
                .and_then(|text| write_whole(&path, text.as_bytes()))
                .with_context(|| format!("editing {}", ws.shown(&path)))?;
            Ok(format!("edited {}", ws.shown(&path)))
        },
    )
    .touching(Touches::FileToWrite)
}

/// Replaces the content of a file as a whole: it is written beside it and moved into its place. The permissions of an
/// old file stay; missing directories are created.
///
/// # Errors
/// When the path is a directory or cannot be written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let (Some(directory), false) = (path.parent(), path.is_dir()) else {
        bail!("it is a directory; name a file");
    };
    fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    let old = fs::metadata(path).ok().map(|old| old.permissions());
    if old.as_ref().is_some_and(fs::Permissions::readonly) {
        bail!("it is read-only; change its permissions first if that is meant");
    }
    let mut file = tempfile::Builder::new()
        .prefix(".write-")
        // The process's umask narrows this as it does for any new file.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(directory)
        .with_context(|| format!("creating a file in {}", directory.display()))?;
    if let Some(old) = old {
        file.as_file().set_permissions(old)?;
    }
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}

/// The lines from `first` (counted from 1), and a note when there are more.
fn read_lines(path: &Path, first: usize, limit: usize) -> Result<String> {
    let mut reader = BufReader::new(open_file(path)?);
    let wanted = first..first.saturating_add(limit);
    let (mut shown, mut number, mut line) = (Vec::new(), 0, Vec::new());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        ensure!(
            !line.contains(&0),
            "it is a binary file; use bash to look at it"
        );
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

fn read_text(path: &Path) -> Result<String> {
    let name = || format!("reading {}", path.display());
    let bytes = open_file(path).and_then(|mut file| {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(bytes)
    });
    String::from_utf8(bytes.with_context(name)?)
        .ok()
        .context("it is not UTF-8 text; use bash to change it")
        .with_context(name)
}

/// Opens a regular file; a pipe or a device would keep the reader waiting for ever.
fn open_file(path: &Path) -> Result<File> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() > MAX_FILE => {
            bail!(
                "it has {} bytes; use head, tail or grep in bash",
                found.len()
            )
        }
        Ok(found) if found.is_file() => Ok(File::open(path)?),
        Ok(found) if found.is_dir() => bail!("it is a directory; list it with glob or bash"),
        Ok(_) => bail!("it is not a regular file"),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("there is no such file"),
        Err(error) => Err(error.into()),
    }
}

fn replace_once(text: &str, old: &str, new: &str) -> Result<String> {
    ensure!(
        !old.is_empty(),
        "old_text is empty; to write a whole file use write_file"
    );
    ensure!(
        old != new,
        "old_text and new_text are the same; nothing to change"
    );
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
