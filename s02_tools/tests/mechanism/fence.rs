//! The fence around the workspace: whatever a path looks like, the file tools stay inside.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::json;

use super::Bench;

/// A bench with a directory beside the workspace that holds a secret, and links that lead there.
fn bench_with_ways_out() -> (Bench, tempfile::TempDir) {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.txt"), "secret").unwrap();
    let bench = Bench::new().file("inside.txt", "inside");
    let (there, here) = (outside.path(), bench.ws.root());
    for (target, link) in [
        (there.to_owned(), "link"),
        (there.join("secret.txt"), "file_link"),
        (there.join("not_yet.txt"), "dangling"),
        (here.join("inside.txt"), "inner_link"),
    ] {
        symlink(target, here.join(link)).unwrap();
    }
    (bench, outside)
}

#[tokio::test]
async fn no_path_leads_out() {
    let (bench, outside) = bench_with_ways_out();
    let absolute = outside.path().join("secret.txt").display().to_string();
    let up = format!("{}{absolute}", "../".repeat(20));
    for path in [
        "link/secret.txt",
        "file_link",
        "dangling",
        "link/new/deep.txt",
        &absolute,
        &up,
        "missing/../../x",
        "link/..",
    ] {
        for (tool, input) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "overwritten"})),
            ("edit_file", json!({"path": path, "old_text": "secret", "new_text": "x"})),
        ] {
            let error = bench.fails(tool, input).await;
            assert!(
                error.contains("outside the workspace") || error.contains("following the link"),
                "{path}: {error}"
            );
        }
    }
    assert_eq!(std::fs::read_to_string(outside.path().join("secret.txt")).unwrap(), "secret");
    assert!(
        !outside.path().join("not_yet.txt").exists(),
        "a file was written through a dangling link"
    );
}

#[tokio::test]
async fn a_link_inside_the_workspace_is_followed_and_stays_a_link() {
    let (bench, _outside) = bench_with_ways_out();
    bench.works("write_file", json!({"path": "inner_link", "content": "new"})).await;
    assert_eq!(bench.read("inside.txt"), "new");
    assert!(bench.ws.root().join("inner_link").is_symlink());
}

#[tokio::test]
async fn strange_paths_get_a_sentence() {
    let bench = Bench::new();
    for (path, expected) in
        [("", "the path is empty"), ("a\0b", "holds a NUL"), ("~/x", "`~` means nothing here")]
    {
        let error = bench.fails("read_file", json!({ "path": path })).await;
        assert!(error.contains(expected), "{path:?}: {error}");
    }
    // A name may begin with a tilde, and `..` may stay inside.
    bench.works("write_file", json!({"path": "a/../~b", "content": ""})).await;
}

#[tokio::test]
async fn an_allowed_directory_opens_the_fence_for_itself_only() {
    let (bench, outside) = bench_with_ways_out();
    bench.ws.allow_directory(outside.path()).unwrap();
    assert_eq!(bench.works("read_file", json!({"path": "link/secret.txt"})).await, "secret");
    let sibling = format!("{}2/x", outside.path().display());
    assert!(
        bench
            .fails("read_file", json!({ "path": sibling }))
            .await
            .contains("outside the workspace")
    );
    let error = format!("{:#}", bench.ws.allow_directory("no/such/dir".as_ref()).unwrap_err());
    assert!(error.starts_with("allowing the directory "), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_directory_that_becomes_a_link_during_a_call_leads_nowhere() {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

    let outside = tempfile::tempdir().unwrap();
    for name in ["a.txt", "only_outside.txt"] {
        std::fs::write(outside.path().join(name), "secret").unwrap();
    }
    let bench = Bench::new().file("there/a.txt", "inside");
    let [there, link] = ["there", "link"].map(|name| bench.ws.root().join(name));
    symlink(outside.path(), &link).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let is_done = Arc::clone(&done);
    let racer = std::thread::spawn(move || {
        while !is_done.load(Relaxed) {
            // The directory and the link change places.
            renameat2(AT_FDCWD, &there, AT_FDCWD, &link, RenameFlags::RENAME_EXCHANGE).unwrap();
        }
    });
    // Whether a call works depends on the moment; where it leads does not.
    for _ in 0..400 {
        let read = bench.call("read_file", json!({"path": "there/a.txt"})).await;
        assert_ne!(read.text, "secret");
        let found = bench.call("glob", json!({"pattern": "**/*.txt"})).await;
        assert!(!found.text.contains("only_outside"), "{}", found.text);
        for (tool, input) in [
            ("write_file", json!({"path": "there/new/b.txt", "content": "x"})),
            ("write_file", json!({"path": "there/a.txt", "content": "inside"})),
            ("edit_file", json!({"path": "there/a.txt", "old_text": "e", "new_text": "E"})),
        ] {
            bench.call(tool, input).await;
        }
    }
    done.store(true, Relaxed);
    racer.join().unwrap();
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 2);
    let secret = std::fs::read_to_string(outside.path().join("a.txt"));
    assert_eq!(secret.unwrap(), "secret");
}

#[tokio::test]
async fn a_workspace_that_moves_keeps_its_state_and_what_was_allowed() {
    let (bench, outside) = bench_with_ways_out();
    let bench = bench.file("tree/a.txt", "in the tree");
    bench.ws.allow_directory(outside.path()).unwrap();
    let tree = bench.ws.moved_to(bench.ws.root().join("tree")).unwrap();
    assert_eq!(tree.state("tasks"), bench.ws.state("tasks"));
    assert!(tree.resolve("a.txt").unwrap().ends_with("tree/a.txt"));
    assert!(tree.resolve(&outside.path().join("secret.txt").display().to_string()).is_ok());
    assert!(tree.resolve("../inside.txt").is_err());
}
