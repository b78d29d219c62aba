//! `cargo x`: the tool of the course.
//!
//! One entry for a class (`diff`, `check`, `start`, `book`), for contributors (`tidy`, `budget`, `replay`) and for CI (`ci`).
//! Invariant: it depends on no chapter, so it builds and judges whatever state the chapters are in.

mod bodies;
mod book;
mod budget;
mod cargo;
mod change;
mod check;
mod ci;
mod copy;
mod diff;
mod exercises;
mod external;
mod features;
mod git;
mod header;
mod markers;
mod pool;
mod replay;
mod rust;
mod session;
mod start;
mod step;
mod terminal;
#[cfg(test)]
mod tests;
mod tidy;
mod tree;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;

use workspace::Workspace;

/// The tool of the course. A chapter is named by s04, 4 or s04_hooks.
#[derive(Parser)]
#[command(bin_name = "cargo x", arg_required_else_help = true)]
enum Command {
    /// Show what the class sees of a chapter: its diff, its new files, the lessons it imports
    Diff {
        /// The chapter; or, with a second one, the one to start from
        first: String,
        /// The chapter to arrive at [default: the first one, from its base]
        second: Option<String>,
    },
    /// Run the exercises of a chapter that are switched on; say what is done and what is next
    Check {
        /// The chapter [default: in a copy of cargo x start, the one it was made for]
        chapter: Option<String>,
        /// How many hints to show
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        hint: usize,
    },
    /// Make a copy of the course in which you build a chapter's mechanism; its tests grade you
    Start {
        chapter: String,
        /// A folder that is not there yet
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Make the book from the READMEs, the diffs and the exercises; print where it is
    Book(book::Wish),
    /// Measure the changed lines of the carried files; fail when a chapter is over its limit
    Budget {
        /// Bring CONTRIBUTING.md and the numbers in the READMEs up to date
        #[arg(long)]
        write: bool,
    },
    /// Compare the tools that each chapter offers with its tests/pool.txt
    Pool {
        /// Write the pools, the snapshots that show tools, and the numbers in the READMEs
        #[arg(long)]
        write: bool,
    },
    /// Check the rules of the course; fail on findings
    Tidy,
    /// Name dependencies that one chapter builds otherwise than another
    Features,
    /// Carry a change of a chapter's carried files to every later chapter, by 3-way merge
    Replay {
        /// The chapter that was changed
        #[arg(required_unless_present = "continue")]
        chapter: Option<String>,
        /// Go on after a conflict
        #[arg(long, conflicts_with = "chapter")]
        r#continue: bool,
    },
    /// Compare the session that a chapter's README shows with what the chapter does
    Session {
        /// The chapter [default: all that show one]
        chapter: Option<String>,
        /// Write it into the README
        #[arg(long)]
        write: bool,
    },
    /// Prove that each exercise can be solved, and that each chapter can be built anew
    Exercises {
        /// The chapter [default: all]
        chapter: Option<String>,
    },
    /// Try the MCP servers and the MCP client against official ones; installs them below target/
    External {
        /// One crate with a test external [default: all]
        #[arg(value_name = "CRATE")]
        only: Option<String>,
    },
    /// Run every check, the quick ones first; stop at the first failure
    Ci {
        /// And try MCP against official servers and clients, as cargo x external does
        #[arg(long)]
        external: bool,
    },
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if terminal::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let ws = Workspace::find(&std::env::current_dir()?)?;
    let chosen = |name: Option<String>| name.map(|name| ws.chapter(&name)).transpose();
    // What goes into a file has no colours, wherever the command is typed.
    if !matches!(command, Command::Diff { .. } | Command::Check { .. }) {
        console::set_colors_enabled(false);
    }
    match command {
        Command::Diff { first, second } => {
            let first = ws.chapter(&first)?;
            let (from, to) = match chosen(second)? {
                Some(second) => (Some(first), second),
                None => (ws.base(first), first),
            };
            Ok(terminal::page(&diff::show(&ws, from, to))?)
        }
        Command::Check { chapter, hint } => {
            let chapter = chosen(chapter)?.or_else(|| start::started(&ws));
            let chapter = chapter.context("name a chapter: cargo x check s05")?;
            check::run(&ws, chapter, hint)
        }
        Command::Start { chapter, folder } => start::run(&ws, ws.chapter(&chapter)?, &folder),
        Command::Book(wish) => book::run(&ws, &wish),
        Command::Budget { write } => budget::run(&ws, write),
        Command::Pool { write } => pool::run(&ws, write),
        Command::Tidy => report(&tidy::findings(&ws)),
        Command::Features => report(&features::findings(&ws)?),
        Command::Replay { chapter, .. } => {
            Ok(terminal::print(&replay::run(&ws, chapter.as_deref())?)?)
        }
        Command::Session { chapter, write } => session::run(&ws, chosen(chapter)?, write),
        Command::Exercises { chapter } => exercises::prove::run(&ws, chosen(chapter)?),
        Command::External { only } => external::run(&ws, only.as_deref()),
        Command::Ci { external } => ci::run(&ws, external),
    }
}

fn report(findings: &[String]) -> Result<()> {
    findings.iter().try_for_each(|it| {
        terminal::print(&format!(
            "{it}
"
        ))
    })?;
    match findings.len() {
        0 => Ok(()),
        number => bail!(terminal::counted(number, "finding", "findings")),
    }
}
