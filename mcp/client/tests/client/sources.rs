//! The six sources, with real files in a temporary home.

use std::fs;
use std::path::Path;

use mcp_client::sources::{Catalog, Places, Source, Standing};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Home {
    folder: TempDir,
    places: Places,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        let places = Places {
            home: at("home"),
            project: at("project"),
            managed: at("managed-mcp.json"),
        };
        Self { folder, places }
    }

    fn write(&self, path: &str, content: &Value) -> &Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
        self
    }

    fn read(&self) -> Catalog {
        Catalog::read(&self.places, &|_| None)
    }

    /// Name, source and standing of each server.
    fn found(&self) -> Vec<(String, Source, Standing)> {
        let found = self.read().found.into_iter();
        found.map(|found| (found.name, found.source, found.standing)).collect()
    }
}

/// A file that names one server, with this command.
fn file(name: &str, command: &str) -> Value {
    json!({ "mcpServers": { name: { "command": command } } })
}

const CONNECTORS: &str = "home/connectors.json";
const PLUGIN: &str = "home/plugins/one/.mcp.json";
const USER: &str = "home/settings.json";
const PROJECT: &str = "project/.mcp.json";
const LOCAL: &str = "project/.claude/settings.local.json";
const MANAGED: &str = "managed-mcp.json";

#[test]
fn each_source_wins_over_those_below_it() {
    let home = Home::new();
    let mut local = file("x", "local");
    local["enabledMcpjsonServers"] = json!(["x"]);
    let ladder = [
        (CONNECTORS, file("x", "connectors"), Source::Connectors),
        (PLUGIN, file("x", "plugin"), Source::Plugin),
        (USER, file("x", "user"), Source::User),
        (PROJECT, file("x", "project"), Source::Project),
        (LOCAL, local, Source::Local),
        (MANAGED, file("x", "managed"), Source::Managed),
    ];
    let mut below = Vec::new();
    for (path, content, source) in ladder {
        home.write(path, &content);
        if source == Source::Project {
            home.write(LOCAL, &json!({ "enableAllProjectMcpServers": true }));
        }
        let catalog = home.read();
        assert_eq!(catalog.wrong, [""; 0]);
        let found = catalog.get("x").unwrap();
        assert_eq!(found.source, source);
        assert_eq!(found.server.as_ref().ok().unwrap().command, source.to_string());
        if source != Source::Managed {
            assert_eq!(found.overrides, below, "{source}");
            below.insert(0, source);
        }
    }
}

#[test]
fn a_managed_file_excludes_all_others() {
    let home = Home::new();
    home.write(USER, &file("user", "a"))
        .write(LOCAL, &file("local", "b"))
        .write(MANAGED, &file("managed", "c"));
    assert_eq!(home.found(), [("managed".to_owned(), Source::Managed, Standing::Ready)]);
    // An empty one, too, and a broken one.
    home.write(MANAGED, &json!({ "mcpServers": {} }));
    assert!(home.found().is_empty());
    home.write(MANAGED, &json!([]));
    assert!(home.found().is_empty() && home.read().wrong.len() == 1);
}

#[test]
fn a_projects_file_waits_for_approval_and_a_changed_entry_waits_again() {
    let home = Home::new();
    home.write(PROJECT, &file("x", "one")).write(CONNECTORS, &file("x", "connected"));
    let rows = |standing| {
        let project = ("x".to_owned(), Source::Project, standing);
        // What is not approved stands in nobody's way.
        let connector = ("x".to_owned(), Source::Connectors, Standing::Ready);
        [project, connector]
    };
    assert_eq!(home.found(), rows(Standing::New));
    let settings = r#"{ "zebra": 1,  "enabledMcpjsonServers": [ "other" ], "apple": {"b": 2} }"#;
    let local = home.folder.path().join(LOCAL);
    fs::create_dir_all(local.parent().unwrap()).unwrap();
    fs::write(&local, settings).unwrap();
    let found = home.read().get("x").unwrap().clone();
    home.places.approve(&found).unwrap();
    assert_eq!(home.found(), [("x".to_owned(), Source::Project, Standing::Ready)]);
    let kept = fs::read_to_string(&local).unwrap();
    assert!(
        kept.starts_with(
            r#"{ "zebra": 1,  "enabledMcpjsonServers": ["other","x"], "apple": {"b": 2} "#
        ),
        "{kept}"
    );
    home.write(PROJECT, &file("x", "two"));
    assert_eq!(home.found(), rows(Standing::Changed));
    let found = home.read().get("x").unwrap().clone();
    home.places.approve(&found).unwrap();
    assert_eq!(home.found()[0].2, Standing::Ready);
}

