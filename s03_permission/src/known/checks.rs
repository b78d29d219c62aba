//! The commands of which only some arguments read: one check each.
//!
//! Invariant: a check accepts a word that is not fixed only where every value of it is harmless.

use crate::shell::{Word, is_exec};

/// `find` without actions that write or delete; what `-exec` runs is a command of its own and judged as such. That of
/// `-execdir` runs in the file's directory, which may steer it.
pub(super) fn find(args: &[Word]) -> bool {
    const WRITES: &[&str] = &[
        "-delete", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls",
    ];
    let mut in_command = false;
    args.iter().all(|word| {
        let text = word.text.as_str();
        if in_command {
            in_command = !matches!(text, ";" | "+");
            return true;
        }
        in_command = is_exec(text);
        !word.may_be_option() || (word.is_fixed() && !WRITES.contains(&text))
    })
}

/// `uniq INPUT OUTPUT` writes, so that at most one word may stand without a dash.
pub(super) fn uniq(args: &[Word]) -> bool {
    args.iter().all(Word::is_fixed)
        && args
            .iter()
            .filter(|word| !word.text.starts_with('-'))
            .count()
            < 2
}

/// `date` sets the clock with `-s` and with a number alone.
pub(super) fn date(args: &[Word]) -> bool {
    let mut args = args.iter();
    while let Some(word) = args.next() {
        let text = word.text.as_str();
        let fine = match text {
            _ if text.starts_with('+') => true,
            "-d" | "-r" | "--date" | "--reference" => {
                args.next().is_some_and(|value| !value.splits)
            }
            "-u" | "--utc" | "-R" | "-I" => true,
            _ => {
                word.is_fixed()
                    && ["--date=", "--iso-8601", "--rfc-3339=", "-I"]
                        .iter()
                        .any(|s| text.starts_with(s))
            }
        };
        if !fine || word.splits {
            return false;
        }
    }
    true
}

/// `sed -n` with a script that only prints: `5p`, `1,20p`, `/regex/p`, `$p`.
pub(super) fn sed(args: &[Word]) -> bool {
    let is_option = |word: &&Word| word.text.starts_with('-');
    let options: Vec<_> = args
        .iter()
        .take_while(is_option)
        .map(|word| word.text.as_str())
        .collect();
    let silent = options.iter().any(|option| option.contains('n'));
    let [script, files @ ..] = &args[options.len()..] else {
        return false;
    };
    silent
        && options
            .iter()
            .all(|option| matches!(*option, "-n" | "-E" | "-r" | "-nE" | "-nr" | "-En" | "-rn"))
        && script.is_fixed()
        && script
            .text
            .split(';')
            .all(|command| sed_prints(command.trim()))
        && !files.iter().any(Word::may_be_option)
}

fn sed_prints(command: &str) -> bool {
    let is_regex = |address: &str| {
        let inside = address
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'));
        inside.is_some_and(|regex| !regex.contains(['/', '\\', '\n', '[']))
    };
    let is_address = |address: &str| address == "$" || is_number(address) || is_regex(address);
    let addresses = command
        .strip_suffix('p')
        .map(|addresses| addresses.split(',').collect::<Vec<_>>());
    addresses.is_some_and(|all| all == [""] || (all.len() < 3 && all.into_iter().all(is_address)))
}

/// `command -v NAME`; `command NAME` is that name's command and does not come here.
pub(super) fn asks_where(args: &[Word]) -> bool {
    args.first()
        .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
}

/// `printf` with a format that sets no variable: neither `-v name` nor `%n`.
pub(super) fn printf(args: &[Word]) -> bool {
    let Some(format) = args
        .first()
        .filter(|format| format.is_fixed() && !format.may_be_option())
    else {
        return false;
    };
    let conversions = format.text.replace("%%", "");
    let letter = |text: &str| {
        text.chars()
            .find(|c| !"0123456789.*#+- 'hlLjzt".contains(*c))
    };
    conversions
        .split('%')
        .skip(1)
        .all(|conversion| letter(conversion) != Some('n'))
}

/// `[ … ]` is `test`.
pub(super) fn bracket(args: &[Word]) -> bool {
    args.split_last()
        .is_some_and(|(last, args)| last.text == "]" && test(args))
}

/// `exit 1` and the like.
pub(super) fn numbers(args: &[Word]) -> bool {
    args.iter().all(|word| is_number(&word.text))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// `test` with one operator; `-v` and longer forms may evaluate the text of an argument.
pub(super) fn test(args: &[Word]) -> bool {
    const UNARY: &[&str] = &[
        "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S", "-t",
        "-u", "-w", "-x", "-z",
    ];
    const BINARY: &[&str] = &[
        "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
    ];
    let args = args.strip_prefix(&[Word::fixed("!")][..]).unwrap_or(args);
    let is_one = |word: &Word, operators: &[&str]| {
        word.is_fixed() && operators.contains(&word.text.as_str())
    };
    // An unquoted word may become several, operators among them.
    let open =
        |word: &Word| word.splits || (!word.is_fixed() && word.text.contains(['*', '?', '[', '{']));
    !args.iter().any(open)
        && match args {
            [] | [_] => true,
            [operator, _] => is_one(operator, UNARY),
            [_, operator, _] => is_one(operator, BINARY),
            _ => false,
        }
}

/// `[[ … ]]`: bash finds its operators before it expands, and evaluates only around `-eq` and the like.
pub(super) fn double_bracket(args: &[Word]) -> bool {
    const EVALUATE: &[&str] = &["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    !args
        .iter()
        .any(|word| EVALUATE.contains(&word.text.as_str()))
}

/// `read -r name …` into variables that no program reads.
pub(super) fn read(args: &[Word]) -> bool {
    let small = |c: char| c.is_ascii_lowercase() || c == '_';
    args.iter()
        .all(|word| word.is_fixed() && (word.text == "-r" || word.text.chars().all(small)))
}

/// `set -e` and the other strict modes.
pub(super) fn set(args: &[Word]) -> bool {
    const MODES: &[&str] = &[
        "-e", "-u", "-x", "-eu", "-ex", "-eux", "-o", "-eo", "-euo", "-euxo", "+e", "+x",
        "pipefail",
    ];
    !args.is_empty()
        && args
            .iter()
            .all(|word| word.is_fixed() && MODES.contains(&word.text.as_str()))
}
