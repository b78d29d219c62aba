//! The handle of a running mock model, and the thread it runs on.
//!
//! The server has a thread and a runtime of its own: a plain `#[test]` can use it, a chapter can embed it whatever its
//! runtime does, and paused time in a caller does not stop it.
//! Invariant: when the handle is gone, so are the server, its thread and its connections.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::runtime;
use tokio::sync::oneshot;

use super::body::{Broken, Steps};
use super::faults::Fault;
use super::http::respond;
use super::options::Options;
use super::refusal::Refusal;
use super::rehearsal::Rehearsal;
use super::script::Mind;
use super::shared::Shared;
use super::types::{self, Brain, Reply};

/// A running mock model.
///
/// Dropping it stops the server. In a test it then panics when a scripted reply was not used, when a request found no
/// reply, or, with [`Options::strict`], when a request was refused and nobody asked for [`MockModel::refusals`].
pub struct MockModel {
    url: String,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How long `wait_for_requests` waits before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

impl MockModel {
    /// A model that rehearses, on a free port.
    pub fn rehearsal() -> Self {
        Self::start(Options::default(), Rehearsal).expect("loopback has a free port")
    }

    /// A model that rehearses, on a free port, with the options of a test.
    pub fn strict_rehearsal() -> Self {
        Self::start(Options::strict(), Rehearsal).expect("loopback has a free port")
    }

    /// A model that reads its replies from a script, on a free port, with the options of a test.
    pub fn scripted(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::scripted_with(Options::strict(), replies)
    }

    /// A model that reads its replies from a script.
    pub fn scripted_with(options: Options, replies: impl IntoIterator<Item = Reply>) -> Self {
        let mind = Mind::new(None);
        mind.script("", replies);
        Self::run(options, mind).expect("loopback has a free port")
    }

    /// A model that thinks with `brain`. The error is that of the port.
    pub fn start(options: Options, brain: impl Brain + 'static) -> io::Result<Self> {
        Self::run(options, Mind::new(Some(Box::new(brain))))
    }

    /// The address, for instance `http://127.0.0.1:40123`: what `ANTHROPIC_BASE_URL` wants.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many tokens a request may have.
    pub fn context_tokens(&self) -> u32 {
        self.shared.options.context_tokens
    }

    /// The requests that passed the checks, oldest first, as many as [`Options::keep`] says.
    pub fn requests(&self) -> Vec<Arc<types::Request>> {
        self.shared.state().requests.iter().cloned().collect()
    }

    /// The newest request that passed the checks.
    ///
    /// # Panics
    /// When there was none.
    pub fn last_request(&self) -> Arc<types::Request> {
        self.requests().pop().expect("the model has been asked")
    }

    /// Waits until `count` requests have passed the checks since the start, and returns those that are kept.
    ///
    /// # Panics
    /// When they do not come within half a minute.
    pub fn wait_for_requests(&self, count: usize) -> Vec<Arc<types::Request>> {
        let (state, kept) = self.shared.watch();
        let waited = kept.wait_timeout_while(state, PATIENCE, |state| state.count < count);
        let (state, timeout) = waited.expect("no thread panics while it holds the state");
        let requests = state.requests.iter().cloned().collect();
        let (seen, refusals) = (state.count, format!("{:?}", state.refusals));
        // The lock must not be poisoned by the panic, or the handle could not be dropped.
        drop(state);
        assert!(
            !timeout.timed_out(),
            "waited for {count} requests, saw {seen}; refused: {refusals}"
        );
        requests
    }

    /// Takes the refusals so far: the requests that broke a rule of the API.
    pub fn refusals(&self) -> Vec<Refusal> {
        std::mem::take(&mut self.shared.state().refusals)
    }

    /// Spoils the next `times` requests, after those that are to be spoilt already.
    pub fn fault(&self, fault: Fault, times: u32) {
        self.shared.state().faults.extend((0..times).map(|_| fault));
    }

    /// Scripts the agent whose system prompt contains `prompt`. The longest match wins; agents without a script
    /// of their own have the one the model was started with.
    pub fn script_for(&self, prompt: &str, replies: impl IntoIterator<Item = Reply>) {
        self.shared.mind.script(prompt, replies);
    }

    /// Lets time pass for the prompt cache.
    pub fn advance(&self, time: Duration) {
        self.shared.state().cache.advance(time);
    }

    /// Stops the server and panics when the test went wrong; dropping the handle does the same.
    pub fn finish(self) {}

    fn run(options: Options, mind: Mind) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared::new(options, mind));
        let (stop, stopped) = oneshot::channel();
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let served = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("mock-model".to_owned()).spawn(move || {
                let respond = move |request| respond(Arc::clone(&served), request);
                runtime.block_on(serve(listener, respond, stopped));
            })?;
        Ok(Self {
            url,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    fn complaints(&self) -> Vec<String> {
        let mut state = self.shared.state();
        let mut complaints = std::mem::take(&mut state.failures);
        if self.shared.options.strict {
            let refused = state.refusals.iter().map(|refusal| format!("refused: {refusal}"));
            complaints.extend(refused);
        }
        drop(state);
        complaints.extend(self.shared.mind.unused());
        complaints
    }
}

impl Drop for MockModel {
    fn drop(&mut self) {
        drop(self.stop.take());
        let crashed = self.thread.take().is_some_and(|thread| thread.join().is_err());
        if std::thread::panicking() {
            return;
        }
        let mut complaints = self.complaints();
        if crashed {
            complaints.push("its thread panicked".to_owned());
        }
        assert!(complaints.is_empty(), "the mock model complains:\n- {}", complaints.join("\n- "));
    }
}

/// Answers each connection with `respond` until `stopped`.
pub async fn serve<R, F>(listener: TcpListener, respond: R, stopped: impl Future)
where
    R: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Response<Steps>, Broken>> + Send,
{
    let listener = tokio::net::TcpListener::from_std(listener)
        .expect("a runtime with I/O takes a non-blocking listener");
    let mut stopped = std::pin::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, say: wait for connections to close.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Without it a small exchange on loopback waits 40 ms for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let service = service_fn(respond.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // The error of a connection is the client's, or was asked for.
            let _ = connection.await;
        });
    }
}
