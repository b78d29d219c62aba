//! What needs no connection: the configuration, its edits, the steps of a reload, who answers what.

use mcp_relay::config::{self, Entry};
use mcp_relay::reload::{Step, diff};
use mcp_relay::routing::{Listing, Routing, validate};
use mcp_relay::service::raw;
use mcp_relay::yaml;
use serde_json::{Value, json};

fn parse(text: &str) -> Result<Vec<Entry>, String> {
    config::parse(text, &|name| (name == "KEY").then(|| "sesame".to_owned()))
}

#[test]
fn a_wrong_field_is_named_with_its_path() {
    for (text, why) in [
        ("", "`backends:` is missing"),
        ("backends: 3", "backends: a list is wanted"),
        ("servers: []\nbackends: []", "servers: nobody knows this field"),
        ("backends: [{url: 'ws://x'}]", "backends[0]: `name` is missing"),
        ("backends: [{name: a, url: 'ftp://x'}]", "backends[0].url: it must begin with http"),
        ("backends: [{name: a, url: 'ws://x', colour: red}]", "backends[0]"),
        ("backends: [{name: a, url: 'ws://x', timeout_s: 0}]", "backends[0].timeout_s: seconds"),
        ("backends: [{name: a, url: 'ws://x', enabled: perhaps}]", "backends[0].enabled: true or"),
        (
            "backends: [{name: a, url: 'ws://x'}, {name: a, url: 'ws://y'}]",
            "backends[1].name: a is",
        ),
        ("backends:\n  - name: a\n   url: b", ""),
    ] {
        let error = parse(text).err().unwrap();
        assert!(error.starts_with(why), "{text}: {error}");
    }
    let entry = &parse("backends: [{name: a, url: 'wss://x/${KEY}', prefix: a_, isolate: true}]")
        .unwrap()[0];
    assert_eq!((&*entry.server.url, &*entry.prefix, entry.isolate), ("wss://x/sesame", "a_", true));
    // What the tools show.
    assert_eq!(entry.url(), "wss://x/${KEY}");
}

#[test]
fn an_edit_changes_one_entry_and_no_other_line() {
    let whole = "# ours\nbackends:\n  # the first\n  - name: a   # inline\n    url: ws://a\n\n  # the second\n  - url: \"ws://b\"\n    name: 'b b'\n\n# the end\n";
    let added = yaml::add(whole, "c", "ws://localhost:9100").unwrap();
    assert_eq!(
        added,
        whole.replace(
            "    name: 'b b'\n",
            "    name: 'b b'\n  - name: c\n    url: ws://localhost:9100\n"
        )
    );
    assert_eq!(yaml::remove(&added, "c").unwrap(), whole);
    let removed = yaml::remove(whole, "b b").unwrap();
    assert_eq!(removed, whole.replace("  - url: \"ws://b\"\n    name: 'b b'\n", ""));
    let empty = yaml::remove(&removed, "a").unwrap();
    assert_eq!(parse(&empty).unwrap().len(), 0);
    assert!(empty.contains("# the first\n") && empty.contains("# the end\n"), "{empty}");
    let again = yaml::add(&empty, "true", "ws://x:1/?a=#b").unwrap();
    assert_eq!(parse(&again).unwrap_err_or_names(), ["true"]);
    for (before, after) in [
        ("backends: []\n", "backends: \n  - name: new\n    url: ws://h:1\n"),
        ("backends:", "backends:\n  - name: new\n    url: ws://h:1\n"),
        (
            "backends:\r\n- name: a\r\n  url: ws://a\r\n",
            "backends:\r\n- name: a\r\n  url: ws://a\r\n- name: new\r\n  url: ws://h:1\r\n",
        ),
        (
            "backends:\n- name: a\n  url: ws://a",
            "backends:\n- name: a\n  url: ws://a\n- name: new\n  url: ws://h:1\n",
        ),
    ] {
        assert_eq!(yaml::add(before, "new", "ws://h:1").unwrap(), after);
    }
    assert!(yaml::add("backends: [{name: a, url: 'ws://a'}]", "n", "ws://h").is_err());
    assert!(yaml::remove(whole, "nobody").is_err());
}

trait Names {
    fn unwrap_err_or_names(self) -> Vec<String>;
}

impl Names for Result<Vec<Entry>, String> {
    fn unwrap_err_or_names(self) -> Vec<String> {
        self.map_or_else(
            |why| vec![why],
            |entries| entries.iter().map(|it| it.name().to_owned()).collect(),
        )
    }
}

