//! A spoke that is a program, started for each question: Claude Code, codex, our own s20, or any other.
//!
//! The question goes to its standard input, so that it stands in no list of processes. Invariant: what it prints is an
//! answer only when it ends well; taken back, it gets SIGINT first.

use std::io::Write;
use std::path::{Path, PathBuf};

use kit::BoxFuture;
use mcp_client::child::{Child, without_keys};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::endpoint::Endpoint;
use super::{ENDING, LONGEST, Question, Reply, Spoke};
use crate::capability::Grant;
use crate::config::{self, Preset};
use crate::guard::CHAIN;

/// The variable with the token of the endpoint.
pub(super) const TOKEN: &str = "MCP_HUB_TOKEN";

/// The program.
pub struct Program {
    entry: config::Spoke,
    project: PathBuf,
    /// With `{model}`, `{mcp_config}` and `{url}` in it, of the endpoint.
    line: Vec<String>,
}

impl Program {
    pub(super) fn new(entry: &config::Spoke, project: &Path) -> Self {
        let (program, arguments, model, endpoint) = match entry.preset {
            None => ("", "", "", ""),
            Some(Preset::Claude) => (
                "claude",
                "-p --output-format json",
                "--model {model}",
                "--mcp-config {mcp_config} --strict-mcp-config --allowedTools mcp__hub",
            ),
            Some(Preset::Codex) => (
                "codex",
                "exec --skip-git-repo-check",
                "-m {model}",
                "-c mcp_servers.hub.url={url} -c mcp_servers.hub.bearer_token_env_var=MCP_HUB_TOKEN",
            ),
            Some(Preset::S20) => ("s20_full", "-p --output-format json", "", ""),
        };
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut line =
            if entry.command.is_empty() { words(program) } else { entry.command.clone() };
        line.extend(words(arguments));
        if entry.model.is_some() {
            line.extend(words(model));
        }
        if entry.capabilities.as_ref().is_none_or(|list| !list.is_empty()) {
            line.extend(words(endpoint));
        }
        Self {
            entry: entry.clone(),
            project: project.to_owned(),
            line,
        }
    }

    async fn run(&self, question: &Question<'_>) -> Result<Reply, String> {
        let name = &self.entry.name;
        let scope = &question.grant.scope;
        scope.take_request()?;
        let wants = |mark: &str| self.line.iter().any(|word| word.contains(mark));
        let endpoint = if wants("{mcp_config}") || wants("{url}") {
            Some(Endpoint::open(question.grant.clone()).await?)
        } else {
            None
        };
        let (url, token) = endpoint.as_ref().map_or(("", ""), |it| (&it.url, &it.token));
        let mut config =
            tempfile::NamedTempFile::new().map_err(|error| format!("{name}: {error}"))?;
        let headers = json!({ "Authorization": format!("Bearer {token}") });
        let servers =
            json!({ "mcpServers": { "hub": { "type": "http", "url": url, "headers": headers } } });
        write!(config, "{servers}").map_err(|error| format!("{name}: {error}"))?;
        let path = config.path().display().to_string();
        let model = self.entry.model.as_deref().unwrap_or_default();
        let filled = |word: &String| {
            word.replace("{model}", model).replace("{mcp_config}", &path).replace("{url}", url)
        };
        let line: Vec<_> = self.line.iter().map(filled).collect();
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).current_dir(&self.project).envs(&self.entry.env);
        command.env(CHAIN, scope.chain().join(",")).env(TOKEN, token);
        without_keys(&mut command);
        let (mut child, mut input, output) = Child::start(&mut command, ENDING)
            .map_err(|error| format!("{name}: {} does not start: {error}", line[0]))?;
        let text =
            format!("{}\n\n{}\n", question.system, question.conversation(&question.full_prompt()));
        let told = async move {
            // One that reads nothing has closed it.
            let _ = input.write_all(text.as_bytes()).await;
        };
        let ((), printed) = tokio::join!(told, read(output));
        let printed = printed.map_err(|why| format!("{name}: {why}"))?;
        let status = child.wait().await.map_err(|error| format!("{name}: {error}"))?;
        let said = String::from_utf8_lossy(&printed);
        let reply = answer(&said).map_err(|why| format!("{name} failed: {why}"))?;
        match reply {
            Some(reply) => Ok(reply),
            None if !status.success() => {
                Err(format!("{name} ended with {status}: {}", child.last_words().await.1))
            }
            None if said.trim().is_empty() => {
                Err(format!("{name} answers nothing: {}", child.last_words().await.1))
            }
            None => Ok(Reply {
                text: said.into_owned(),
                ..Reply::default()
            }),
        }
    }
}

/// All of an output; what is too much is read and forgotten, so that its writer is not held up.
async fn read(mut output: impl AsyncRead + Unpin) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| format!("its output broke: {error}");
    (&mut output).take(LONGEST as u64).read_to_end(&mut bytes).await.map_err(failed)?;
    let more = tokio::io::copy(&mut output, &mut tokio::io::sink()).await.map_err(failed)?;
    if more > 0 {
        return Err(format!("its answer is longer than {} MiB", LONGEST >> 20));
    }
    Ok(bytes)
}

/// The answer in the object that Claude Code and s20 print; None for any other text.
fn answer(said: &str) -> Result<Option<Reply>, String> {
    let Some(object) =
        serde_json::from_str::<Value>(said).ok().filter(|it| it["result"].is_string())
    else {
        return Ok(None);
    };
    let text = object["result"].as_str().unwrap_or_default().to_owned();
    if object["is_error"] == true {
        return Err(kit::cut(&kit::one_line(&text), 300));
    }
    let count = |key: &str| object["usage"][key].as_u64().unwrap_or(0);
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .map(count)
        .iter()
        .sum();
    let tokens = object["usage"].is_object().then(|| (input, count("output_tokens")));
    let model = object["modelUsage"].as_object().and_then(|of| of.keys().next().cloned());
    Ok(Some(Reply {
        text,
        tokens,
        model,
    }))
}

impl Spoke for Program {
    fn check(&self, _: Grant) -> BoxFuture<'_, Result<String, String>> {
        let program = Path::new(&self.line[0]);
        let path = self.entry.env.get("PATH").map(Into::into).or_else(|| std::env::var_os("PATH"));
        let found = if self.line[0].contains('/') {
            self.project.join(program).is_file()
        } else {
            std::env::split_paths(&path.unwrap_or_default())
                .any(|folder| folder.join(program).is_file())
        };
        let shown = program.display().to_string();
        let checked = if found { Ok(shown) } else { Err(format!("{shown} is not installed")) };
        Box::pin(std::future::ready(checked))
    }

    fn ask<'a>(&'a self, question: &'a Question<'a>) -> BoxFuture<'a, Result<Reply, String>> {
        Box::pin(self.run(question))
    }
}
