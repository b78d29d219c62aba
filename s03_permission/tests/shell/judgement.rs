//! What the judgement says to command lines: a table to read.
//!
//! Invariant: a row is a line as a model or an attacker would write it, and what happens to it.

use s03_permission::known::{Judgement, judge};

use Expected::{Asked, Denied, Reads};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Runs without a question.
    Reads,
    /// The user is asked.
    Asked,
    /// Refused whatever anybody says.
    Denied,
}

fn outcome(command: &str) -> Expected {
    match judge(command) {
        Judgement::ReadOnly => Reads,
        Judgement::Ask(_) => Asked,
        Judgement::Fatal(_) => Denied,
    }
}

fn check(table: &[(&str, Expected)]) {
    let wrong: Vec<_> = table
        .iter()
        .filter(|(command, expected)| outcome(command) != *expected)
        .map(|(command, expected)| {
            format!(
                "{command:?}: expected {expected:?}, got {:?}",
                judge(command)
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_that_only_read_run_without_a_question() {
    check(&[
        ("ls -la", Reads),
        ("ls *.rs ~/notes $HOME", Reads),
        ("cat README.md | head -20 | grep -n mcp", Reads),
        ("cat a.txt; wc -l b.txt && echo done || echo none", Reads),
        ("tail -f server.log", Reads),
        ("grep -r \"rm -rf /\" .", Reads),
        ("rg -n 'fn main' src", Reads),
        ("find . -name '*.rs' -newer Cargo.toml", Reads),
        ("find . -name '*.rs' -exec wc -l {} +", Reads),
        ("sort -k2 -n names.txt | uniq -c", Reads),
        ("sort ./*.txt", Reads),
        ("find . -type f | xargs grep -l TODO", Reads),
        ("printf '%s 100%% sure\\n' yes", Reads),
        ("sed -n 1,20p src/main.rs", Reads),
        ("sed -n '/struct Agent/,/^}/p;$p' src/main.rs", Reads),
        ("date +%F", Reads),
        ("date -d 'last sunday' +%F", Reads),
        ("hostname", Reads),
        ("env", Reads),
        ("which sudo", Reads),
        ("command -v sudo", Reads),
        ("python3 --version", Reads),
        ("cargo --version", Reads),
        ("node -v; go version", Reads),
        ("/usr/bin/ls", Reads),
        ("uname -a", Reads),
        ("cd src && ls", Reads),
        ("set -euo pipefail; ls", Reads),
        ("", Reads),
        ("# only a remark", Reads),
    ]);
}

#[test]
fn text_is_not_a_command() {
    check(&[
        ("echo \"rm -rf /\"", Reads),
        ("echo sudo reboot", Reads),
        ("echo 'x > /dev/sda'", Reads),
        ("grep ':(){ :|:& };:' notes.txt", Reads),
        ("cat <<'EOF'\nrm -rf / $(rm x) `rm y`\nEOF", Reads),
        ("ls # ; rm x", Reads),
        ("git commit -m \"sudo rm -rf /\"", Asked),
    ]);
}

#[test]
fn the_shells_own_forms_are_looked_into() {
    check(&[
        ("for f in *.rs; do wc -l \"$f\"; done", Reads),
        ("for f in *.rs; do rm \"$f\"; done", Asked),
        (
            "while read -r line; do echo \"$line\"; done < list.txt",
            Reads,
        ),
        ("if [ -f a ]; then cat a; else echo none; fi", Reads),
        ("if true; then rm x; fi", Asked),
        ("case $x in a) rm x;; *) ls;; esac", Asked),
        ("[[ -n $x && $x == *.rs ]] && echo rust", Reads),
        ("{ ls; cat a; } 2>&1 | wc -l", Reads),
        ("(cd src; rm x)", Asked),
        ("! rm x", Asked),
        ("time rm x", Asked),
        ("coproc rm x", Asked),
        ("echo $(rm x)", Asked),
        ("echo \"now: $(date) `rm x`\"", Asked),
        ("echo ${x:-$(rm x)}", Asked),
        ("x=$(rm y)", Asked),
        ("diff <(ls a) <(ls b)", Reads),
        ("diff <(rm a) b", Asked),
        ("ls >(rm x)", Asked),
        ("cat <<< \"$(rm x)\"", Asked),
        ("cat <<EOF\n$(rm x)\nEOF", Asked),
        ("cat <<EOF | sh\nrm x\nEOF", Asked),
        ("ls; rm x", Asked),
        ("ls & rm x", Asked),
        ("ls |& rm x", Asked),
        ("ls\nrm x", Asked),
        ("test -f x && ./x", Asked),
        ("function ls { rm x; }; ls", Asked),
        ("alias ls=rm", Asked),
    ]);
}

#[test]
fn spelling_does_not_hide_a_command() {
    check(&[
        ("r''m x", Asked),
        ("'ls' ; \"r\"m x", Asked),
        ("\\rm x", Asked),
        ("$'\\x72m' x", Asked),
        ("/bin/rm x", Asked),
        ("{rm,-rf,x}", Asked),
        ("ls${IFS}-la", Asked),
        ("$0", Asked),
        ("$cmd x", Asked),
        ("./ls", Asked),
        ("l\\\ns", Asked),
        ("ls\u{a0}-la", Asked),
        ("ls\r", Asked),
        ("echo $'a\\\\' ; rm x '", Asked),
        ("echo `echo \\`rm x\\``", Asked),
        // Bash joins lines before it looks for anything else.
        ("echo \"$\\\n(rm x)\"", Asked),
        ("echo a\\\n#b; rm x", Asked),
        ("echo `cat a``rm x`", Asked),
        ("echo `echo '`; rm x; `'`", Asked),
        // Between double quotes single quotes quote nothing.
        ("echo \"${x:-'$(rm y)'}\"", Asked),
        ("l''s -la", Reads),
        ("\"ls\" -la", Reads),
        ("ls \\\n  -la", Reads),
    ]);
}

#[test]
fn carriers_are_looked_through() {
    check(&[
        ("timeout 5 ls", Reads),
        ("timeout -k 1 5 rm x", Asked),
        ("env LANG=C ls", Reads),
        ("env rm x", Asked),
        ("env PATH=. ls", Asked),
        ("env -S 'rm x'", Asked),
        ("nohup nice -n 5 cat a", Reads),
        ("nohup rm x", Asked),
        ("command rm x", Asked),
        ("exec rm x", Asked),
        ("xargs -n 1 cat", Reads),
        ("xargs rm", Asked),
        ("xargs -I{} sort {}", Asked),
        ("bash -c 'ls; cat a'", Reads),
        ("bash -c 'ls; rm x'", Asked),
        ("bash -c \"$script\"", Asked),
        ("bash script.sh", Asked),
        ("sh -c 'rm x'", Asked),
        ("eval 'ls -la'", Reads),
        ("eval \"$x\"", Asked),
        (". ./script", Asked),
        ("source script", Asked),
        ("find . -exec rm {} \\;", Asked),
        ("find . -name x | xargs -I{} sh -c 'cat {}'", Asked),
        ("busybox rm x", Asked),
    ]);
}

#[test]
fn arguments_that_write_or_start_something_ask() {
    check(&[
        ("find . -delete", Asked),
        ("find . -fprint list", Asked),
        ("find . -okdir rm {} \\;", Asked),
        ("sort -o a a", Asked),
        ("sort -uo a a", Asked),
        ("sort --outp=a a", Asked),
        ("sort --compress-program ./x a", Asked),
        ("sort $files", Asked),
        ("sort *", Asked),
        ("uniq a b", Asked),
        ("tree -o list", Asked),
        ("file -C", Asked),
        ("rg --pre ./x y", Asked),
        ("date -s tomorrow", Asked),
        ("date 0101", Asked),
        ("hostname new", Asked),
        ("printf -v PATH .", Asked),
        ("printf 'x%n' PATH", Asked),
        ("sed -i s/a/b/ x", Asked),
        ("sed -n '/x/w out' y", Asked),
        ("sed -n 1p *", Asked),
        ("awk '{print}' x", Asked),
        ("python3 -c 'print(1)'", Asked),
        ("tee x", Asked),
        ("less x", Asked),
        ("man ls", Asked),
        ("./evil --version", Asked),
        ("evil --version", Asked),
        ("curl https://example.org", Asked),
        ("cargo test", Asked),
        ("touch test.txt", Asked),
        ("rm test.txt", Asked),
    ]);
}

#[test]
fn git_reads_with_some_of_its_subcommands() {
    check(&[
        ("git status --short", Reads),
        ("git log --oneline -5 -- src", Reads),
        ("git --no-pager diff HEAD~1", Reads),
        ("git show HEAD@{1}:README.md", Reads),
        ("git branch -a", Reads),
        ("git branch --list 'feature/*'", Reads),
        ("git tag -l", Reads),
        ("git remote -v", Reads),
        ("git stash list", Reads),
        ("git config --get user.name", Reads),
        ("git branch new", Asked),
        ("git branch -D old", Asked),
        ("git tag v1", Asked),
        ("git stash", Asked),
        ("git push", Asked),
        ("git log --output=x", Asked),
        ("git log --format=$x", Asked),
        ("git diff --ext-diff", Asked),
        ("git grep -O./x y", Asked),
        ("git -c core.pager=./x log", Asked),
        ("git -C ../other status", Asked),
        ("cd ../other && git status", Asked),
        ("GIT_PAGER=./x git log", Asked),
        ("git lg", Asked),
    ]);
}

#[test]
fn redirects_and_assignments_count() {
    check(&[
        ("ls 2>/dev/null >&2", Reads),
        ("wc -l < a.txt", Reads),
        ("LC_ALL=C sort a", Reads),
        ("x=1; echo $x", Reads),
        ("1x=1", Asked),
        ("> x", Asked),
        ("> /etc/x", Asked),
        ("ls > ~/.bashrc", Asked),
        ("ls 2> x", Asked),
        ("ls &> x", Asked),
        ("ls >> x", Asked),
        ("echo x >| y", Asked),
        ("ls <> x", Asked),
        ("ls >&2-3", Asked),
        ("ls > $x", Asked),
        ("cat < /dev/tcp/10.0.0.1/80", Asked),
        ("{ ls; } > x", Asked),
        ("PATH=. ls", Asked),
        ("LD_PRELOAD=./x.so ls", Asked),
        ("NODE_OPTIONS='-r ./x' node --version", Asked),
        ("for PATH in .; do ls; done", Asked),
        ("export PATH=.", Asked),
    ]);
}

#[test]
fn what_evaluates_a_text_asks() {
    check(&[
        ("echo $((1 + 2))", Reads),
        ("x='a[$(rm y)]'; echo $((x))", Asked),
        ("((x = 1))", Asked),
        ("[[ $x -eq 1 ]]", Asked),
        ("[ -v 'a[$(rm y)]' ]", Asked),
        ("[ \"$x\" = yes ]", Reads),
        ("[ $x ]", Asked),
        ("echo ${x@P}", Asked),
        ("echo ${!x}", Asked),
        ("echo ${PATH:=.}", Asked),
        ("echo ${x//a/b} ${#x} ${x%.rs}", Reads),
        ("read PATH", Asked),
        ("a[$(rm y)]=1", Asked),
    ]);
}

#[test]
fn destroying_the_system_is_refused_in_any_spelling() {
    check(&[
        ("rm -rf /", Denied),
        ("rm -fr /", Denied),
        ("rm -r -f /", Denied),
        ("rm --recursive --force /", Denied),
        ("r''m -rf /", Denied),
        ("rm / -rf", Denied),
        ("rm -rf -- //", Denied),
        ("rm -rf /.", Denied),
        ("rm -rf /*", Denied),
        ("rm -rf /tmp/../*", Denied),
        ("rm -rf --no-preserve-root /", Denied),
        ("rm -rf ~", Denied),
        ("rm -rf ~/", Denied),
        ("rm -rf \"$HOME\"", Denied),
        ("rm -rf ${HOME}/*", Denied),
        ("rm -rf /home", Denied),
        ("rm -rf /usr /tmp/x", Denied),
        ("rm -rf /{bin,etc}", Denied),
        ("rm -rf {/bin,/etc}", Denied),
        ("cd / && rm -rf *", Denied),
        ("ls; /bin/rm -rf /", Denied),
        ("echo $(rm -rf /)", Denied),
        ("timeout 5 bash -c 'rm -rf /'", Denied),
        ("rm -rf / <> x", Denied),
        ("find / -delete", Denied),
        ("find / -type f -exec rm {} +", Denied),
        (":(){ :|:& };:", Denied),
        ("bomb() { bomb | bomb & }; bomb", Denied),
        ("sudo ls", Denied),
        ("env sudo ls", Denied),
        ("su -c ls", Denied),
        ("mkfs.ext4 /dev/sda1", Denied),
        ("wipefs -a /dev/sda", Denied),
        ("dd if=/dev/zero of=/dev/sda", Denied),
        ("cat x > /dev/nvme0n1", Denied),
        ("shutdown -h now", Denied),
        ("init 0", Denied),
        ("chmod -R 777 /", Denied),
        ("chown -R me /usr", Denied),
        ("mv / /x", Denied),
    ]);
}

#[test]
fn deleting_something_of_ones_own_asks() {
    check(&[
        ("rm -rf ./build", Asked),
        ("rm -rf /tmp/build", Asked),
        ("rm -rf /tmp/*", Asked),
        ("rm -rf ~/project/target", Asked),
        ("rm -rf \"$dir\"/*", Asked),
        ("rm -rf '~'", Asked),
        ("rm /etc", Asked),
        ("cd /tmp/x && rm -rf *", Asked),
        ("find /tmp -delete", Asked),
        ("find / -name '*.orig' -delete", Asked),
        ("dd if=a of=b", Asked),
        ("dd if=a of=/dev/null", Asked),
        ("chmod -R u+w target", Asked),
        ("mv a b", Asked),
    ]);
}

#[test]
fn what_is_not_understood_asks() {
    check(&[
        ("ls )", Asked),
        ("ls \"", Asked),
        ("ls '", Asked),
        ("ls $(", Asked),
        ("if ls", Asked),
        ("ls \0", Asked),
        // The grammar reads on over these newlines; bash does not.
        ("ls | grep x | head -3\nrm x && ls", Asked),
        ("cat <<A <<B\na\nA\nrm x\nB", Asked),
        ("cat <<EOF; rm x\nhi\nEOF", Asked),
        ("cat <<EOF\n`rm x`\nEOF", Asked),
    ]);
}
