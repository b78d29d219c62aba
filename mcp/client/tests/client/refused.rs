//! Servers on HTTP that refuse: a token, its scope, a session.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use kit::BoxFuture;
use mcp_client::login::{Challenge, Login};
use mcp_client::{Client, Error, Options, Server, State};
use mcp_wire::http::{Listener, ServerOptions};
use serde_json::json;

use super::server::{kind, options};

/// A login that gives out tokens, and notes what it was asked.
#[derive(Default)]
struct Tokens {
    given: AtomicU32,
    asked: Mutex<Vec<u16>>,
    refuses: bool,
}

impl Login for Tokens {
    fn authorization(&self) -> BoxFuture<'_, Option<HeaderValue>> {
        let token = format!("Bearer {}", self.given.load(Ordering::Relaxed));
        Box::pin(std::future::ready(token.parse().ok()))
    }

    fn challenged(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>> {
        self.asked.lock().unwrap().push(challenge.status);
        self.given.fetch_add(1, Ordering::Relaxed);
        let done = if self.refuses { Err("log in first".to_owned()) } else { Ok(()) };
        Box::pin(std::future::ready(done))
    }
}

/// A server on HTTP, with somebody who looks at each request first.
async fn guarded(
    guard: impl Fn(&Parts) -> Option<Response<String>> + Send + Sync + 'static,
) -> Server {
    let options = ServerOptions {
        guard: Some(Arc::new(guard)),
        ..ServerOptions::default()
    };
    let mut listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into(), options).await.unwrap();
    let url = format!("http://{}/mcp", listener.address());
    tokio::spawn(async move {
        while let Some(connection) = listener.accept().await {
            tokio::spawn(kind(connection));
        }
    });
    Server::at(&url).unwrap()
}

fn response(status: u16, body: &str) -> Response<String> {
    let mut response = Response::new(body.to_owned());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    response.headers_mut().insert("content-type", HeaderValue::from_static(kind));
    response
}

#[tokio::test]
async fn a_refused_token_is_replaced_once_and_the_call_goes_through() {
    let least = Arc::new(AtomicU32::new(1));
    let scope = Arc::new(AtomicU32::new(0));
    let (wanted, scoped) = (least.clone(), scope.clone());
    let at = guarded(move |request| {
        let token = request
            .headers
            .get("authorization")
            .and_then(|it| it.to_str().ok()?.strip_prefix("Bearer "));
        let token: u32 = token.and_then(|token| token.parse().ok()).unwrap_or_default();
        let mut refusal = response(401, "who are you?");
        let mut challenge = "Bearer realm=\"test\"";
        if token >= wanted.load(Ordering::Relaxed) {
            if token >= scoped.load(Ordering::Relaxed) {
                return None;
            }
            *refusal.status_mut() = StatusCode::FORBIDDEN;
            challenge = "Bearer error=\"insufficient_scope\", scope=\"more\"";
        }
        refusal.headers_mut().insert("www-authenticate", HeaderValue::from_static(challenge));
        Some(refusal)
    })
    .await;
    let tokens = Arc::new(Tokens::default());
    let client = Client::connect(
        &at,
        Options {
            login: tokens.clone(),
            ..options()
        },
    )
    .await
    .unwrap();
    client.call("deploy", json!({}), |_| {}).await.unwrap();
    least.store(2, Ordering::Relaxed);
    // Side by side: all are refused, and there is one login.
    let calls = (0..8).map(|_| client.call("deploy", json!({}), |_| {}));
    for called in futures_util::future::join_all(calls).await {
        called.unwrap();
    }
    scope.store(3, Ordering::Relaxed);
    client.call("deploy", json!({}), |_| {}).await.unwrap();
    assert_eq!(*tokens.asked.lock().unwrap(), [401, 401, 403]);
    // A token that is never good enough is asked for once a call.
    least.store(99, Ordering::Relaxed);
    let error = client.call("look", json!({}), |_| {}).await.unwrap_err();
    assert!(matches!(error, Error::NeedsLogin(_)), "{error:?}");
    assert!(matches!(client.state(), State::NeedsAuth(_)));
    assert_eq!(tokens.asked.lock().unwrap().len(), 4);
    let stubborn = Tokens {
        refuses: true,
        ..Tokens::default()
    };
    let options = Options {
        login: Arc::new(stubborn),
        ..options()
    };
    let error = Client::connect(&at, options).await.err().unwrap();
    assert!(matches!(&error, Error::NeedsLogin(why) if why == "log in first"), "{error:?}");
}

#[tokio::test]
async fn a_lost_session_is_opened_again_and_the_call_is_made_once_more() {
    let typescript = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
    for (status, body) in [(404, "no such session"), (400, typescript)] {
        let lose = Arc::new(Mutex::new(Vec::<HeaderValue>::new()));
        let (lost, greeted) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (losing, counted, greetings) = (lose.clone(), lost.clone(), greeted.clone());
        let at = guarded(move |request| {
            let Some(session) = request.headers.get("mcp-session-id") else {
                greetings.fetch_add(1, Ordering::Relaxed);
                return None;
            };
            let mut gone = losing.lock().unwrap();
            if counted.load(Ordering::Relaxed) == 1 {
                counted.store(0, Ordering::Relaxed);
                gone.push(session.clone());
            }
            gone.contains(session).then(|| response(status, body))
        })
        .await;
        let client = Client::connect(&at, options()).await.unwrap();
        for _ in 0..3 {
            client.call("deploy", json!({}), |_| {}).await.unwrap();
            lost.store(1, Ordering::Relaxed);
            client.call("deploy", json!({}), |_| {}).await.unwrap();
        }
        assert_eq!(greeted.load(Ordering::Relaxed), 4, "{status}");
        assert_eq!(client.state(), State::Connected);
        drop(lose);
    }
}
