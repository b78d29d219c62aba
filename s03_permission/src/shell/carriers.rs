//! Commands that run another command: `timeout 5 rm x` is judged as `rm x`.
//!
//! Invariant: an option that is not in the tables leaves a doubt, because it may take the next word with it or do more
//! than carry.

use super::{Assignment, Command, Line, MAX_NESTING, Word};

/// How a carrier reads the words in front of the command that it runs.
struct Carrier {
    name: &'static str,
    /// Short options without a value.
    flags: &'static str,
    /// Short options whose value is attached or is the next word.
    values: &'static str,
    /// Long options without a value, or with it behind `=`.
    long: &'static [&'static str],
    /// Words between the options and the command.
    operands: usize,
}

const fn carrier(name: &'static str, flags: &'static str, values: &'static str) -> Carrier {
    Carrier {
        name,
        flags,
        values,
        long: &[],
        operands: 0,
    }
}

const CARRIERS: &[Carrier] = &[
    carrier("builtin", "", ""),
    carrier("busybox", "", ""),
    carrier("command", "p", ""),
    Carrier {
        long: &["--ignore-environment"],
        ..carrier("env", "i", "u")
    },
    carrier("exec", "cl", "a"),
    carrier("ionice", "t", "cn"),
    Carrier {
        long: &["--adjustment="],
        ..carrier("nice", "0123456789", "n")
    },
    carrier("nohup", "", ""),
    Carrier {
        long: &["--wait", "--fork", "--ctty"],
        ..carrier("setsid", "cfw", "")
    },
    Carrier {
        long: &["--output=", "--input=", "--error="],
        ..carrier("stdbuf", "", "ioe")
    },
    carrier("time", "p", ""),
    Carrier {
        long: &[
            "--foreground",
            "--preserve-status",
            "--verbose",
            "--signal=",
            "--kill-after=",
        ],
        operands: 1,
        ..carrier("timeout", "fpv", "ks")
    },
    Carrier {
        long: &[
            "--null",
            "--no-run-if-empty",
            "--verbose",
            "--max-args=",
            "--max-procs=",
            "--delimiter=",
        ],
        ..carrier("xargs", "0rtx", "IELPdns")
    },
];

const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ksh"];

impl Line {
    /// Adds a command, or what it carries in its place.
    pub(super) fn look_through(&mut self, command: Command, nesting: usize) {
        let name = command.name().unwrap_or_default().to_string();
        if nesting > MAX_NESTING {
            self.doubt("commands within commands within commands, too deep to follow");
            self.commands.push(command);
        } else if let Some(carrier) = CARRIERS.iter().find(|carrier| carrier.name == name) {
            self.carried(carrier, command, nesting);
        } else if name == "eval" {
            self.eval(command, nesting);
        } else if SHELLS.contains(&name.as_str()) {
            self.shell(&name, command, nesting);
        } else if name == "find" {
            self.find(command, nesting);
        } else {
            self.commands.push(command);
        }
    }

    fn carried(&mut self, carrier: &Carrier, mut command: Command, nesting: usize) {
        let only_asks = carrier.name == "command"
            && command
                .words
                .get(1)
                .is_some_and(|word| word.text.starts_with(['-']) && word.text.contains(['v', 'V']));
        let mut at = if only_asks {
            command.words.len()
        } else {
            self.skip_options(carrier, &command)
        };
        if carrier.name == "env" {
            while let Some((name, value)) = command.words.get(at).and_then(as_assignment) {
                command.assignments.push(Assignment { name, value });
                at += 1;
            }
        }
        if at >= command.words.len() {
            return self.commands.push(command);
        }
        let mut words = command.words.split_off(at);
        if carrier.name == "xargs" {
            add_input(&command.words, &mut words);
        }
        self.look_through(Command { words, ..command }, nesting + 1);
    }

    /// Where the carried command begins.
    fn skip_options(&mut self, carrier: &Carrier, command: &Command) -> usize {
        let mut at = 1;
        while let Some(word) = command.words.get(at).filter(|word| word.may_be_option()) {
            at += 1;
            let Some(short) = word
                .text
                .strip_prefix('-')
                .filter(|short| !short.is_empty() && word.is_fixed())
            else {
                self.doubt(format!(
                    "`{}` in front of a command is not understood",
                    word.text
                ));
                break;
            };
            if short == "-" {
                break;
            }
            if short.starts_with('-') {
                let name = short.split_inclusive('=').next().unwrap_or_default();
                if !carrier.long.iter().any(|long| long[1..] == *name) {
                    self.doubt(format!(
                        "the option `{}` of {} is not known",
                        word.text, carrier.name
                    ));
                }
                continue;
            }
            let value_at = short.find(|c| carrier.values.contains(c));
            let flags = &short[..value_at.unwrap_or(short.len())];
            if !flags.chars().all(|c| carrier.flags.contains(c)) {
                self.doubt(format!(
                    "the option `{}` of {} is not known",
                    word.text, carrier.name
                ));
            }
            // A value that is not attached is the next word.
            at += usize::from(value_at.is_some_and(|value| value + 1 == short.len()));
        }
        at + carrier.operands
    }

