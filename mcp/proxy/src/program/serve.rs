//! The proxy as a server, on standard input and output or HTTP.
//!
//! Invariant: a client waits three seconds at most for servers; what is not there yet, or has failed, stands on `/readyz`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use mcp_proxy::proxy::Proxy;
use mcp_relay::front::Ready;
use mcp_relay::service;
use tokio::time::timeout;

use super::{Args, setup};

/// For servers before the first client is answered: what it lists first is what its user agrees to.
const FIRST: Duration = Duration::from_secs(3);

pub async fn run(args: &Args) -> Result<u8> {
    let files =
        [("--config", args.common.config.as_deref()), ("--settings", args.settings.as_deref())];
    if let Some(text) = args.front.explain("mcp_proxy", "many tools behind two.", &files) {
        eprintln!("{text}");
        return Ok(0);
    }
    let proxy = Proxy::start(setup(args)?);
    let (ready, mut views) = (Ready::default(), proxy.views());
    let (told, mut shown) = (ready.clone(), proxy.views());
    tokio::spawn(async move {
        loop {
            match shown.borrow_and_update().wrongs().as_slice() {
                [] => told.has("view"),
                wrongs => told.lacks("view", wrongs.join("\n")),
            }
            if shown.changed().await.is_err() {
                return;
            }
        }
    });
    let front = args.front.open(ready, None).await.map_err(|why| anyhow!(why))?;
    if let Some(address) = front.address() {
        eprintln!("http://{address}/mcp");
    }
    let settled = views.wait_for(|view| view.connecting().is_empty());
    let _ = timeout(FIRST, settled).await;
    let proxy = Arc::new(proxy);
    front.serve(|client| service::serve(proxy.clone(), client)).await;
    Ok(0)
}
