//! Puts a server on standard input and output behind another front, frame for frame.
//!
//! `forward --http 8080 -- npx -y @modelcontextprotocol/server-everything stdio` serves it at http://127.0.0.1:8080/mcp,
//! `forward --stdio -- …` on standard input and output. Each session has a server of its own; requests without a session
//! share one. Invariant: what goes through is what came; an end on either side is an end on the other.

use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::time::Duration;

use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::{Listener, ServerOptions};
use mcp_wire::{Connection, Error, Reader, Writer, stdio};
use tokio::process::Command;
use tokio::time::timeout;

const USAGE: &str = "usage: forward --http PORT -- COMMAND [ARGUMENT…]
       forward --stdio -- COMMAND [ARGUMENT…]";
/// For what a server still answers when its client has gone.
const LAST_WORDS: Duration = Duration::from_secs(2);

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let done = match &args[..] {
        ["--http", port, "--", command @ ..] if !command.is_empty() => http(port, command).await,
        ["--stdio", "--", command @ ..] if !command.is_empty() => {
            between(stdio::own(), command).await;
            // Standard input may be read still, which would hold up the end.
            std::process::exit(0);
        }
        _ => Err(USAGE.to_owned()),
    };
    if let Err(why) = done {
        eprintln!("{why}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

async fn http(port: &str, command: &[&str]) -> Result<(), String> {
    let port: u16 = port.parse().map_err(|_| format!("{port} is no port\n{USAGE}"))?;
    let address = (Ipv4Addr::LOCALHOST, port).into();
    let listener = Listener::bind(address, ServerOptions::default()).await;
    let mut listener = listener.map_err(|error| format!("listening on port {port}: {error}"))?;
    eprintln!("http://{}/mcp", listener.address());
    let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
    let serve = async {
        while let Some(client) = listener.accept().await {
            let command = command.clone();
            tokio::spawn(async move {
                let command: Vec<_> = command.iter().map(String::as_str).collect();
                between(client, &command).await;
            });
        }
    };
    tokio::select! {
        () = serve => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(())
}

/// Starts the server and moves frames until one side ends.
async fn between(front: Connection, command: &[&str]) {
    let mut start = Command::new(command[0]);
    let (back, child) = match stdio::spawn(start.args(&command[1..]), FRAME_LIMIT) {
        Ok(started) => started,
        Err(error) => return eprintln!("starting {}: {error}", command[0]),
    };
    let up = pass(front.reader, back.writer, Some(front.writer.clone()));
    let down = pass(back.reader, front.writer, None);
    tokio::pin!(up, down);
    tokio::select! {
        // The client has no more to say. That closes the server's input; its last words still go out.
        () = &mut up => { let _ = timeout(LAST_WORDS, down).await; }
        () = &mut down => {}
    }
    child.stop().await;
}

/// Moves frames one way. What is no frame is answered, or, from the server, shown.
async fn pass(mut from: Reader, to: Writer, answer: Option<Writer>) {
    while let Some(came) = from.recv().await {
        let sent = match (came, &answer) {
            (Ok(frame), _) => to.send(frame).await,
            (Err(Error::NotAFrame(not)), Some(client)) => client.send(not).await,
            (Err(error), _) => {
                eprintln!("{error}");
                Ok(())
            }
        };
        if sent.is_err() {
            return;
        }
    }
}
