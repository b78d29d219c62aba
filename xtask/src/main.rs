//! `cargo x`: the contributor's tool.
//!
//! One entry for the class (`diff`), for contributors (`tidy`, `budget`, `replay`) and for CI (`ci`).
//! Invariant: it depends on no chapter, so it builds and judges whatever state the chapters are in.

mod bodies;
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
#[cfg(test)]
mod fixture;
mod git;
mod header;
mod imports;
mod markers;
mod pool;
mod replay;
mod session;
mod source;
mod start;
mod step;
mod terminal;
mod tidy;
mod tree;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};

use terminal::Paint;
use workspace::{Chapter, Workspace};

fn main() -> ExitCode {
    let matches = command().get_matches();
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if terminal::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    let chapter = |name: &'static str| Arg::new(name).value_name("CHAPTER");
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("cargo x")
        .bin_name("cargo x")
        .about("The contributor's tool. A chapter is named by s04, 4 or s04_hooks.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("diff")
                .about("Show what the class sees of a chapter: its diff, its new files, the lessons it imports")
                .arg(chapter("first").required(true).help("The chapter; or, with a second one, the one to start from"))
                .arg(chapter("second").help("The chapter to arrive at [default: the first one, from its base]")),
        )
        .subcommand(
            Command::new("budget")
                .about("Measure the changed lines of the carried files; fail when a chapter is over its limit")
                .arg(flag("markdown").help("Print the table as CONTRIBUTING.md shows it"))
                .arg(flag("write").help("Bring CONTRIBUTING.md and the counts in the READMEs up to date")),
        )
        .subcommand(Command::new("tidy").about("Check the rules of the course; fail on findings"))
        .subcommand(Command::new("features").about("Name dependencies that one chapter builds otherwise than another"))
        .subcommand(
            Command::new("replay")
                .about("Carry a change of a chapter's carried files to every later chapter, by 3-way merge")
                .arg(chapter("chapter").required_unless_present("continue").help("The chapter that was changed"))
                .arg(Arg::new("commit").long("commit").value_name("REV").help(
                    "Carry what this commit changed [default: what is not committed yet]",
                ))
                .arg(flag("dry-run").help("Say what would happen and write nothing"))
                .arg(flag("continue").conflicts_with_all(["chapter", "commit"]).help("Go on after a conflict")),
        )
        .subcommand(
            Command::new("session")
                .about("Compare the session that a chapter's README shows with what the chapter does")
                .arg(chapter("chapter").help("The chapter [default: all that show one]"))
                .arg(flag("write").help("Write it into the README")),
        )
        .subcommand(
            Command::new("check")
                .about("Run the exercises of a chapter that are switched on; say what is done and what is next")
                .arg(chapter("chapter").required(true))
                .arg(
                    Arg::new("hint")
                        .long("hint")
                        .value_name("NUMBER")
                        .value_parser(clap::value_parser!(usize))
                        .default_value("1")
                        .help("How many hints to show"),
                ),
        )
        .subcommand(
            Command::new("start")
                .about("Make a copy of the course in which you build a chapter's mechanism; its tests grade you")
                .arg(chapter("chapter").required(true))
                .arg(
                    Arg::new("folder")
                        .value_name("DIR")
                        .value_parser(clap::value_parser!(PathBuf))
                        .required(true)
                        .help("A folder that is not there yet"),
                ),
        )
        .subcommand(
            Command::new("exercises")
                .about("Prove that each exercise fails without its reference patch and passes with it, and that each chapter can be built anew")
                .arg(chapter("chapter").help("The chapter [default: all]")),
        )
        .subcommand(
            Command::new("external")
                .about("Try the MCP servers and the MCP client against official ones; installs them below target/"),
        )
        .subcommand(
            Command::new("ci")
                .about("Run every check, the quick ones first; stop at the first failure")
                .arg(flag("external").help("And try MCP against official servers and clients, as cargo x external does")),
        )
}

fn run(matches: &ArgMatches) -> Result<()> {
    let folder = std::env::current_dir()?;
    let ws = Workspace::find(&folder)?;
    match matches.subcommand() {
        Some(("diff", args)) => run_diff(&ws, args),
        Some(("budget", args)) => run_budget(&ws, args),
        Some(("tidy", _)) => report(&tidy::findings(&ws)),
        Some(("features", _)) => report(&features::findings(&ws)?),
        Some(("replay", args)) => {
            let request = replay::Request {
                chapter: args.get_one::<String>("chapter").cloned(),
                commit: args.get_one::<String>("commit").cloned(),
                dry_run: args.get_flag("dry-run"),
            };
            Ok(terminal::print(&replay::run(&ws, &request)?)?)
        }
        Some(("session", args)) => {
            let chapter = args.get_one::<String>("chapter");
            let chapter = chapter.map(|wanted| ws.chapter(wanted)).transpose()?;
            session::run(&ws, chapter, args.get_flag("write"))
        }
        Some(("check", args)) => {
            let hints = args.get_one::<usize>("hint").copied().unwrap_or(1);
            check::run(&ws, named(&ws, args, "chapter")?, hints)
        }
        Some(("start", args)) => {
            let folder = args.get_one::<PathBuf>("folder").expect("clap requires it");
            start::run(&ws, named(&ws, args, "chapter")?, folder)
        }
        Some(("exercises", args)) => {
            let chapter = args.get_one::<String>("chapter");
            let chapter = chapter.map(|wanted| ws.chapter(wanted)).transpose()?;
            exercises::prove::run(&ws, chapter)
        }
        Some(("external", _)) => external::run(&ws),
        Some(("ci", args)) => ci::run(&ws, args.get_flag("external")),
        _ => unreachable!("clap requires a subcommand"),
    }
}

/// The chapter that an argument which clap requires names.
fn named<'a>(ws: &'a Workspace, args: &ArgMatches, name: &str) -> Result<&'a Chapter> {
    ws.chapter(args.get_one::<String>(name).expect("clap requires it"))
}

fn run_diff(ws: &Workspace, args: &ArgMatches) -> Result<()> {
    let named = |name: &str| {
        args.get_one::<String>(name)
            .map(|wanted| ws.chapter(wanted))
            .transpose()
    };
    let (from, to) = match (named("first")?, named("second")?) {
        (Some(from), Some(to)) => (Some(from), to),
        (Some(to), None) => (ws.base(to), to),
        (None, _) => unreachable!("clap requires a chapter"),
    };
    Ok(terminal::print(&diff::show(
        ws,
        from,
        to,
        Paint::for_stdout(),
    ))?)
}

fn run_budget(ws: &Workspace, args: &ArgMatches) -> Result<()> {
    let rows = budget::rows(ws);
    if args.get_flag("write") {
        for (path, text) in budget::stale(ws) {
            std::fs::write(ws.root.join(&path), text)?;
            terminal::print(&format!("wrote {path}\n"))?;
        }
    }
    let table = if args.get_flag("markdown") {
        budget::markdown(&rows)
    } else {
        budget::plain(&rows)
    };
    terminal::print(&table)?;
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
        1 => bail!("1 finding"),
        number => bail!("{number} findings"),
    }
}
