//! Reading, writing, editing and finding files.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::Bench;

#[tokio::test]
async fn what_is_read_and_what_cannot_be_is_said() {
    let bench = Bench::new()
        .file("a.txt", "one\ntwo\nthree\nfour\n")
        .file("empty", "")
        .file("binary", b"a\0b")
        .file("sub/x", "x");
    nix::unistd::mkfifo(&bench.ws.root().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (path, offset, limit, said) in [
        ("a.txt", 1, 9, "one\ntwo\nthree\nfour\n"),
        ("a.txt", 2, 2, "two\nthree\n(lines 2 to 3 of 4; read on with offset 4)"),
        ("a.txt", 4, 9, "four\n"),
        ("a.txt", 5, 9, "reading a.txt: it has only 4 lines; offset 5 is behind its end"),
        ("empty", 1, 9, "(the file is empty)"),
        ("missing", 1, 9, "reading missing: there is no such file"),
        ("sub", 1, 9, "reading sub: it is a directory; list it with glob or bash"),
        (".", 1, 9, "reading .: it is a directory; list it with glob or bash"),
        ("binary", 1, 9, "reading binary: it is a binary file; use bash to look at it"),
        ("pipe", 1, 9, "reading pipe: it is not a regular file"),
        ("sub/x/y", 1, 9, "reading sub/x/y: Not a directory (os error 20)"),
    ] {
        let input = json!({"path": path, "offset": offset, "limit": limit});
        let output = bench.call("read_file", input).await;
        assert_eq!(output.text, said);
        assert_eq!(output.is_error, said.starts_with("reading "), "{said}");
    }
}

#[tokio::test]
async fn text_that_is_not_utf8_is_read_with_replacements() {
    let bench = Bench::new().file("latin1.txt", b"caf\xe9\n");
    assert_eq!(bench.works("read_file", json!({"path": "latin1.txt"})).await, "caf\u{fffd}\n");
    let error = bench
        .fails("edit_file", json!({"path": "latin1.txt", "old_text": "caf", "new_text": "tea"}))
        .await;
    assert!(error.ends_with("it is not UTF-8 text; use bash to change it"), "{error}");
}

#[tokio::test]
async fn a_file_is_written_with_its_directories_and_replaced_as_a_whole() {
    let bench = Bench::new();
    assert_eq!(
        bench.works("write_file", json!({"path": "src/deep/a.txt", "content": "one\n"})).await,
        "created src/deep/a.txt (4 bytes)"
    );
    assert_eq!(
        bench.works("write_file", json!({"path": "src/deep/a.txt", "content": "two"})).await,
        "replaced src/deep/a.txt (3 bytes)"
    );
    assert_eq!(bench.read("src/deep/a.txt"), "two");
    let left: Vec<_> = std::fs::read_dir(bench.ws.root().join("src/deep")).unwrap().collect();
    assert_eq!(left.len(), 1, "a temporary file was left behind");
    assert_eq!(
        bench.fails("write_file", json!({"path": "src", "content": ""})).await,
        "writing src: it is a directory; name a file"
    );
}

#[tokio::test]
async fn permissions_of_an_old_file_stay_and_a_new_file_is_not_private() {
    let bench = Bench::new().file("run.sh", "#!/bin/sh\n");
    let mode = |path: &str| {
        std::fs::metadata(bench.ws.root().join(path)).unwrap().permissions().mode() & 0o777
    };
    std::fs::set_permissions(
        bench.ws.root().join("run.sh"),
        std::fs::Permissions::from_mode(0o777),
    )
    .unwrap();
    bench.works("write_file", json!({"path": "run.sh", "content": "#!/bin/sh\nls\n"})).await;
    bench.works("write_file", json!({"path": "new.txt", "content": ""})).await;
    bench.works("bash", json!({"command": "touch usual.txt"})).await;
    assert_eq!(mode("run.sh"), 0o777, "the umask has narrowed an old file's permissions");
    assert_eq!(mode("new.txt"), mode("usual.txt"));
}

#[tokio::test]
async fn a_read_only_file_is_not_replaced() {
    let bench = Bench::new().file("fixed.txt", "fixed");
    let path = bench.ws.root().join("fixed.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = bench.fails("write_file", json!({"path": "fixed.txt", "content": "x"})).await;
    assert!(error.starts_with("writing fixed.txt: it is read-only"), "{error}");
    assert_eq!(bench.read("fixed.txt"), "fixed");
}

#[tokio::test]
async fn more_than_a_context_window_is_not_returned() {
    let bench = Bench::new().file("long_line.txt", "a".repeat(1_000_000));
    let error = bench.fails("read_file", json!({"path": "long_line.txt"})).await;
    assert!(error.contains("more than 400000 bytes"), "{error}");
}

#[tokio::test]
async fn a_reader_never_sees_half_a_file() {
    let bench = Bench::new().file("big.txt", "a".repeat(200_000));
    let path = bench.ws.root().join("big.txt");
    let reader = std::thread::spawn(move || {
        for _ in 0..200 {
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.len(), 200_000);
            assert!(text.bytes().all(|byte| byte == text.as_bytes()[0]), "a mixture");
        }
    });
    for letter in ["b", "c"].repeat(10) {
        bench
            .works("write_file", json!({"path": "big.txt", "content": letter.repeat(200_000)}))
            .await;
    }
    reader.join().unwrap();
}

#[tokio::test]
async fn an_edit_wants_a_passage_that_occurs_once() {
    let bench = Bench::new().file("a.txt", "one two one\n");
    for (old, new, said, content) in [
        (
            "one",
            "1",
            "editing a.txt: old_text occurs 2 times; add a line before or after it so that it is unique",
            "one two one\n",
        ),
        (
            "three",
            "3",
            "editing a.txt: old_text does not occur in it; read the file and copy the passage exactly",
            "one two one\n",
        ),
        (
            "",
            "3",
            "editing a.txt: old_text is empty; to write a whole file use write_file",
            "one two one\n",
        ),
        (
            "two",
            "two",
            "editing a.txt: old_text and new_text are the same; nothing to change",
            "one two one\n",
        ),
        ("two", "2", "edited a.txt", "one 2 one\n"),
    ] {
        let input = json!({"path": "a.txt", "old_text": old, "new_text": new});
        assert_eq!(bench.call("edit_file", input).await.text, said);
        assert_eq!(bench.read("a.txt"), content);
    }
}

#[tokio::test]
async fn an_edit_finds_its_lines_in_a_file_from_windows() {
    let bench = Bench::new().file("dos.txt", "one\r\ntwo\r\nthree\r\n");
    bench
        .works("edit_file", json!({"path": "dos.txt", "old_text": "one\ntwo", "new_text": "1\n2"}))
        .await;
    assert_eq!(bench.read("dos.txt"), "1\r\n2\r\nthree\r\n");
}

#[tokio::test]
async fn glob_is_sorted_and_leaves_out_what_git_ignores() {
    let bench = Bench::new()
        .file(".gitignore", "target\n*.log\n")
        .file("b.py", "")
        .file("a.py", "")
        .file("pkg/c.py", "")
        .file("target/d.py", "")
        .file("e.log", "")
        .file(".harness/f.py", "")
        .file(".github/g.yml", "");
    let bench = &bench;
    let glob = async |pattern: &str| bench.works("glob", json!({ "pattern": pattern })).await;
    assert_eq!(glob("**/*.py").await, "a.py\nb.py\npkg/c.py");
    assert_eq!(glob("*.py").await, "a.py\nb.py");
    assert_eq!(glob("./pkg/*").await, "pkg/c.py");
    assert_eq!(glob("**/*.{yml,log}").await, ".github/g.yml");
    assert_eq!(glob("*.rs").await, "no file matches *.rs");
}

#[tokio::test]
async fn a_pattern_that_leaves_the_workspace_or_cannot_be_read_is_refused() {
    let bench = Bench::new();
    for pattern in ["/etc/*", "../*", "", "a/../../*"] {
        let error = bench.fails("glob", json!({ "pattern": pattern })).await;
        assert!(error.contains("must stay inside the workspace"), "{pattern}: {error}");
    }
    let error = bench.fails("glob", json!({"pattern": "a{b"})).await;
    assert!(error.starts_with("glob: the pattern \"a{b\" cannot be read: "), "{error}");
}

#[tokio::test]
async fn file_names_that_are_no_text_end_nothing() {
    let bench = Bench::new();
    std::fs::write(bench.ws.root().join(std::ffi::OsStr::from_bytes(b"caf\xe9.py")), "").unwrap();
    assert_eq!(bench.works("glob", json!({"pattern": "*.py"})).await, "caf\u{fffd}.py");
}
