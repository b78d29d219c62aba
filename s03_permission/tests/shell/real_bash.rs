//! The judgement against bash itself: what is judged to only read must not start `rm`, however a line is cut.
//!
//! The parser and bash are two programs that must agree on where commands begin. Invariant: bash runs here with a PATH
//! of stand-ins only; the one called `rm` leaves a mark.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use s03_permission::Decision;
use s03_permission::known::judge;

/// Lines that only read, with every kind of quote, block and substitution.
const LINES: &[&str] = &[
    "ls -la | grep x | head -3\ncat a && wc -l b",
    "cat 'a b' \"c d\" g\\ h # end",
    "ls *.rs; grep -n \"it's\" a || echo 'no \"b\"' 2>/dev/null\ncat < a",
    "git log -n 3 --format='%h {x}' -- a\\'b; ls \\\n -la 2>&1",
    "echo \"$(cat 'a b')\" g\\ h $'i\\'j' ${x:-$(ls)} `date` # end",
    "for f in x \"y z\"; do [ -f $f ] || echo \"no $f\"; done",
    "cat <<EOF | grep a\n$x is 'it'\nEOF\nls",
    "cat <<-'EOF' > /dev/null\n\t$(no) `no`\n\tEOF\nls",
    "case $x in a|b) ls;; *) cat <(ls) 2>&1;; esac; ! [[ $x == *.rs ]]",
    "bash -c 'ls; cat \"a\"' && timeout 5 ls {a,b} \\\n -la",
];

/// What is pushed into them.
const PIECES: &[&str] = &[
    "\nrm x\n",
    ";rm x;",
    "&rm x&",
    "|rm x",
    "$(rm x)",
    "`ls``rm x`",
    "`rm x`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "`",
    "$(",
    ")",
    "#",
    "<<EOF",
    "\nEOF\n",
    "<<'E'\nrm x\nE\n",
    "{",
    "((",
    "\u{a0}",
    "$'",
    "${x:-`rm x`}",
    "'$(rm x)'",
    "\"$(rm x)\"",
    "<(rm x)",
    "|&rm x",
    "&&\nrm x",
    "$\\\n(rm x)",
    "${u:-'$(rm x)'}",
    "\\\n#",
    "'rm x'",
    " \"rm x\" ",
    "\\; rm x",
    " # rm x",
    "{a,rm x}",
    "\t\\\n;rm x",
    "<rm x",
    "\r;rm x",
];

#[test]
fn what_is_judged_to_only_read_starts_no_rm_in_bash() {
    let folder = tempfile::tempdir().unwrap();
    stand_ins(folder.path());
    assert!(runs_rm(folder.path(), "ls; rm x"), "the stand-in leaves no mark");
    let mut judged = 0;
    for (line, piece) in LINES.iter().flat_map(|line| PIECES.iter().map(move |piece| (line, piece)))
    {
        // Every third place: all of them take too long for a test that runs on each change.
        for (at, _) in line.char_indices().step_by(3) {
            let cut = format!("{}{piece}{}", &line[..at], &line[at..]);
            if cut.contains("rm x") && judge(&cut, folder.path()) == Decision::Allow {
                judged += 1;
                assert!(!runs_rm(folder.path(), &cut), "bash runs rm in {cut:?}");
            }
        }
    }
    assert!(judged > 50, "only {judged} lines were judged to read");
}

/// Programs that do nothing, under the names of the lines above, and `rm`, which leaves a file.
fn stand_ins(folder: &Path) {
    for name in ["ls", "cat", "grep", "head", "wc", "date", "timeout", "bash", "git", "rm"] {
        let script = if name == "rm" { "#!/bin/sh\n: > mark\n" } else { "#!/bin/sh\nexit 0\n" };
        fs::write(folder.join(name), script).unwrap();
        fs::set_permissions(folder.join(name), Permissions::from_mode(0o755)).unwrap();
    }
}

fn runs_rm(folder: &Path, line: &str) -> bool {
    let mut bash = Command::new("/bin/bash");
    bash.args(["--noprofile", "--norc", "-c", line])
        .current_dir(folder)
        .env_clear()
        .env("PATH", folder);
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    bash.status().unwrap();
    let mark = folder.join("mark");
    let ran = mark.exists();
    if ran {
        fs::remove_file(mark).unwrap();
    }
    ran
}