#[test]
fn the_local_settings_switch_on_and_off() {
    let home = Home::new();
    home.write(PROJECT, &file("x", "one"));
    for (settings, expected) in [
        (json!({}), Standing::New),
        (json!({ "enabledMcpjsonServers": ["x"] }), Standing::Ready),
        (json!({ "enabledMcpjsonServers": ["y"] }), Standing::New),
        (json!({ "enableAllProjectMcpServers": true }), Standing::Ready),
        (
            json!({ "enableAllProjectMcpServers": true, "disabledMcpjsonServers": ["x"] }),
            Standing::Disabled,
        ),
        (
            json!({ "enabledMcpjsonServers": ["x"], "disabledMcpjsonServers": ["x"] }),
            Standing::Disabled,
        ),
    ] {
        home.write(LOCAL, &settings);
        assert_eq!(home.found()[0].2, expected, "{settings}");
    }
    home.write(LOCAL, &json!({ "enabledMcpjsonServers": "x" }));
    assert_eq!(home.found()[0].2, Standing::New);
    assert!(home.read().wrong[0].contains("settings.local.json"));
}

#[test]
fn a_connector_drops_out_when_another_source_has_the_same_server() {
    let home = Home::new();
    let entry = |url: &str| json!({ "url": url });
    let connectors = json!({ "mcpServers": {
        "twin": entry("https://host/mcp/"), "own": entry("https://host/other"),
        "shell": { "command": "server", "args": ["a b"] }, "other": { "command": "server", "args": ["a", "b"] },
    } });
    let user = json!({ "theme": "dark", "mcpServers": {
        "mine": entry("https://host/mcp"), "run": { "command": "server", "args": ["a b"], "env": { "A": "1" } },
    } });
    home.write(CONNECTORS, &connectors).write(USER, &user);
    let names: Vec<_> = home.found().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["mine", "other", "own", "run"]);
}

#[test]
fn what_is_wrong_costs_itself_alone_and_is_named_with_its_path() {
    let home = Home::new();
    home.write(USER, &json!({ "mcpServers": { "good": { "command": "a" }, "bad": { "command": "a", "port": 1 } } }));
    fs::create_dir_all(home.folder.path().join("home/plugins/one")).unwrap();
    fs::write(home.folder.path().join(PLUGIN), "{").unwrap();
    home.write(CONNECTORS, &json!({ "mcpServers": {}, "servers": {} }));
    let catalog = home.read();
    assert!(catalog.get("good").unwrap().server.is_ok());
    let bad = catalog.get("bad").unwrap().server.as_ref().err().unwrap();
    assert!(bad.contains("settings.json: mcpServers.bad.port: unknown field `port`"), "{bad}");
    assert!(
        catalog.wrong[0].contains("plugins/one/.mcp.json: it is no JSON"),
        "{:?}",
        catalog.wrong
    );
    assert!(
        catalog.wrong[1].contains("connectors.json: servers: unknown field"),
        "{:?}",
        catalog.wrong
    );
    let missing = Catalog::of_file(Path::new("/nowhere/x.json"), &|_| None);
    assert_eq!(missing.wrong, ["/nowhere/x.json: there is no such file"]);
}
