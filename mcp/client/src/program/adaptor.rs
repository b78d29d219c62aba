//! `connect`: standard input and output in front, any transport behind.
//!
//! Any client that can start a program reaches any server this way, with the login and the reconnecting of this crate.
//! Invariant: frames go through as they came.

use mcp_client::transport::Dialer;
use mcp_client::{Options, Server, link};
use mcp_wire::{Error, Reader, Writer, stdio};

/// What it is, for somebody who started it by hand.
pub fn explain(target: &str) -> String {
    let args = serde_json::json!(["connect", target]);
    format!(
        "mcp_client connect speaks MCP on standard input and output, for a program that starts it.\n\
         Put this into the program's .mcp.json:\n\
         {{\"mcpServers\": {{\"NAME\": {{\"command\": \"mcp_client\", \"args\": {args}}}}}}}\n\
         To see the server's tools here: mcp_client tools NAME\n\
         To try it by hand: echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}' | mcp_client connect {target}"
    )
}

/// Moves frames until the client is gone.
pub async fn run(server: &Server, options: &Options) -> Result<(), String> {
    let (back, _state, task) =
        link::hold(Dialer::new(server)?, options.login.clone(), options.patience.clone());
    let front = stdio::own();
    let up = pass(front.reader, back.writer, Some(front.writer.clone()));
    let down = pass(back.reader, front.writer, None);
    tokio::join!(up, down);
    let _ = task.await;
    Ok(())
}

/// Moves frames one way. What is no frame is answered.
async fn pass(mut from: Reader, to: Writer, answer: Option<Writer>) {
    while let Some(came) = from.recv().await {
        let sent = match (came, &answer) {
            (Ok(frame), _) => to.send(frame).await,
            (Err(Error::NotAFrame(not)), Some(client)) => client.send(not).await,
            (Err(error), _) => {
                tracing::warn!("{error}");
                Ok(())
            }
        };
        if sent.is_err() {
            return;
        }
    }
}
