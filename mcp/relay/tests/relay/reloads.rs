//! The file changes two hundred times, also into what cannot be read, while four clients call.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use mcp_relay::front::Ready;
use mcp_relay::{Relay, watcher};
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
    for own in NAMES {
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

const NAMES: [&str; 4] = ["zero", "one", "two", "three"];
/// How long a test is quiet behind a whole change.
const QUIET: Duration = Duration::from_millis(5);

/// Calls one tool after the other until all is done. Two of them are never taken out, so they always answer.
async fn call(
    relay: Arc<Relay>,
    caller: usize,
    done: Arc<AtomicBool>,
    calls: Arc<[AtomicUsize; 2]>,
) {
    let client = client(&relay).await.deaf();
    let mut n = caller;
    while !done.load(Ordering::Relaxed) {
        let tool = NAMES[n % 4];
        match client.call(tool, json!({ "n": n })).await {
            Ok(text) => assert_eq!(text, format!("{tool} {n}")),
            Err(why) => {
                let known = n % 4 > 1 && why.starts_with("No such tool available");
                assert!(known, "{tool}: {why}");
                calls[1].fetch_add(1, Ordering::Relaxed);
            }
        }
        calls[0].fetch_add(1, Ordering::Relaxed);
        n += 1;
    }
}

#[tokio::test]
async fn two_hundred_edits_of_the_file_lose_no_call_and_each_change_is_told_once() {
    let urls = four().await;
    let yaml = |present: &BTreeSet<usize>, variant: u64| {
        let entries = present.iter().map(|at| {
            // Another path is another URL, and the same server.
            let path = if *at == 1 { variant % 3 } else { 0 };
            format!("  - name: {}\n    url: {}/{path}\n", NAMES[*at], urls[*at])
        });
        format!("# variant {variant}\nbackends:\n{}", entries.collect::<String>())
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backends.yaml");
    let mut present: BTreeSet<_> = (0..4).collect();
    std::fs::write(&file, yaml(&present, 0)).unwrap();
    let relay = start(&file);
    let _watcher = watcher::watch(&relay, &file, QUIET).unwrap();
    let mut observer = client(&relay).await;
    while observer.tools().await.len() < 4 {}
    while tokio::time::timeout(QUIET, observer.told()).await.is_ok() {}
    let (done, calls) = (Arc::<AtomicBool>::default(), Arc::<[AtomicUsize; 2]>::default());
    let callers: Vec<_> = (0..4)
        .map(|it| tokio::spawn(call(relay.clone(), it, done.clone(), calls.clone())))
        .collect();
    let mut seed = 7;
    for edit in 1..=200_u64 {
        let before = calls[0].load(Ordering::Relaxed);
        match random(&mut seed) % 5 {
            0 => std::fs::write(&file, "backends: [{name: zero").unwrap(),
            1 => {
                let text = yaml(&present, edit);
                std::fs::write(&file, &text[..text.len() / 2]).unwrap();
                std::fs::write(&file, &text).unwrap();
            }
            kind => {
                let at = 2 + usize::try_from(random(&mut seed) % 2).unwrap();
                if !present.remove(&at) {
                    present.insert(at);
                }
                let text = yaml(&present, edit);
                if kind == 2 {
                    std::fs::write(&file, text).unwrap()
                } else {
                    replace(&file, &text)
                }
                assert!(observer.told().await.calls("notifications/tools/list_changed"));
                let tools: Vec<_> = present.iter().map(|at| NAMES[*at]).collect();
                assert_eq!(observer.tools().await, tools, "edit {edit}");
            }
        }
        while calls[0].load(Ordering::Relaxed) < before + 8 {
            assert!(!callers.iter().any(|caller| caller.is_finished()), "a caller has failed");
            tokio::task::yield_now().await;
        }
    }
    done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    let [calls, refused] = &*calls;
    assert!(calls.load(Ordering::Relaxed) > 1600 && refused.load(Ordering::Relaxed) > 0);
    // Each change was told once: what was told beside them would be here.
    assert!(tokio::time::timeout(QUIET, observer.told()).await.is_err());
    relay.close().await;
}

fn start(file: &Path) -> Arc<Relay> {
    let entries = watcher::read(file).unwrap();
    Relay::start(entries, Some(file.to_owned()), patience(), Ready::default())
}

/// In the place of the old file, as editors do it.
fn replace(file: &Path, text: &str) {
    let beside = file.with_extension("new");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, file).unwrap();
}
