//! The tools that a spoke may use, as an MCP server of its own on a port of this machine.
//!
//! Invariants: nobody without the token is answered; the list and every call are those of the grant that is current, and
//! when its question is over, no call is made.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hyper::Response;
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use kit::BoxFuture;
use mcp_relay::service::{self, About, Call, Refusal, Service};
use mcp_wire::http::{Listener, ServerOptions};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::capability::Grant;

/// The server of one spoke. Dropped, it is closed.
pub struct Endpoint {
    /// Where it is.
    pub url: String,
    /// What requests must carry.
    pub token: String,
    grant: watch::Sender<Grant>,
    _serving: JoinSet<()>,
}

struct Tools(watch::Receiver<Grant>);

impl Endpoint {
    /// Opens it for what a spoke may use.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn open(grant: Grant) -> Result<Self, String> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| error.to_string())?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let wanted = format!("Bearer {token}");
        let guard = move |request: &Parts| {
            let given =
                request.headers.get(AUTHORIZATION).map(|it| it.as_bytes()).unwrap_or_default();
            // In constant time.
            let differs =
                given.iter().zip(wanted.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
            let refused = given.len() != wanted.len() || differs != 0;
            refused.then(|| {
                let refusal = Response::builder()
                    .status(401)
                    .body("the token is missing or wrong\n".to_owned());
                refusal.expect("nothing special is in it")
            })
        };
        let options = ServerOptions {
            guard: Some(Arc::new(guard)),
            ..ServerOptions::default()
        };
        let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), options).await;
        let mut listener = listener.map_err(|error| format!("listening for a spoke: {error}"))?;
        let url = format!("http://{}/mcp", listener.address());
        let (grant, current) = watch::channel(grant);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut clients = JoinSet::new();
            while let Some(client) = listener.accept().await {
                clients.spawn(service::serve(Arc::new(Tools(current.clone())), client));
            }
        });
        Ok(Self {
            url,
            token,
            grant,
            _serving: serving,
        })
    }

    /// What a program is told to find it.
    pub fn entry(&self, kind: &str, name: &str) -> Value {
        let headers = json!({ "Authorization": format!("Bearer {}", self.token) });
        json!({ "name": name, "config": { "type": kind, "url": self.url, "headers": headers } })
    }

    /// From now on these are offered, for this question.
    pub fn offer(&self, grant: Grant) {
        self.grant.send_replace(grant);
    }
}

impl Service for Tools {
    fn about(&self) -> About {
        About {
            name: "hub".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: json!({}),
            instructions: "What the asking side lets you use for its question.".to_owned(),
        }
    }

    fn tools(&self) -> Vec<Box<RawValue>> {
        let grant = self.0.borrow();
        let listed = grant.tools().map(|tool| {
            service::raw(json!({
                "name": tool.public, "description": tool.description, "inputSchema": tool.schema,
                "annotations": { "readOnlyHint": tool.reads },
            }))
        });
        listed.collect()
    }

    fn call(&self, call: Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>> {
        let grant = self.0.borrow().clone();
        Box::pin(async move {
            let arguments = serde_json::from_str(call.arguments.get()).unwrap_or_default();
            Ok(grant.call(&call.name, arguments).await.unwrap_or_else(service::failed))
        })
    }

    fn changes(&self) -> watch::Receiver<()> {
        watch::channel(()).1
    }
}
