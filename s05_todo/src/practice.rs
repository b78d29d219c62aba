//! Practice files: the `examples/` folder that this chapter's prompts speak of.
//!
//! A student starts the chapter in an empty directory and asks to refactor a file that is not there. So the chapter brings
//! a few untidy Python files along. Invariant: nothing is ever overwritten, and a directory that cannot be written
//! stops no request.

use std::fs;
use std::future::{Ready, ready};
use std::io::ErrorKind;

use anyhow::{Context, Result};
use kit::write_whole;
use s01_loop::Repl;
use s02_tools::Workspace;
use s04_hooks::{HookOutput, Prompt};

/// The folder, in this crate and in the workspace.
const FOLDER: &str = "examples";

/// What lies in it.
const FILES: [(&str, &str); 3] = [
    ("hello.py", include_str!("../examples/hello.py")),
    ("shapes.py", include_str!("../examples/shapes.py")),
    ("words.py", include_str!("../examples/words.py")),
];

/// UserPromptSubmit: copies `examples/` into the workspace when a request speaks of it and it is not there.
pub fn practice_files(
    ws: &Workspace,
    repl: &Repl,
) -> impl Fn(Prompt) -> Ready<HookOutput> + Send + Sync + 'static {
    let (ws, repl) = (ws.clone(), repl.clone());
    move |Prompt { text }| {
        if speaks_of_it(&text) {
            match copy(&ws) {
                Ok(true) => repl.remark(&format!(
                    "[practice files: there was no {FOLDER}/; wrote {}]",
                    names()
                )),
                Ok(false) => {}
                Err(error) => repl.remark(&format!("[no practice files: {error:#}]")),
            }
        }
        ready(HookOutput::Go)
    }
}

/// Whether the folder's name is a word of the request, alone or in a path.
fn speaks_of_it(request: &str) -> bool {
    let mut words = request.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == FOLDER)
}

/// Writes the files; false when there is something of that name, whatever it is.
fn copy(ws: &Workspace) -> Result<bool> {
    let folder = ws.root().join(FOLDER);
    match fs::create_dir(&folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error).with_context(|| format!("creating {FOLDER}/")),
    }
    for (name, content) in FILES {
        write_whole(&folder.join(name), content.as_bytes())
            .with_context(|| format!("writing {FOLDER}/{name}"))?;
    }
    Ok(true)
}

fn names() -> String {
    FILES.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_a_word_alone_or_in_a_path() {
        for request in [
            "Refactor examples/hello.py",
            "tidy ./examples, please",
            "read `examples`",
        ] {
            assert!(speaks_of_it(request), "{request}");
        }
        for request in [
            "for example",
            "my_examples/a.py",
            "counterexamples",
            "Hello",
        ] {
            assert!(!speaks_of_it(request), "{request}");
        }
    }
}
