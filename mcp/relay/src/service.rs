//! The server half of a program with tools of its own.
//!
//! A program brings a list and a function; handshakes, cancellation, progress and changes of the list are the same for all.
//! Invariants: a call is answered once, behind its progress, and not at all when it was cancelled; calls run side by side, and
//! those that are under way when the client has no more to say are answered still.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kit::BoxFuture;
use mcp_wire::frame::{Frame, Id, Kind, code};
use mcp_wire::headers::{META_PROGRESS, META_SUBSCRIPTION, own_version};
use mcp_wire::{Connection, Error, Writer, body};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use crate::front::LAST_CALLS;
use crate::lifecycle::{self, list};
pub use crate::lifecycle::{About, Refusal, raw};

/// A program with tools.
pub trait Service: Send + Sync + 'static {
    /// Who it is; the instructions may change. `{"tools": {"listChanged": true}}` is added to its capabilities.
    fn about(&self) -> About;

    /// The tools, as `tools/list` shows them.
    fn tools(&self) -> Vec<Box<RawValue>>;

    /// Calls a tool. The future is dropped when the client cancels.
    fn call(&self, call: Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>>;

    /// Changes whenever the tools do.
    fn changes(&self) -> watch::Receiver<()>;
}

/// A call of a tool.
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// An object.
    pub arguments: Box<RawValue>,
    /// All that came with it.
    pub params: Box<RawValue>,
    /// The same for calls of one session. Clients without sessions share one, so nothing may be kept for them.
    pub client: u64,
    /// Whether the request stands for itself, as from 2026-07-28 on.
    pub stateless: bool,
    /// Where it reports to.
    pub progress: Reports,
}

/// Takes reports of progress. Where nobody asked for them they are dropped.
#[derive(Clone)]
pub struct Reports(mpsc::Sender<Box<RawValue>>);

impl Reports {
    /// Reports: an object with `progress`, and perhaps `total` and `message`.
    pub async fn report(&self, progress: impl Serialize) {
        let _ = self.0.send(raw(progress)).await;
    }

    /// The same without waiting: a client that is slow misses it, and holds up nobody.
    pub fn offer(&self, progress: impl Serialize) {
        let _ = self.0.try_send(raw(progress));
    }
}

/// The result that is one text.
pub fn text(text: impl Into<String>) -> Box<RawValue> {
    raw(json!({ "content": [{ "type": "text", "text": text.into() }] }))
}

/// The result that says why a tool has failed.
pub fn failed(text: impl Into<String>) -> Box<RawValue> {
    raw(json!({ "content": [{ "type": "text", "text": text.into() }], "isError": true }))
}

/// Serves one client, until it has no more to say and all its calls are answered.
pub async fn serve(service: Arc<impl Service>, client: Connection) {
    static CLIENTS: AtomicU64 = AtomicU64::new(0);
    let Connection { mut reader, writer } = client;
    let mut own = Serving {
        service,
        writer,
        client: CLIENTS.fetch_add(1, Ordering::Relaxed),
        calls: JoinSet::new(),
        under_way: HashMap::new(),
        listeners: JoinSet::new(),
    };
    loop {
        tokio::select! {
            came = reader.recv() => match came {
                Some(Ok(frame)) => own.take(frame).await,
                Some(Err(Error::NotAFrame(not))) => _ = own.writer.send(not).await,
                Some(Err(Error::Broken(_))) | None => break,
                Some(Err(error)) => tracing::debug!(%error, "a client's frame is lost"),
            },
            Some(done) = own.calls.join_next() => {
                done.ok().and_then(|id| own.under_way.remove(&id));
            }
            Some(_) = own.listeners.join_next() => {}
        }
    }
    let answered = async { while own.calls.join_next().await.is_some() {} };
    let _ = timeout(LAST_CALLS, answered).await;
}

struct Serving<S> {
    service: Arc<S>,
    writer: Writer,
    client: u64,
    calls: JoinSet<Id>,
    under_way: HashMap<Id, AbortHandle>,
    /// Those who tell of changes: for the session, and for each subscription.
    listeners: JoinSet<()>,
}

impl<S: Service> Serving<S> {
    async fn take(&mut self, frame: Frame) {
        match (frame.kind(), frame.method.as_deref().unwrap_or_default()) {
            (Kind::Notification, "notifications/initialized") => self.tell_of_changes(None),
            (Kind::Notification, "notifications/cancelled") => {
                let id = frame.params.as_deref().and_then(|it| body::get(it, &["requestId"]));
                if let Some(call) = id.and_then(Id::parse).and_then(|id| self.under_way.remove(&id))
                {
                    call.abort();
                }
            }
            (Kind::Request, _) => {
                if let Some(answer) = self.answer(&frame).await {
                    let _ = self.writer.send(answer).await;
                }
            }
            _ => {}
        }
    }

