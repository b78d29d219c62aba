//! The commands of `cargo x` and their arguments.
//!
//! In three groups, as people meet them: those for a class, those that keep the course in shape, and the proofs.
//! Invariant: each command says in a sentence what it does; a chapter is named the same way everywhere.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, value_parser};

/// `cargo x` with all its commands.
pub fn command() -> Command {
    Command::new("cargo x")
        .bin_name("cargo x")
        .about("The tool of the course. A chapter is named by s04, 4 or s04_hooks.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(for_a_class())
        .subcommands(for_upkeep())
        .subcommands(proofs())
}

fn for_a_class() -> Vec<Command> {
    vec![
        Command::new("diff")
            .about("Show what the class sees of a chapter: its diff, its new files, the lessons it imports")
            .arg(chapter("first").required(true).help("The chapter; or, with a second one, the one to start from"))
            .arg(chapter("second").help("The chapter to arrive at [default: the first one, from its base]")),
        Command::new("check")
            .about("Run the exercises of a chapter that are switched on; say what is done and what is next")
            .arg(chapter("chapter").help("The chapter [default: in a copy of cargo x start, the one it was made for]"))
            .arg(
                Arg::new("hint")
                    .long("hint")
                    .value_name("NUMBER")
                    .value_parser(value_parser!(usize))
                    .default_value("1")
                    .help("How many hints to show"),
            ),
        Command::new("start")
            .about("Make a copy of the course in which you build a chapter's mechanism; its tests grade you")
            .arg(chapter("chapter").required(true))
            .arg(
                Arg::new("folder")
                    .value_name("DIR")
                    .value_parser(value_parser!(PathBuf))
                    .required(true)
                    .help("A folder that is not there yet"),
            ),
        crate::book::command(),
    ]
}

fn for_upkeep() -> Vec<Command> {
    vec![
        Command::new("budget")
            .about("Measure the changed lines of the carried files; fail when a chapter is over its limit")
            .arg(flag("write").help("Bring CONTRIBUTING.md and the numbers in the READMEs up to date")),
        Command::new("pool")
            .about("Compare the tools that each chapter offers with its tests/pool.txt")
            .arg(flag("write").help("Write the pools, the snapshots that show tools, and the numbers in the READMEs")),
        Command::new("tidy").about("Check the rules of the course; fail on findings"),
        Command::new("features").about("Name dependencies that one chapter builds otherwise than another"),
        Command::new("replay")
            .about("Carry a change of a chapter's carried files to every later chapter, by 3-way merge")
            .arg(chapter("chapter").required_unless_present("continue").help("The chapter that was changed"))
            .arg(flag("continue").conflicts_with("chapter").help("Go on after a conflict")),
        Command::new("session")
            .about("Compare the session that a chapter's README shows with what the chapter does")
            .arg(chapter("chapter").help("The chapter [default: all that show one]"))
            .arg(flag("write").help("Write it into the README")),
    ]
}

fn proofs() -> Vec<Command> {
    vec![
        Command::new("exercises")
            .about("Prove that each exercise can be solved, and that each chapter can be built anew")
            .arg(chapter("chapter").help("The chapter [default: all]")),
        Command::new("external")
            .about("Try the MCP servers and the MCP client against official ones; installs them below target/")
            .arg(Arg::new("crate").value_name("CRATE").help("One crate with a test external [default: all]")),
        Command::new("ci")
            .about("Run every check, the quick ones first; stop at the first failure")
            .arg(flag("external").help("And try MCP against official servers and clients, as cargo x external does")),
    ]
}

fn chapter(name: &'static str) -> Arg {
    Arg::new(name).value_name("CHAPTER")
}

fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}
