//! An authorization server and the metadata of a resource, on one port.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;

/// How the server behaves.
#[derive(Default)]
pub struct Told {
    /// Clients are registered with a secret and must show it.
    pub secret: bool,
    /// Seconds that a token lives.
    pub expires_in: u64,
    /// Refresh tokens are answered with `invalid_grant`.
    pub revoked: bool,
}

#[derive(Default)]
struct Seen {
    told: Told,
    issuer: String,
    /// The challenge of each code.
    codes: HashMap<String, String>,
    issued: Vec<String>,
    scopes: Vec<String>,
    refreshes: usize,
    registrations: usize,
}

pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

impl Server {
    pub async fn start(told: Told) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Seen {
            told,
            issuer: format!("http://{address}"),
            ..Seen::default()
        }));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::clone(&shared);
                let service =
                    service_fn(move |request| answer(address, Arc::clone(&seen), request));
                let mut server = hyper::server::conn::http1::Builder::new();
                tokio::spawn(
                    server.keep_alive(false).serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { address, seen }
    }

    /// The address of the resource.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.seen.lock().unwrap().told);
    }

    pub fn issued(&self) -> Vec<String> {
        self.seen.lock().unwrap().issued.clone()
    }

    /// The scopes of each login.
    pub fn scopes(&self) -> Vec<String> {
        self.seen.lock().unwrap().scopes.clone()
    }

    pub fn refreshes(&self) -> usize {
        self.seen.lock().unwrap().refreshes
    }

    pub fn registrations(&self) -> usize {
        self.seen.lock().unwrap().registrations
    }
}

async fn answer(
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    request: Request<Incoming>,
) -> Result<Response<String>, Infallible> {
    let base = format!("http://{address}");
    let path = request.uri().path().to_owned();
    let asked = form(request.uri().query().unwrap_or_default());
    let basic =
        request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let mut seen = seen.lock().unwrap();
    let (status, body) = match &*path {
        "/.well-known/oauth-protected-resource/mcp" => {
            (200, json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]}))
        }
        "/.well-known/oauth-authorization-server" => (
            200,
            json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            }),
        ),
        "/register" => {
            seen.registrations += 1;
            let request: Value = serde_json::from_slice(&body).unwrap();
            let mut client =
                json!({"client_id": "client-1", "redirect_uris": request["redirect_uris"]});
            if seen.told.secret {
                client["client_secret"] = json!("the-secret");
            }
            (201, client)
        }
        "/authorize" => {
            let code = format!("code-{}", seen.codes.len() + 1);
            assert_eq!(asked["code_challenge_method"], "S256");
            assert!(asked["resource"].starts_with(&base));
            seen.codes.insert(code.clone(), asked["code_challenge"].clone());
            seen.scopes.push(asked.get("scope").cloned().unwrap_or_default());
            let location = format!(
                "{}?code={code}&state={}&iss={base}",
                asked["redirect_uri"], asked["state"]
            );
            let response = Response::builder().status(302).header("location", location);
            return Ok(response.body(String::new()).unwrap());
        }
        "/mcp" => {
            let last = seen.issued.last().map(|token| format!("Bearer {token}"));
            if basic.is_none() || basic != last {
                let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
                let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
                let refusal = Response::builder().status(401).header("www-authenticate", challenge);
                return Ok(refusal.body(String::new()).unwrap());
            }
            resource(&serde_json::from_slice(&body).unwrap_or_default())
        }
        "/token" => token(&mut seen, &form(str::from_utf8(&body).unwrap()), basic),
        _ => (404, json!({})),
    };
    let response = Response::builder().status(status).header("content-type", "application/json");
    Ok(response.body(body.to_string()).unwrap())
}

/// The smallest MCP server: one tool, which nobody calls.
fn resource(asked: &Value) -> (u16, Value) {
    let result = match asked["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "files", "version": "1"},
        }),
        Some("tools/list") => {
            let schema = json!({"type": "object"});
            json!({"tools": [{"name": "look", "description": "Looks.", "inputSchema": schema}]})
        }
        Some(_) if asked.get("id").is_some() => json!({}),
        _ => return (202, Value::Null),
    };
    (200, json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
}

fn token(seen: &mut Seen, form: &HashMap<String, String>, basic: Option<String>) -> (u16, Value) {
    let shown = basic.is_some_and(|basic| basic.starts_with("Basic "))
        || form.contains_key("client_secret");
    if seen.told.secret && !shown {
        return (401, json!({"error": "invalid_client"}));
    }
    if let Some(answer) = exchanged(seen, form) {
        return answer;
    }
    let granted = if form["grant_type"] == "refresh_token" {
        seen.refreshes += 1;
        // Each refresh token is good once.
        !seen.told.revoked && form["refresh_token"] == format!("refresh-{}", seen.issued.len())
    } else {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
        seen.codes.remove(&form["code"]) == Some(challenge)
    };
    if !granted {
        return (400, json!({"error": "invalid_grant"}));
    }
    let number = seen.issued.len() + 1;
    seen.issued.push(format!("access-{number}"));
    (
        200,
        json!({
                   "access_token": format!("access-{number}"),
                   "refresh_token": format!("refresh-{number}"),
                   "token_type": "Bearer",
                   "expires_in": seen.told.expires_in,
        "id_token": format!("id-{number}"),
               }),
    )
}

fn form(text: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

/// The two exchanges of cross-app access: as a provider an id token for an assertion, as a server an assertion for a token.
fn exchanged(seen: &mut Seen, form: &HashMap<String, String>) -> Option<(u16, Value)> {
    match form["grant_type"].rsplit(':').next()? {
        "token-exchange" => {
            if seen.told.revoked || form["subject_token"] != format!("id-{}", seen.issued.len()) {
                seen.told.revoked = false;
                return Some((400, json!({"error": "invalid_grant"})));
            }
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let now = now.unwrap().as_secs();
            let header = json!({"alg": "ES256", "typ": "oauth-id-jag+jwt"});
            let claims = json!({
                "iss": seen.issuer, "sub": "ada", "aud": form["audience"], "client_id": "client-1",
                "jti": "1", "exp": now + 60, "iat": now, "resource": form["resource"],
            });
            let [header, claims] =
                [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
            let assertion = json!({
                "access_token": format!("{header}.{claims}.c2ln"),
                "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
                "token_type": "N_A",
            });
            Some((200, assertion))
        }
        "jwt-bearer" => {
            assert_eq!(form["assertion"].split('.').count(), 3);
            let number = seen.issued.len() + 1;
            seen.issued.push(format!("access-{number}"));
            let token = format!("access-{number}");
            Some((200, json!({"access_token": token, "token_type": "Bearer", "expires_in": 3600})))
        }
        _ => None,
    }
}
