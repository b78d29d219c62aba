//! The file changes two hundred times while four clients call.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use mcp_relay::front::Ready;
use mcp_relay::{Relay, config, watcher};
use mcp_wire::peer::Incoming;
use serde_json::json;

use crate::scene::{Act, backend, client, patience, said, sound};

/// Random enough, and the same each time.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Four backends that say who they are and what they were asked.
async fn four() -> Vec<String> {
    let mut urls = Vec::new();
    for own in ["zero", "one", "two", "three"] {
        urls.push(
            backend(move |_, method, params| match method {
                "tools/call" => Act::Result(said(&format!("{own} {}", params["arguments"]["n"]))),
                _ => sound(&[own], method, params),
            })
            .await,
        );
    }
    urls
}

#[tokio::test]
async fn two_hundred_edits_under_load_lose_and_misroute_no_call() {
    let urls = four().await;
    let yaml = |present: &BTreeSet<usize>, variant: u64| {
        let entries = present.iter().map(|at| {
            let name = ["zero", "one", "two", "three"][*at];
            // Another path is another URL, and the same server.
            let path = if *at == 1 { variant % 3 } else { 0 };
            format!("  - name: {name}\n    url: {}/{path}\n", urls[*at])
        });
        format!("# variant {variant}\nbackends:\n{}", entries.collect::<String>())
    };
    let all: BTreeSet<_> = (0..4).collect();
    let relay = Relay::start(
        config::parse(&yaml(&all, 0), &|_| None).unwrap(),
        None,
        patience(),
        Ready::default(),
    );
    let (done, calls, refused) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
    );
    let mut callers = Vec::new();
    for caller in 0..4_usize {
        let (relay, done, calls, refused) =
            (relay.clone(), done.clone(), calls.clone(), refused.clone());
        callers.push(tokio::spawn(async move {
            let client = client(&relay).await.deaf();
            let mut n = caller;
            while !done.load(Ordering::Relaxed) {
                let tool = ["zero", "one", "two", "three"][n % 4];
                match client.call(tool, json!({ "n": n })).await {
                    Ok(text) => assert_eq!(text, format!("{tool} {n}")),
                    // Those two are never taken out, so they always answer.
                    Err(why) => {
                        let known = n % 4 > 1 && why.starts_with("No such tool available");
                        assert!(known, "{tool}: {why}");
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
                calls.fetch_add(1, Ordering::Relaxed);
                n += 1;
            }
        }));
    }
    let (mut seed, mut present) = (7, all.clone());
    for edit in 0..200_u64 {
        let before = calls.load(Ordering::Relaxed);
        match random(&mut seed) % 5 {
            0 => assert!(config::parse("backends: [{name: zero", &|_| None).is_err()),
            1 => {
                let text = yaml(&present, edit);
                if let Ok(entries) = config::parse(&text[..text.len() / 2], &|_| None) {
                    assert!(entries.len() <= present.len());
                }
            }
            _ => {
                let at = 2 + usize::try_from(random(&mut seed) % 2).unwrap();
                if !present.remove(&at) {
                    present.insert(at);
                }
                relay.reload(config::parse(&yaml(&present, edit), &|_| None).unwrap()).await;
            }
        }
        while calls.load(Ordering::Relaxed) < before + 8 {
            assert!(!callers.iter().any(|caller| caller.is_finished()), "a caller has failed");
            tokio::task::yield_now().await;
        }
    }
    done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    assert!(calls.load(Ordering::Relaxed) > 1600 && refused.load(Ordering::Relaxed) > 0);
    relay.close().await;
}

async fn changed(relay: &Arc<Relay>, file: &Path, text: &str) {
    // In the place of the old file, as editors do it.
    let beside = file.with_extension("new");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, file).unwrap();
    let _ = relay;
}

#[tokio::test]
async fn the_file_is_watched_and_each_change_is_told_once() {
    let url = backend(|_, method, params| sound(&["a"], method, params)).await;
    let more = backend(|_, method, params| sound(&["b"], method, params)).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backends.yaml");
    let one = format!("backends:\n  - name: one\n    url: {url}\n");
    let two = format!("{one}  - name: two\n    url: {more}\n");
    std::fs::write(&file, &one).unwrap();
    let relay = Relay::start(
        watcher::read(&file).unwrap(),
        Some(file.clone()),
        patience(),
        Ready::default(),
    );
    let _watcher = watcher::watch(&relay, &file).unwrap();
    let mut client = client(&relay).await;
    assert_eq!(client.tools().await, ["a"]);
    assert!(client.told().await.calls("notifications/tools/list_changed"));
    for (text, tools) in [(&two, vec!["a", "b"]), (&one, vec!["a"]), (&two, vec!["a", "b"])] {
        changed(&relay, &file, "backends: [{name: one").await;
        changed(&relay, &file, text).await;
        assert!(client.told().await.calls("notifications/tools/list_changed"));
        assert_eq!(client.tools().await, tools);
    }
    // Nothing else was told: what comes next is the end.
    relay.close().await;
    let more = tokio::time::timeout(Duration::from_millis(50), client.told.recv()).await;
    assert!(
        !matches!(more, Ok(Some(Incoming::Notification(frame))) if frame.calls("notifications/tools/list_changed"))
    );
}
