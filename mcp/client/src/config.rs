//! One server in a configuration: how it is reached.
//!
//! The format is that of Claude Code's files. Invariants: a field that nobody knows is refused with its path; a value that
//! comes from a variable stands in no error.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kit::{BoxFuture, one_line};
use mcp_wire::{Connection, Error};
use serde::Deserialize;
use serde_json::Value;

/// A server, ready to be connected. It may hold secrets, so it is never printed whole.
#[derive(Clone)]
pub struct Server {
    /// What the user calls it.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// For its calls, when it has a time-out of its own.
    pub timeout: Option<Duration>,
    /// What its login needs that discovery does not say.
    pub oauth: OAuth,
}

/// How a server is reached.
#[derive(Clone)]
pub enum Transport {
    /// A child process that speaks lines.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Added to its environment.
        env: BTreeMap<String, String>,
    },
    /// A server with an address.
    Remote {
        /// What is spoken there.
        kind: Remote,
        /// The address.
        url: String,
        /// Sent with each request.
        headers: BTreeMap<String, String>,
    },
    /// A service in this process, ours or another's over a pair of streams.
    Sdk(Sdk),
}

/// Opens a connection to a service in this process.
pub type Sdk = Arc<dyn Fn() -> BoxFuture<'static, Result<Connection, Error>> + Send + Sync>;

/// What is spoken at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024.
    Sse,
    /// WebSocket.
    Ws,
    /// HTTP+SSE of an editor, with its token; without one it is in the editor's lock file.
    SseIde(Option<String>),
}

/// What a login needs that discovery does not say.
#[derive(Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OAuth {
    /// Of a client that was registered by hand.
    pub client_id: Option<String>,
    /// Its secret, when it has one.
    pub client_secret: Option<String>,
    /// The port that its redirect address names.
    pub callback_port: Option<u16>,
    /// The scopes to ask for instead of those that the server names.
    pub scopes: Option<Vec<String>>,
}

/// An entry as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<Kind>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "authToken")]
    token: Option<String>,
    /// In milliseconds.
    timeout: Option<u64>,
    #[serde(default)]
    oauth: OAuth,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Stdio,
    Http,
    Sse,
    Ws,
    SseIde,
}

impl Server {
    /// Reads an entry; `variable` has the environment.
    ///
    /// # Errors
    /// What is wrong and where, as the rest of a sentence that begins with the path of the entry.
    pub fn parse(
        name: &str,
        entry: &Value,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        if name.trim().is_empty() || name != one_line(name) {
            return Err(": a name is one line without spaces around it".to_owned());
        }
        let mut expanded = entry.clone();
        expand_all(&mut expanded, "", variable)?;
        let entry: Entry = serde_path_to_error::deserialize(expanded).map_err(|error| {
            let path = match error.path().to_string() {
                path if path == "." => String::new(),
                path => format!(".{path}"),
            };
            // The value may come from a variable.
            let why = error.into_inner().to_string();
            let why = if why.contains("string \"") {
                "the type of its value is wrong".to_owned()
            } else {
                why
            };
            format!("{path}: {}", one_line(&why))
        })?;
        let transport = entry.transport()?;
        if entry.timeout == Some(0) {
            return Err(".timeout: it is in milliseconds, and more than 0".to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            transport,
            timeout: entry.timeout.map(Duration::from_millis),
            oauth: entry.oauth,
        })
    }

    /// A server that is given by its address alone: what is spoken there follows from the scheme, and from a path that ends
    /// in `/sse`.
    ///
    /// # Errors
    /// When it is no address of a server.
    pub fn at(url: &str, headers: BTreeMap<String, String>) -> Result<Self, String> {
        let parsed = url.parse::<hyper::Uri>();
        let parsed = parsed.map_err(|error| format!("{url} is no URL: {error}"))?;
        let kind = match parsed.scheme_str() {
            Some("ws" | "wss") => Remote::Ws,
            Some("http" | "https") if parsed.path().ends_with("/sse") => Remote::Sse,
            Some("http" | "https") => Remote::Http,
            _ => {
                return Err(format!(
                    "{url} is no URL that begins with http:, https:, ws: or wss:"
                ));
            }
        };
        Ok(Self {
            name: parsed.host().unwrap_or_default().to_owned(),
            transport: Transport::Remote {
                kind,
                url: url.to_owned(),
                headers,
            },
            timeout: None,
            oauth: OAuth::default(),
        })
    }
}

