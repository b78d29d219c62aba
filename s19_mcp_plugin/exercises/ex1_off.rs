//! Exercise 1 · off (15 minutes).
//!
//! A server stays until the program ends. Let the user type `/mcp off NAME`: the server of exactly this name is
//! disconnected, its process ends, and the user is told so; nothing is sent to the model. From then on no request
//! offers its tools, also while the process takes its time to go. The model has called them a minute ago, so the
//! section `# Servers` says that the server is gone, as it does for one that broke down, and that it was the user who
//! wanted it. `connect_mcp` connects it again as before. A name that is not connected, or none, gets a sentence.
//!
//! Hint: `/mcp` is answered in `src/command.rs`, at once; a server ends in its own time. Who waits for it?
//!
//! Hint: `State` in `src/mcp.rs` knows two kinds of servers, and `Mcp::servers` reads both. What comes of a server
//! that is shut down and still stands among the connected ones?

use s02_tools::Toolbox;
use s04_hooks::{HookOutput, Prompt};
use s19_mcp_plugin::{Mcp, StdioServerConfig};

use super::{connect, connected, offered};
use crate::scene::Scene;

/// What the user is told who types this line.
async fn typed(scene: &Scene, mcp: &Mcp, line: &str) -> String {
    let answers = mcp.command(&scene.ws, &Toolbox::new());
    let text = line.to_owned();
    match answers(Prompt { text }).await {
        HookOutput::Block(told) => told,
        other => {
            panic!("{line:?} should be answered and not sent to the model; it came to {other:?}")
        }
    }
}

fn named(name: &str, config: StdioServerConfig) -> StdioServerConfig {
    let name = name.to_owned();
    StdioServerConfig { name, ..config }
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_server_that_is_off_is_gone_and_the_model_knows() {
    let scene = Scene::new();
    let mcp = connected(&scene, &[scene.docs(&[])]).await;
    let told = typed(&scene, &mcp, "/mcp off docs").await;
    assert!(told.contains("docs"), "the answer should name docs: {told:?}");
    assert_eq!(offered(&mcp), [""; 0], "no tool of docs is offered any more");
    let section = mcp.servers();
    assert!(
        section.contains("- docs is gone") && section.contains("user"),
        "the prompt should say that docs is gone because the user wanted it; it says {section:?}"
    );
    let (scene, left) = tokio::task::spawn_blocking(move || {
        scene.nothing_is_left();
        let left = scene.left();
        (scene, left)
    })
    .await
    .expect("the process of docs should have ended");
    assert_eq!(left, [""; 0]);
    connect(&mcp, "docs").await;
    assert_eq!(offered(&mcp).len(), 2, "connected again, it offers its tools");
    assert!(!mcp.servers().contains("gone"), "{}", mcp.servers());
    mcp.shut_down().await;
    drop(scene);
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn one_that_does_not_want_to_go_is_not_offered_either() {
    let scene = Scene::new();
    let mcp = connected(&scene, &[scene.docs(&["ignores-eof"])]).await;
    typed(&scene, &mcp, "/mcp off docs").await;
    assert_eq!(offered(&mcp), [""; 0], "no tool of docs is offered any more");
    assert!(mcp.servers().contains("user"), "{}", mcp.servers());
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn the_others_stay() {
    let scene = Scene::new();
    let both = ["docs", "docs2"].map(|name| named(name, scene.docs(&[])));
    let mcp = connected(&scene, &both).await;
    let before = offered(&mcp);
    for line in ["/mcp off", "/mcp off doc", "/mcp off nothing", "/mcp off docs docs2"] {
        typed(&scene, &mcp, line).await;
        assert_eq!(offered(&mcp), before, "{line:?} should disconnect nobody");
    }
    typed(&scene, &mcp, "/mcp off docs").await;
    assert_eq!(
        offered(&mcp),
        ["mcp__docs2__search", "mcp__docs2__get_version"],
        "docs is off and docs2 is not"
    );
    let shown = typed(&scene, &mcp, "/mcp").await;
    assert!(shown.contains("docs2  connected, 2 tools"), "{shown}");
    let answers = mcp.command(&scene.ws, &Toolbox::new());
    let text = "/mcp offers what?".to_owned();
    let said = answers(Prompt { text }).await;
    assert_eq!(said, HookOutput::Go, "this is a question to the model");
    mcp.shut_down().await;
}
