//! A program around a terminal that does what the test tells it, when the test tells it.
//!
//! Questions come from permission rules, background turns and teammates, which this crate does not know. The test
//! binary runs itself: `test` is the program, started on a terminal by the other tests, and obeys orders that come over
//! a socket or as typed requests.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use terminal::{Call, Repl, Shown};
use testkit::{Class, Terminal as Screen};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::UnixStream as Orders;

const SOCKET: &str = "REPL_PROGRAM_SOCKET";

/// The program in a class; with a socket it waits for orders there.
pub fn class(socket: Option<&Path>) -> Class {
    let class = with_args(Class::new(exe()));
    class.env(SOCKET, socket.map_or("".as_ref(), Path::as_os_str))
}

/// The program behind a shell, which waits for the file `go` and shows the terminal's settings in the end.
pub fn behind_a_shell() -> Class {
    let class = Class::new("bash")
        .arg("-c")
        .arg("echo ready; until [ -e go ]; do :; done; \"$0\" \"$@\"; stty -a; echo end");
    with_args(class.arg(exe())).env(SOCKET, "")
}

fn exe() -> PathBuf {
    std::env::current_exe().expect("the test binary is a file")
}

fn with_args(class: Class) -> Class {
    let args = ["--exact", "program::program", "--ignored", "--nocapture", "--quiet"];
    args.into_iter().fold(class, Class::arg)
}

/// The program on a terminal, and the line its orders go over.
pub struct Program {
    _class: Class,
    pub terminal: Screen,
    orders: UnixStream,
}

impl Program {
    /// Starts it and waits for its prompt.
    pub fn start() -> Self {
        Self::start_on("xterm-256color")
    }

    /// Starts it on this kind of terminal and waits for its prompt.
    pub fn start_on(term: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let socket = folder.path().join("orders");
        let listener = UnixListener::bind(&socket).expect("a fresh path");
        let class = class(Some(&socket)).env("TERM", term);
        let mut terminal = class.terminal(80, 24);
        let (orders, _) = listener.accept().expect("the program connects");
        terminal.wait_for("s01 >>");
        Self {
            _class: class,
            terminal,
            orders,
        }
    }

    /// Gives an order.
    pub fn order(&mut self, order: &str) -> &mut Screen {
        writeln!(self.orders, "{order}").expect("the program listens");
        &mut self.terminal
    }
}

/// The program itself.
#[test]
#[ignore = "started by the other tests"]
fn program() {
    let Some(socket) = std::env::var_os(SOCKET) else {
        panic!("not a test: the program that other tests start");
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let code = runtime.expect("a runtime").block_on(async {
        let orders = match socket.is_empty() {
            true => None,
            false => Some(Orders::connect(&socket).await.expect("the test listens")),
        };
        let terminal = Repl::typed("s01_loop").completes(vec!["/help", "/hold"]);
        serve(terminal, orders.map(|orders| BufReader::new(orders).lines())).await
    });
    // Past the test runner, whose last words are no part of the session.
    std::process::exit(code);
}

type OrderLines = Option<Lines<BufReader<Orders>>>;

async fn serve(repl: Repl, mut orders: OrderLines) -> i32 {
    loop {
        tokio::select! {
            line = repl.line() => match line {
                Some(line) if line == "turn" || line.starts_with("ask ") => obey(&repl, &line, &mut orders).await,
                Some(line) if line == "panic" => panic!("as it was told"),
                Some(line) if line == "stop" => repl.run(stop()).await,
                Some(line) => repl.say(&format!("request: {line}")),
                None => break,
            },
            order = next(&mut orders) => obey(&repl, &order, &mut orders).await,
        }
    }
    let code = repl.exit_code();
    i32::from(code != std::process::ExitCode::SUCCESS)
}

/// A turn that SIGTERM ends.
async fn stop() -> anyhow::Result<()> {
    let pid = std::process::id().to_string();
    Command::new("kill").arg(pid).status()?;
    std::future::pending().await
}

async fn next(orders: &mut OrderLines) -> String {
    let order = match orders {
        Some(orders) => orders.next_line().await.expect("the test is there"),
        None => None,
    };
    match order {
        Some(order) => order,
        None => std::future::pending().await,
    }
}

async fn obey(repl: &Repl, order: &str, orders: &mut OrderLines) {
    let (verb, text) = order.split_once(' ').unwrap_or((order, ""));
    match verb {
        // Asks within a turn, as a tool does.
        "ask" => {
            repl.run(async {
                ask(repl, text).await;
                Ok(())
            })
            .await
        }
        // Asks beside the open prompt, as a teammate does.
        "aside" => {
            let (repl, text) = (repl.named("alice"), text.to_owned());
            tokio::spawn(async move { ask(&repl, &text).await });
        }
        "both" => {
            let (first, second) = text.split_once('|').expect("two questions");
            tokio::join!(ask(repl, first), ask(repl, second));
        }
        // Withdraws the question when the next order comes.
        "withdraw" => tokio::select! {
            () = ask(repl, text) => {}
            order = next(orders) => repl.say(&format!("withdrawn: {order}")),
        },
        // A turn lasts until its last order.
        "turn" => {
            repl.run(async {
                repl.say("the turn begins");
                loop {
                    match next(orders).await.split_once(' ') {
                        Some(("ask", question)) => ask(repl, question).await,
                        Some(("stream", piece)) => repl.text(piece),
                        Some(("say", text)) => repl.say(text),
                        Some(("wait", _)) => repl.waiting(),
                        Some(("done", _)) => repl.done(),
                        Some(("call", text)) => repl.call(call(text)),
                        Some(("progress", text)) => repl.progress(call("x"), text),
                        Some(("result", text)) => repl.result(
                            call("x"),
                            Shown {
                                text,
                                is_error: false,
                            },
                        ),
                        _ => break,
                    }
                }
                repl.say("the turn ends");
                Ok(())
            })
            .await;
        }
        "say" => repl.say(text),
        "alice" => repl.named("alice").say(text),
        other => panic!("no such order: {other}"),
    }
}

async fn ask(repl: &Repl, question: &str) {
    let answer = repl.confirm(question).await;
    repl.say(&format!("{question} {answer:?}"));
}

/// A call of the tool bash.
fn call(name: &str) -> Call<'_> {
    Call {
        id: "toolu_1",
        name,
        input: &Value::Null,
    }
}