impl Entry {
    fn transport(&self) -> Result<Transport, String> {
        let kind = match (self.kind, &self.command, &self.url) {
            (Some(kind), ..) => kind,
            (None, Some(_), None) => Kind::Stdio,
            (None, None, Some(url)) if url.starts_with("ws:") || url.starts_with("wss:") => {
                Kind::Ws
            }
            (None, None, Some(_)) => Kind::Http,
            _ => return Err(": either `command` or `url` is needed, or a `type`".to_owned()),
        };
        let remote = match kind {
            Kind::Stdio => {
                let command = self.command.clone().filter(|it| !it.trim().is_empty());
                return Ok(Transport::Stdio {
                    command: command.ok_or(".command: a server on stdio needs one")?,
                    args: self.args.clone(),
                    env: self.env.clone(),
                });
            }
            Kind::Http => Remote::Http,
            Kind::Sse => Remote::Sse,
            Kind::Ws => Remote::Ws,
            Kind::SseIde => Remote::SseIde(self.token.clone()),
        };
        let url = self.url.as_deref().ok_or(".url: this type needs one")?;
        let schemes = if kind == Kind::Ws {
            ["ws", "wss"]
        } else {
            ["http", "https"]
        };
        let parsed = url.parse::<hyper::Uri>().ok();
        let fits = |uri: &hyper::Uri| uri.scheme_str().is_some_and(|it| schemes.contains(&it));
        if !parsed.as_ref().is_some_and(fits) {
            return Err(format!(
                ".url: it must begin with {}:// or {}://",
                schemes[0], schemes[1]
            ));
        }
        Ok(Transport::Remote {
            kind: remote,
            url: url.to_owned(),
            headers: self.headers.clone(),
        })
    }
}

impl Transport {
    /// What the configuration calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Sdk(_) => "sdk",
            Self::Remote { kind, .. } => match kind {
                Remote::Http => "http",
                Remote::Sse => "sse",
                Remote::Ws => "ws",
                Remote::SseIde(_) => "sse-ide",
            },
        }
    }

    /// Whether it is a process of this machine: those start in smaller batches.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Stdio { .. })
    }

    /// The same for two entries that mean the same server: its command line, or its address.
    pub fn signature(&self) -> Option<String> {
        match self {
            Self::Stdio { command, args, .. } => Some(
                std::iter::once(command)
                    .chain(args)
                    .map(|word| format!("{word}\0"))
                    .collect(),
            ),
            Self::Remote { url, .. } => Some(url.trim_end_matches('/').to_owned()),
            Self::Sdk(_) => None,
        }
    }
}

fn expand_all(
    value: &mut Value,
    path: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let unset = |name| format!("{path}: the variable {name} is not set");
            *text = expand(text, variable).map_err(unset)?;
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                expand_all(item, &format!("{path}[{at}]"), variable)?;
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                expand_all(member, &format!("{path}.{key}"), variable)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The text with `${NAME}` and `${NAME:-default}` replaced; the error is the name of a variable that is not set.
pub fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once("${") {
        expanded.push_str(before);
        let reference = reference.split_once('}').and_then(|(inside, behind)| {
            let (name, default) = inside
                .split_once(":-")
                .map_or((inside, None), |(name, default)| (name, Some(default)));
            let is_name = name
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_')
                && name.starts_with(|it: char| !it.is_ascii_digit());
            is_name.then_some((name, default, behind))
        });
        // Anything else stays as it is written.
        let Some((name, default, behind)) = reference else {
            expanded.push_str("${");
            rest = &rest[before.len() + 2..];
            continue;
        };
        let value = variable(name).or_else(|| default.map(str::to_owned));
        expanded.push_str(&value.ok_or_else(|| name.to_owned())?);
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}