    fn eval(&mut self, command: Command, nesting: usize) {
        if command.args().iter().all(Word::is_fixed) {
            let script: Vec<_> = command
                .args()
                .iter()
                .map(|word| word.text.as_str())
                .collect();
            self.script(&script.join(" "), command, nesting);
        } else {
            self.doubt(format!(
                "`{}` runs a text that is only known when it runs",
                command.text()
            ));
            self.commands.push(command);
        }
    }

    /// `bash -c 'script'`. A script in a file or on the input stays the command that it is.
    fn shell(&mut self, name: &str, command: Command, nesting: usize) {
        let mut at = 1;
        let mut is_script = false;
        while let Some(word) = command.words.get(at).filter(|word| word.may_be_option()) {
            let flags = word.text.trim_start_matches('-');
            if !word.is_fixed() || !flags.chars().all(|c| "ceoux".contains(c)) {
                self.doubt(format!("the option `{}` of {name} is not known", word.text));
            }
            is_script |= flags.contains('c');
            at += 1 + usize::from(flags.ends_with('o'));
        }
        let script = command.words.get(at).filter(|_| is_script).cloned();
        match script {
            Some(script) if script.is_fixed() => {
                if name != "bash" {
                    self.doubt(format!(
                        "{name} may read `{}` in another way than bash",
                        script.text
                    ));
                }
                self.script(&script.text, command, nesting);
            }
            Some(script) => {
                self.doubt(format!(
                    "{name} runs `{}`, which is only known when it runs",
                    script.text
                ));
                self.commands.push(command);
            }
            None => self.commands.push(command),
        }
    }

    /// Reads a script that a command carries. What surrounds the script (redirects, assignments) stays with it.
    fn script(&mut self, script: &str, carrier: Command, nesting: usize) {
        let written = carrier.written.clone();
        let around = Command {
            words: Vec::new(),
            ..carrier
        };
        if !around.assignments.is_empty() || !around.redirects.is_empty() {
            self.commands.push(around);
        }
        self.read(script, nesting + 1, Some(&written));
    }

    /// `find` itself, and each command behind `-exec`.
    fn find(&mut self, command: Command, nesting: usize) {
        let mut rest = command.words.as_slice();
        let mut carried = Vec::new();
        while let Some(at) = rest.iter().position(|word| is_exec(&word.text)) {
            rest = &rest[at + 1..];
            let end = rest
                .iter()
                .position(|word| matches!(word.text.as_str(), ";" | "+"))
                .unwrap_or(rest.len());
            let mut words = rest[..end].to_vec();
            words
                .iter_mut()
                .filter(|word| word.text.contains("{}"))
                .for_each(make_unknown);
            carried.push(Command {
                words,
                written: command.written.clone(),
                ..Command::default()
            });
            rest = &rest[end..];
        }
        self.commands.push(command);
        carried
            .into_iter()
            .for_each(|command| self.look_through(command, nesting + 1));
    }
}

/// Whether a word of `find` starts a command.
pub(crate) fn is_exec(word: &str) -> bool {
    matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// What xargs reads stands behind the command, or wherever the text of `-I` stands.
fn add_input(xargs: &[Word], words: &mut Vec<Word>) {
    let replace =
        xargs
            .iter()
            .enumerate()
            .find_map(|(at, word)| match word.text.strip_prefix("-I")? {
                "" => xargs.get(at + 1).map(|next| next.text.clone()),
                attached => Some(attached.to_string()),
            });
    match replace {
        Some(replace) => words
            .iter_mut()
            .filter(|word| word.text.contains(&replace))
            .for_each(make_unknown),
        None => words.push(Word::unknown()),
    }
}

fn make_unknown(word: &mut Word) {
    word.known = 0;
}

fn as_assignment(word: &Word) -> Option<(String, Word)> {
    let at = word.text[..word.known].find('=').filter(|at| *at > 0)?;
    let value = Word {
        text: word.text[at + 1..].to_string(),
        known: word.known - at - 1,
        splits: word.splits,
    };
    Some((word.text[..at].to_string(), value))
}
