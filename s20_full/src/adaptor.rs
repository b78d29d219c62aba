//! Servers that have a `url`: a program that speaks lines is started for them, like every other server.
//!
//! All transports and logins are that program's, `mcp_client`, so this one stays as small as it is. Invariants: the user is
//! asked about the command line that is started, with all that the server is given; no value of a variable and no header
//! stands in a command line, which every user of the machine may read.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use kit::one_line;
use s01_loop::{KEY_VARIABLES, Repl};
use s19_mcp_plugin::{Adaptor, StdioServerConfig};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

const PROGRAM: &str = "mcp_client";

/// Where the program finds what the address does not say.
const ENTRY: &str = "MCP_CLIENT_ENTRY";

/// What the program says when somebody has to log in.
const WANTS_LOGIN: &str = "`mcp_client login ";

/// Starts the program for an entry that has a `url`.
pub(crate) fn adaptor() -> Adaptor {
    std::sync::Arc::new(|entry| {
        let program = find().with_context(|| {
            format!(
                "needs the program {PROGRAM}, which is neither beside this one nor in PATH; \
                 `cargo build -p {PROGRAM}` builds it"
            )
        })?;
        adapted(program, entry)
    })
}

fn adapted(program: PathBuf, entry: &Value) -> Result<(StdioServerConfig, String)> {
    let url = entry["url"].as_str().context("has no `url`, and no `command` either")?;
    ensure!(url.contains("://") && one_line(url) == url, "has a `url` that is no address");
    let scheme = if url.starts_with("ws") { "ws" } else { "http" };
    let kind = entry["type"].as_str();
    let mut config = StdioServerConfig {
        command: program,
        args: vec!["connect".to_owned(), url.to_owned()],
        through: kind.unwrap_or(scheme).to_owned(),
        ..StdioServerConfig::default()
    };
    let known = |(key, value): (&String, &Value)| match key.as_str() {
        "url" | "timeout" => true,
        "type" => value == scheme,
        _ => false,
    };
    let is_plain = entry.as_object().into_iter().flatten().all(known);
    let mut words = vec![config.command.to_string_lossy().into_owned()];
    words.extend(config.args.iter().cloned());
    let mut shown = shell_words::join(words);
    // A variable is expanded by the program, so that its value stands in nobody's command line.
    if !is_plain || url.contains("${") {
        shown = format!("{ENTRY}={} {shown}", shell_words::quote(&entry.to_string()));
        config.env.insert(ENTRY.to_owned(), entry.to_string());
    }
    Ok((config, shown))
}

/// The program beside this one, else the first in PATH.
#[expect(clippy::disallowed_methods, reason = "where programs are is said there and nowhere else")]
fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| Some(own.parent()?.join(PROGRAM)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM));
    beside.into_iter().chain(in_path).find(|program| program.is_file())
}

/// Whether a server cannot be used before somebody logs in.
pub(crate) fn wants_login(state: &str) -> bool {
    state.contains(WANTS_LOGIN)
}

/// Logs in to a server: what the program says, such as the address to open, is shown as it comes.
///
/// # Errors
/// Why nobody is logged in now.
pub(crate) async fn log_in(server: &StdioServerConfig, repl: &Repl) -> Result<()> {
    let mut command = Command::new(&server.command);
    command.arg("login").args(&server.args[1..]).envs(&server.env);
    for variable in KEY_VARIABLES {
        command.env_remove(variable);
    }
    let piped = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = piped.kill_on_drop(true).spawn().context("starting the login")?;
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    while let Some(line) = said.next_line().await.context("reading what the login says")? {
        if !line.trim().is_empty() {
            repl.say(&line);
        }
    }
    ensure!(child.wait().await?.success(), "nobody is logged in");
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_an_argument_and_everything_else_stands_in_the_environment() {
        let adapted = |entry: Value| {
            let (config, shown) = adapted("/bin/mcp_client".into(), &entry).unwrap();
            assert_eq!(config.args, ["connect", entry["url"].as_str().unwrap()]);
            let text = entry.to_string();
            assert!(config.env.values().all(|given| *given == text));
            (config.through, config.env.len(), shown)
        };
        let (through, given, shown) =
            adapted(json!({"url": "https://a/mcp?b=c d", "type": "http"}));
        assert_eq!((&*through, given), ("http", 0));
        assert_eq!(shown, "/bin/mcp_client connect 'https://a/mcp?b=c d'");
        assert_eq!(adapted(json!({"url": "wss://a", "timeout": 5000})).0, "ws");
        let (through, given, shown) = adapted(json!({"type": "sse", "url": "http://a/x"}));
        assert_eq!((&*through, given), ("sse", 1));
        assert!(shown.starts_with("MCP_CLIENT_ENTRY='{"), "{shown}");
        let headers = json!({"url": "http://a", "headers": {"X": "Bearer ${TOKEN}"}});
        let (_, given, shown) = adapted(headers);
        assert!(given == 1 && shown.contains("Bearer ${TOKEN}"), "{shown}");
        assert_eq!(adapted(json!({"url": "http://${HOST}/mcp"})).1, 1);
    }

    #[test]
    fn an_entry_without_an_address_is_told_so() {
        for (entry, why) in [
            (json!({"type": "http"}), "has no `url`"),
            (json!({"url": 5}), "has no `url`"),
            (json!({"url": "a.example/mcp"}), "no address"),
            (json!({"url": "http://a\n--help"}), "no address"),
        ] {
            let error = adapted("x".into(), &entry).unwrap_err().to_string();
            assert!(error.contains(why), "{entry}: {error}");
        }
    }
}
