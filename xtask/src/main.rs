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
mod command_line;
mod copy;
mod diff;
mod exercises;
mod external;
mod features;
mod git;
mod header;
mod kit;
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
use clap::ArgMatches;

use terminal::Paint;
use workspace::{Chapter, Workspace};

fn main() -> ExitCode {
    let matches = command_line::command().get_matches();
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if terminal::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(matches: &ArgMatches) -> Result<()> {
    let folder = std::env::current_dir()?;
    let ws = Workspace::find(&folder)?;
    match matches.subcommand() {
        Some(("diff", args)) => run_diff(&ws, args),
        Some(("budget", args)) => run_budget(&ws, args),
        Some(("tidy", _)) => report(&tidy::findings(&ws)),
        Some(("pool", args)) => pool::run(&ws, args.get_flag("write")),
        Some(("features", _)) => report(&features::findings(&ws)?),
        Some(("replay", args)) => {
            let chapter = args.get_one::<String>("chapter").map(String::as_str);
            Ok(terminal::print(&replay::run(&ws, chapter)?)?)
        }
        Some(("session", args)) => {
            session::run(&ws, chosen(&ws, args, "chapter")?, args.get_flag("write"))
        }
        Some(("check", args)) => {
            let hints = *args.get_one::<usize>("hint").expect("it has a default");
            let chapter = chosen(&ws, args, "chapter")?.or_else(|| start::started(&ws));
            check::run(
                &ws,
                chapter.context("name a chapter: cargo x check s05")?,
                hints,
            )
        }
        Some(("start", args)) => {
            let folder = args.get_one::<PathBuf>("folder").expect("clap requires it");
            start::run(&ws, named(&ws, args, "chapter")?, folder)
        }
        Some(("exercises", args)) => exercises::prove::run(&ws, chosen(&ws, args, "chapter")?),
        Some(("book", args)) => book::run(&ws, args),
        Some(("external", args)) => {
            external::run(&ws, args.get_one::<String>("crate").map(String::as_str))
        }
        Some(("ci", args)) => ci::run(&ws, args.get_flag("external")),
        _ => unreachable!("clap requires a subcommand"),
    }
}

/// The chapter that an argument which clap requires names.
fn named<'a>(ws: &'a Workspace, args: &ArgMatches, name: &str) -> Result<&'a Chapter> {
    ws.chapter(args.get_one::<String>(name).expect("clap requires it"))
}

/// The chapter that an argument names which may be left out.
fn chosen<'a>(ws: &'a Workspace, args: &ArgMatches, name: &str) -> Result<Option<&'a Chapter>> {
    let wanted = args.get_one::<String>(name);
    wanted.map(|wanted| ws.chapter(wanted)).transpose()
}

fn run_diff(ws: &Workspace, args: &ArgMatches) -> Result<()> {
    let first = named(ws, args, "first")?;
    let (from, to) = match chosen(ws, args, "second")? {
        Some(second) => (Some(first), second),
        None => (ws.base(first), first),
    };
    let shown = diff::show(ws, from, to, Paint::for_stdout());
    Ok(terminal::page(&shown)?)
}

fn run_budget(ws: &Workspace, args: &ArgMatches) -> Result<()> {
    let rows = budget::rows(ws);
    if args.get_flag("write") {
        budget::write(ws)?;
    }
    terminal::print(&budget::markdown(&rows))?;
    match rows.iter().find_map(budget::Row::excess) {
        Some(excess) => bail!("{excess}; move control flow into the chapter's library"),
        None => Ok(()),
    }
}

fn report(findings: &[impl std::fmt::Display]) -> Result<()> {
    terminal::print(
        &findings
            .iter()
            .map(|finding| format!("{finding}\n"))
            .collect::<String>(),
    )?;
    match findings.len() {
        0 => Ok(()),
        number => bail!(terminal::counted(number, "finding", "findings")),
    }
}