    /// The answer that is there at once.
    async fn answer(&mut self, frame: &Frame) -> Option<Frame> {
        let about = || {
            let mut about = self.service.about();
            about.capabilities["tools"] = json!({ "listChanged": true });
            about
        };
        let id = frame.id.clone()?;
        let result = match (lifecycle::answer(frame, about), frame.method.as_deref()?) {
            (Some(answer), _) => answer,
            (None, "tools/list") => Ok(list(frame, "tools", self.service.tools())),
            (None, "tools/call") => match self.call(frame) {
                Ok(()) => return None,
                Err(refusal) => Err(refusal),
            },
            (None, "subscriptions/listen") => {
                self.listen(frame, id).await;
                return None;
            }
            (None, method) => Err(Refusal::unknown(method)),
        };
        Some(
            result.map_or_else(
                |refusal| refusal.answer(frame.id.clone()),
                |it| Frame::result(id, it),
            ),
        )
    }

    fn call(&mut self, frame: &Frame) -> Result<(), Refusal> {
        let wrong =
            |why: &str| Refusal::new(code::INVALID_PARAMS, format!("Invalid params: {why}"));
        let params = frame.params.clone().ok_or_else(|| wrong("there are none"))?;
        let name = body::text(&params, &["name"]).ok_or_else(|| wrong("name is no string"))?;
        let arguments = body::get(&params, &["arguments"]).map(RawValue::to_owned);
        let arguments = arguments.unwrap_or_else(|| raw(json!({})));
        if !arguments.get().starts_with('{') {
            return Err(wrong("arguments is no object"));
        }
        let token = body::get(&params, &META_PROGRESS).map(RawValue::to_owned);
        let (reports, mut reported) = mpsc::channel(64);
        let work = self.service.call(Call {
            name,
            arguments,
            params,
            client: self.client,
            stateless: own_version(frame).is_some(),
            progress: Reports(reports),
        });
        let (writer, frame) = (self.writer.clone(), frame.clone());
        let id = frame.id.clone().expect("it is a request");
        let call = self.calls.spawn(async move {
            let tell = async |report: Box<RawValue>| {
                let token = token.as_deref();
                let report = token.and_then(|it| body::set(&report, &["progressToken"], it));
                if let Some(report) = report {
                    let report = Frame::notification("notifications/progress", report);
                    let _ = writer.send(report).await;
                }
            };
            let mut work = work;
            let done = loop {
                tokio::select! {
                    biased;
                    Some(report) = reported.recv() => tell(report).await,
                    done = &mut work => break done,
                }
            };
            while let Ok(report) = reported.try_recv() {
                tell(report).await;
            }
            let id = frame.id.clone().expect("it is a request");
            let answer = match done {
                Ok(result) => {
                    // Without a session each result says whether it is the last word.
                    let bare = own_version(&frame).is_some()
                        && body::get(&result, &["resultType"]).is_none();
                    let whole = body::set(&result, &["resultType"], &raw("complete"));
                    Frame::result(id.clone(), whole.filter(|_| bare).unwrap_or(result))
                }
                Err(refusal) => refusal.answer(frame.id.clone()),
            };
            let _ = writer.send(answer).await;
            id
        });
        self.under_way.insert(id, call);
        Ok(())
    }

    async fn listen(&mut self, frame: &Frame, id: Id) {
        let wanted = ["notifications", "toolsListChanged"];
        let wanted = frame.params.as_deref().and_then(|params| body::get(params, &wanted));
        let wanted = wanted.is_some_and(|it| it.get() == "true");
        let filter = if wanted { json!({ "toolsListChanged": true }) } else { json!({}) };
        let params =
            json!({ "_meta": { META_SUBSCRIPTION[1]: id.to_raw() }, "notifications": filter });
        let told = Frame::notification("notifications/subscriptions/acknowledged", params);
        let _ = self.writer.send(told).await;
        if wanted {
            self.tell_of_changes(Some(id));
        }
    }

    /// Until the client cancels the subscription, or is gone.
    fn tell_of_changes(&mut self, subscription: Option<Id>) {
        let (writer, mut changes) = (self.writer.clone(), self.service.changes());
        changes.mark_unchanged();
        let about = subscription.clone();
        let listener = self.listeners.spawn(async move {
            while changes.changed().await.is_ok() {
                let params = about.as_ref().map_or(
                    Value::Null,
                    |id| json!({ "_meta": { META_SUBSCRIPTION[1]: id.to_raw() } }),
                );
                let told = Frame::notification("notifications/tools/list_changed", params);
                if writer.send(told).await.is_err() {
                    return;
                }
            }
        });
        if let Some(id) = subscription {
            self.under_way.insert(id, listener);
        }
    }
}
