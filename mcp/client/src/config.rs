//! One server in a configuration: how it is reached.
//!
//! The format is that of Claude Code's files. Invariants: a field that nobody knows is refused with its path; a value that
//! comes from a variable stands in no error.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kit::{BoxFuture, one_line};
use mcp_wire::{Connection, Error};
use serde::Deserialize;
use serde_json::Value;

/// A server, as its entry says it. It may hold secrets, so it is never printed whole.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// What the user calls it.
    #[serde(skip)]
    pub name: String,
    /// What is spoken with it.
    #[serde(rename = "type")]
    pub transport: Transport,
    /// The program of a server on stdio.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Added to its environment.
    pub env: BTreeMap<String, String>,
    /// The address of a server that has one.
    pub url: String,
    /// Sent with each request.
    pub headers: BTreeMap<String, String>,
    /// An editor's token; without one it is in the editor's lock file.
    #[serde(rename = "authToken")]
    pub token: Option<String>,
    /// For its calls, in milliseconds.
    pub timeout: Option<u64>,
    /// What its login needs that discovery does not say.
    pub oauth: OAuth,
    /// Opens a connection to a service in this process.
    #[serde(skip)]
    pub sdk: Option<Sdk>,
}

/// Opens a connection to a service in this process.
pub type Sdk = Arc<dyn Fn() -> BoxFuture<'static, Result<Connection, Error>> + Send + Sync>;

/// The transports.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A child process that speaks lines.
    #[default]
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024.
    Sse,
    /// WebSocket.
    Ws,
    /// HTTP+SSE of an editor.
    SseIde,
    /// A service in this process, ours or another's over a pair of streams.
    #[serde(skip)]
    Sdk,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Ws => "ws",
            Self::SseIde => "sse-ide",
            Self::Sdk => "sdk",
        })
    }
}

/// What a login needs that discovery does not say.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OAuth {
    /// Of a client that is registered already.
    pub client_id: Option<String>,
    /// Its secret, when it has one.
    pub client_secret: Option<String>,
    /// The address of a client metadata document that names us.
    #[serde(skip)]
    pub metadata_url: Option<String>,
    /// The port for the browser to come back to; 0 is any.
    pub callback_port: u16,
    /// What to ask for; when empty, what the server says it wants.
    pub scopes: Vec<String>,
    /// The identity provider through which the user logs in, to this server and to all others that name it.
    pub xaa: Option<Provider>,
}

/// An identity provider for cross-app access.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provider {
    /// Its address.
    pub issuer: String,
    /// Of this program, as the provider knows it.
    pub client_id: String,
    /// Its secret, when it has one.
    pub client_secret: Option<String>,
    /// The port that its redirect address names.
    #[serde(default)]
    pub callback_port: u16,
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
        let mut entry = entry.clone();
        expand_all(&mut entry, "", variable)?;
        if let Value::Object(entry) = &mut entry
            && !entry.contains_key("type")
        {
            let url = entry.get("url").map(|url| url.as_str().unwrap_or_default());
            let kind = match (entry.contains_key("command"), url) {
                (true, None) => "stdio",
                (false, Some(url)) if url.starts_with("ws") => "ws",
                (false, Some(_)) => "http",
                (true, Some(_)) => {
                    return Err(": either `command` or `url`, or a `type`".to_owned());
                }
                (false, None) => "stdio",
            };
            entry.insert("type".to_owned(), kind.into());
        }
        let mut server: Self = serde_path_to_error::deserialize(entry).map_err(|error| {
            let path = Some(error.path().to_string()).filter(|path| path != ".");
            let path = path.map_or_else(String::new, |path| format!(".{path}"));
            // It may hold the value of a variable.
            match error.into_inner().to_string() {
                why if why.contains("string \"") => {
                    format!("{path}: a value of another type is needed")
                }
                why => format!("{path}: {}", one_line(&why)),
            }
        })?;
        name.clone_into(&mut server.name);
        let wrong = match server.transport {
            Transport::Stdio => {
                server.command.trim().is_empty().then_some(".command: it is needed, or a `url`")
            }
            Transport::Ws => {
                (!server.is_at(["ws", "wss"])).then_some(".url: it must begin with ws:// or wss://")
            }
            _ => (!server.is_at(["http", "https"]))
                .then_some(".url: it must begin with http:// or https://"),
        };
        let wrong = wrong.or_else(|| {
            (server.timeout == Some(0)).then_some(".timeout: it must be more than 0 ms")
        });
        wrong.map_or(Ok(server), |wrong| Err(wrong.to_owned()))
    }

    /// A server that is given by its address alone: what is spoken there follows from the scheme, and from a path that ends
    /// in `/sse`.
    ///
    /// # Errors
    /// When it is no address of a server.
    pub fn at(url: &str) -> Result<Self, String> {
        let mut server = Self {
            name: url.to_owned(),
            url: url.to_owned(),
            ..Self::default()
        };
        server.transport = if server.is_at(["ws", "wss"]) {
            Transport::Ws
        } else if !server.is_at(["http", "https"]) {
            return Err(format!("{url} is no URL that begins with http:, https:, ws: or wss:"));
        } else if url.split('?').next().is_some_and(|path| path.ends_with("/sse")) {
            Transport::Sse
        } else {
            Transport::Http
        };
        Ok(server)
    }

    fn is_at(&self, schemes: [&str; 2]) -> bool {
        let url = self.url.parse::<hyper::Uri>().ok();
        url.is_some_and(|url| {
            url.scheme_str().is_some_and(|it| schemes.contains(&it)) && url.host().is_some()
        })
    }

    /// The same for two entries that mean the same server: its command line, or its address.
    pub fn signature(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        let words: String = words.map(|word| format!("{word}\0")).collect();
        words + self.url.trim_end_matches('/')
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
            Ok(())
        }
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(at, item)| expand_all(item, &format!("{path}[{at}]"), variable)),
        Value::Object(members) => members
            .iter_mut()
            .try_for_each(|(key, member)| expand_all(member, &format!("{path}.{key}"), variable)),
        _ => Ok(()),
    }
}

/// The text with `${NAME}` and `${NAME:-default}` replaced; the error is the name of a variable that is not set.
pub fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let Some((before, reference)) = text.split_once("${") else {
        return Ok(text.to_owned());
    };
    let found = reference.split_once('}').and_then(|(inside, behind)| {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let allowed = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let is_name =
            name.chars().all(allowed) && name.starts_with(|it: char| !it.is_ascii_digit());
        is_name.then_some((name, default, behind))
    });
    let (value, behind) = match found {
        Some((name, default, behind)) => {
            let value = variable(name).or_else(|| default.map(str::to_owned));
            (value.ok_or_else(|| name.to_owned())?, behind)
        }
        // Anything else stays as it is written.
        None => ("${".to_owned(), reference),
    };
    Ok(format!("{before}{value}{}", expand(behind, variable)?))
}