#[test]
fn what_goes_away_comes_first_and_what_stays_is_not_touched() {
    let entries = |text: &str| parse(&format!("backends: [{text}]")).unwrap();
    let old =
        entries("{name: a, url: 'ws://a'}, {name: b, url: 'ws://b'}, {name: c, url: 'ws://c'}");
    let new =
        entries("{name: d, url: 'ws://d'}, {name: c, url: 'ws://other'}, {name: a, url: 'ws://a'}");
    let steps: Vec<_> = diff(&old, &new)
        .into_iter()
        .map(|step| match step {
            Step::Remove(name) => format!("-{name}"),
            Step::Change(entry) => format!("~{}", entry.name()),
            Step::Add(entry) => format!("+{}", entry.name()),
        })
        .collect();
    assert_eq!(steps, ["-b", "~c", "+d"]);
    assert!(diff(&old, &old).is_empty());
}

fn tool(name: &str, schema: Value) -> Value {
    json!({ "name": name, "description": "d", "inputSchema": schema })
}

#[test]
fn each_rule_for_a_tool_has_its_sentence() {
    let object = json!({ "type": "object" });
    assert_eq!(validate(&raw(tool("good", object.clone()))).unwrap(), "good");
    for (tool, why) in [
        (json!({ "name": "t", "description": "d" }), "Missing 'inputSchema' field"),
        (json!({ "description": "d", "inputSchema": object }), "Missing 'name' field"),
        (json!({ "name": "t", "inputSchema": object }), "Missing 'description' field"),
        (
            json!({ "name": "t", "description": 3, "inputSchema": object }),
            "'description' must be a string",
        ),
        (tool("t", json!({ "type": "string" })), "'inputSchema' must be of type 'object'"),
        (
            tool("t", json!({ "type": "object", "properties": [] })),
            "'properties' must be an object",
        ),
        (
            tool("t", json!({ "type": "object", "required": "a" })),
            "'required' must be a list of strings",
        ),
        (
            tool("t", json!({ "type": "object", "required": [1] })),
            "'required' must be a list of strings",
        ),
        (
            tool("t", json!({ "type": "object", "required": ["a"] })),
            "Required field 'a' is not in 'properties'",
        ),
        (json!("no object"), "Missing 'name' field"),
        (tool("a\u{1b}[2J", object.clone()), "'name' has control characters"),
        (tool(&"n".repeat(129), object.clone()), "'name' is longer than 128 characters"),
    ] {
        assert_eq!(validate(&raw(&tool)).unwrap_err().1, why, "{tool}");
    }
}

#[test]
fn the_first_in_the_file_has_the_name_and_a_prefix_tells_apart() {
    let entries = parse("backends: [{name: a, url: 'ws://a'}, {name: b, url: 'ws://b'}, {name: c, url: 'ws://c', prefix: c_}]").unwrap();
    let mut listing = Listing::default();
    listing[0] = vec![
        raw(tool("search", json!({ "type": "object" }))),
        raw(tool("relay_x", json!({ "type": "object" }))),
    ];
    listing[2] = vec![raw(json!({ "uriTemplate": "test://template/{id}/data", "name": "t" }))];
    let routing = Routing::new(entries.iter().map(|entry| (entry, &listing)), &["relay_x"]);
    let tools = &routing.tables[0];
    assert_eq!(tools.owner("search"), Some(("a", "search")));
    assert_eq!(tools.owner("c_search"), Some(("c", "search")));
    assert_eq!(tools.owner("relay_x"), None);
    assert_eq!(tools.items.len(), 3);
    assert!(
        routing.tools["b"].1[0].starts_with("search - a has a tool of this name"),
        "{:?}",
        routing.tools["b"]
    );
    assert_eq!(routing.resource("test://template/7/data"), Some("a"));
    assert_eq!(routing.resource("test://other"), None);
}

#[test]
fn what_a_server_says_goes_on_without_control_characters_and_cut() {
    let entries = parse("backends: [{name: a, url: 'ws://a'}]").unwrap();
    let mut listing = Listing::default();
    let schema = json!({ "type": "object", "x-kept": "a\u{7}b" });
    listing[0] = vec![raw(json!({
        "name": "t", "title": "\u{1b}[31mred", "description": format!("one\r\n\ttwo\u{0}{}", "x".repeat(9000)),
        "inputSchema": schema, "annotations": { "title": "\u{9b}2J" }
    }))];
    listing[1] = vec![raw(json!({ "uri": "docs://a", "name": "\u{8}name" }))];
    listing[3] = vec![raw(json!({ "name": "p\u{1b}" })), raw(json!({ "name": "p" }))];
    let routing = Routing::new(entries.iter().map(|entry| (entry, &listing)), &[]);
    let item =
        |at: usize| serde_json::from_str::<Value>(routing.tables[at].items[0].get()).unwrap();
    let tool = item(0);
    assert_eq!((&tool["title"], &tool["annotations"]["title"]), (&json!("[31mred"), &json!("2J")));
    let description = tool["description"].as_str().unwrap();
    assert!(description.starts_with("one\n\ttwoxxx") && description.chars().count() < 4100);
    assert_eq!(tool["inputSchema"], schema);
    assert_eq!((&item(1)["name"], &item(3)["name"]), (&json!("name"), &json!("p")));
    assert_eq!(routing.tables[3].items.len(), 1);
}
