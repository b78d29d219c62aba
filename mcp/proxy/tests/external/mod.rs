//! The proxy before servers, and behind clients, that nobody here wrote; and the evaluation with embeddings from a package.
//!
//! Invariant: without `cargo x external`, which installs them, the tests say so in a line and pass.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mock_servers::model::MockModel;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::Class;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp_proxy");

/// Where `cargo x external` has put it.
fn installed(variable: &str) -> Option<PathBuf> {
    let home = std::env::var_os(variable).map(PathBuf::from);
    if home.is_none() {
        println!("skipped: {variable} is not set; cargo x external sets it");
    }
    home
}

fn said(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {out}{errors}");
    out.into_owned()
}

/// The official servers and 500 tools of the data set, behind one proxy: a script, as the
/// Inspector takes `--config` for its own.
fn everything(folder: &TempDir, node: &Path, python: &Path) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bin = |name: &str| node.join("node_modules/.bin").join(name);
    let servers = json!({
        "everything": {"command": bin("mcp-server-everything"), "args": ["stdio"]},
        "filesystem": {"command": bin("mcp-server-filesystem"), "args": [folder.path()]},
        "memory": {"command": bin("mcp-server-memory"), "env": {"MEMORY_FILE_PATH": folder.path().join("memory.json")}},
        "many": {"command": python, "args": [own.join("tests/external/many.py"), own.join("data/livemcp_tools.json")]},
    });
    let config = folder.path().join("servers.json");
    std::fs::write(&config, json!({ "mcpServers": servers }).to_string()).unwrap();
    let (state, script) = (folder.path().join("state"), folder.path().join("proxy"));
    let line = format!(
        "#!/bin/sh\nexec '{PROGRAM}' --config '{}' --state '{}' \"$@\"\n",
        config.display(),
        state.display()
    );
    std::fs::write(&script, line).unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o700)).unwrap();
    script
}

#[test]
fn the_inspector_the_python_sdk_and_s20_discover_and_call_among_five_hundred_tools() {
    let (Some(node), Some(python)) = (installed("EXTERNAL_NODE"), installed("EXTERNAL_PYTHON"))
    else {
        return;
    };
    let (folder, python) = (TempDir::new().unwrap(), python.join("bin/python"));
    std::fs::write(folder.path().join("a.txt"), "what is in it").unwrap();
    let proxy = everything(&folder, &node, &python);
    let checked = said(Command::new(&proxy).arg("account"));
    println!("{checked}");
    let inspect = |tool: &str, given: &[String]| {
        let mut command = Command::new(node.join("node_modules/.bin/mcp-inspector"));
        command.arg("--cli").arg(&proxy);
        command.args(["--method", "tools/call", "--tool-name", tool]);
        given.iter().for_each(|it| _ = command.args(["--tool-arg", it]));
        let result: Value = serde_json::from_str(&said(&mut command)).unwrap();
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let found = inspect("discover_tools", &["query=read the content of a text file".to_owned()]);
    assert!(found.contains("read_text_file"), "{found}");
    let path = json!({"path": folder.path().join("a.txt")});
    let call = ["tool_name=read_text_file".to_owned(), format!("arguments={path}")];
    assert!(inspect("call_tool", &call).contains("what is in it"));
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external/client.py");
    let done = said(Command::new(&python).arg(client).arg(&proxy));
    assert!(done.contains("discovered and called"), "{done}");
    said(Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "s20_full"]));
    let allowed = json!({"permissions": {"allow": ["connect_mcp", "mcp__proxy"]}});
    let model = MockModel::strict_rehearsal();
    let class = Class::new(Path::new(PROGRAM).with_file_name("s20_full"))
        .file(".mcp.json", json!({"mcpServers": {"proxy": {"command": proxy}}}).to_string())
        .file(".harness/settings.json", allowed.to_string())
        .model(&model);
    let ran = class.types(&["Connect to the proxy server", "search the nodes for rust"]);
    ran.succeeds().shows("> mcp__proxy__discover_tools").shows("> mcp__proxy__call_tool");
    let calls = std::fs::read_to_string(folder.path().join("state/calls.jsonl")).unwrap();
    assert!(calls.contains(r#":search_nodes""#), "{calls}");
}

#[test]
fn embeddings_from_a_package_raise_recall() {
    let Some(home) = installed("EXTERNAL_EMBEDDINGS") else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let find = "import glob, os, shutil, sys, wordllama\n\
                home = os.path.dirname(wordllama.__file__)\n\
                for kind, name in (('weights/*256*', 'model.safetensors'), ('tokenizers/*.json', 'tokenizer.json')):\n    \
                shutil.copy(sorted(glob.glob(f'{home}/{kind}'))[0], f'{sys.argv[1]}/{name}')\n";
    said(Command::new(home.join("bin/python")).args(["-c", find]).arg(folder.path()));
    let mut tests = Command::new(env!("CARGO"));
    tests.args(["test", "--quiet", "--package", "mcp_proxy", "--features", "embeddings"]);
    tests
        .args(["--test", "proxy", "recall::", "--", "--nocapture"])
        .env("EMBEDDINGS", folder.path());
    println!("{}", said(&mut tests));
}
