//! One run of the program: its configuration, and a server of it that is called or connected.
//!
//! Invariant: what a project brings along is started after the user has said yes to it, in a terminal, or in the settings.

use std::io::IsTerminal;

use mcp_client::fleet::Limits;
use mcp_client::sources::{Catalog, Found, Places, Standing};
use mcp_client::start::{FAILED, Failure};
use mcp_client::{Client, Options, Server};

use super::{Call, adaptor, arguments, config, login, show, variable};

/// An entry of a configuration, as JSON.
const ENTRY: &str = "MCP_CLIENT_ENTRY";

/// The configuration of a run.
pub struct Session {
    places: Places,
    pub catalog: Catalog,
    pub limits: Limits,
}

impl Session {
    /// Reads the configuration; what is wrong with whole files is said at once.
    pub fn open(file: Option<&std::path::Path>) -> Result<Self, Failure> {
        let places = Places::usual(&variable);
        let catalog = Catalog::open(file, &places, &variable);
        let wrong = catalog.wrong.iter();
        wrong.for_each(|wrong| eprintln!("mcp_client: {wrong}"));
        let limits = Limits::from_env(&variable).map_err(config)?;
        Ok(Self {
            places,
            catalog,
            limits,
        })
    }

    /// How a server is spoken to.
    pub fn options(&self, server: &Server) -> Options {
        self.limits.options(login::of(server, None))
    }

    /// The server of this name or at this address; asks whether an entry of the project is meant.
    pub fn choose(&mut self, name: &str) -> Result<Server, Failure> {
        if name.contains("://") {
            return at(name).map_err(config);
        }
        let Some(found) = self.catalog.get(name).cloned() else {
            let names: Vec<_> =
                self.catalog.found.iter().map(|found| found.name.as_str()).collect();
            return Err(config(format!(
                "there is no server {name}; there are: {}",
                names.join(", ")
            )));
        };
        self.allow(&found).map_err(config)?;
        found.server.map_err(config)
    }

    fn allow(&mut self, found: &Found) -> Result<(), String> {
        let name = &found.name;
        let why = match found.standing {
            Standing::Ready => return Ok(()),
            Standing::Disabled => {
                return Err(format!(
                    "{name} is among `disabledMcpjsonServers` of the local settings"
                ));
            }
            Standing::New => "comes with this project",
            Standing::Changed => "has changed since you approved it",
        };
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            eprint!("{name} {why}: {}\nUse it? [y/N] ", show::clean(&found.entry.to_string(), 500));
            let mut answer = String::new();
            let _ = std::io::stdin().read_line(&mut answer);
            if matches!(answer.trim(), "y" | "Y" | "yes") {
                self.places.approve(found)?;
                let stored = self.catalog.found.iter_mut().filter(|it| it.name == *name);
                stored.for_each(|it| it.standing = Standing::Ready);
                return Ok(());
            }
        }
        Err(format!(
            "{name} {why} and is not approved; `mcp_client tools {name}` in a terminal asks, or name it in \
             `enabledMcpjsonServers` of .claude/settings.local.json"
        ))
    }

    /// Calls a tool and prints its result.
    pub async fn call(&mut self, wanted: &Call) -> Result<u8, Failure> {
        let (server, tool) = (self.choose(&wanted.server)?, &wanted.tool);
        let client = Client::connect(&server, self.options(&server)).await?;
        let tools = client.tools().await?;
        let Some(known) = tools.iter().find(|it| it.name == *tool) else {
            let names: Vec<_> = tools.iter().map(|it| show::clean(&it.name, 60)).collect();
            let why = format!("{} has no tool {tool}; it has: {}", server.name, names.join(", "));
            return Err(Failure(FAILED, why));
        };
        let arguments =
            arguments::read(known, &wanted.arguments, wanted.json.as_deref()).map_err(config)?;
        let mut bar = show::Bar::default();
        let answer = client.call(tool, arguments, |report| bar.report(report)).await;
        bar.clear();
        let code = show::result(&answer?, wanted.out.as_deref()).map_err(config)?;
        client.close().await;
        Ok(if code { 0 } else { FAILED })
    }

    /// Puts standard input and output in front of a server.
    pub async fn connect(&mut self, target: &str, headers: &[String]) -> Result<u8, Failure> {
        let mut server = self.choose(target)?;
        for header in headers {
            let split = header.split_once(':');
            let (name, value) =
                split.ok_or_else(|| config(format!("--header {header}: it has no colon")))?;
            server.headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        if std::io::stdin().is_terminal() {
            eprintln!("{}", adaptor::explain(target));
            return Ok(0);
        }
        adaptor::run(&server, &self.options(&server)).await.map_err(config)?;
        Ok(0)
    }
}

/// The server at an address. What the address does not say, such as headers, may stand in the environment: the command line
/// is seen by all.
fn at(url: &str) -> Result<Server, String> {
    let Some(entry) = variable(ENTRY) else {
        return Server::at(url);
    };
    let entry = serde_json::from_str(&entry).map_err(|error| format!("{ENTRY}: {error}"))?;
    Server::parse(url, &entry, &variable).map_err(|why| format!("{ENTRY}{why}"))
}
