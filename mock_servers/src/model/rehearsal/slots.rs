//! The values of a step's slots, and the templates they are put into.
//!
//! `{name}` stands for a slot, `{name|sh}` for its value in a form some place needs: a shell word, a sed expression, a
//! prefix. Slots that no words fill are worked out here: the content of a new file, the command that runs a script.
//! Invariant: a value that goes to the shell is quoted, whatever the user typed.

use super::pattern::{self, Kind, Taken};
use super::python::styled::styled;
use super::python::{long, samples};
use super::style::Style;
use super::team::works;
use super::todos;
use super::tokens::Token;
use super::words::{self, Language};

/// What the words of a step filled in.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    values: Vec<(&'static str, String)>,
    /// How the user wants code to be written.
    pub style: Style,
}

/// A Python file to start from.
const START: &str = "\"\"\"{stem}: a small program to start from.\"\"\"\n\n\ndef main() -> None:\n    \
                     print(\"Hello from {stem}.\")\n\n\nif __name__ == \"__main__\":\n    main()\n";

impl Slots {
    /// The value of a slot.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(slot, _)| *slot == name)
            .map(|(_, value)| value.as_str())
    }

    /// Gives a slot a value.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.values.retain(|(slot, _)| *slot != name);
        self.values.push((name, value.into()));
    }

    /// Stores what a slot of a pattern took, and returns it.
    pub fn take(&mut self, request: &str, tokens: &[Token], slot: &Taken) -> String {
        let first = &tokens[slot.from];
        let value = match slot.kind {
            Kind::Piece => pattern::piece(first.text).unwrap_or(first.text).to_owned(),
            Kind::Path | Kind::Place | Kind::File | Kind::Code => {
                pattern::named_file(first).to_owned()
            }
            Kind::Word
            | Kind::It
            | Kind::Quote
            | Kind::Subagent
            | Kind::Name
            | Kind::Mate
            | Kind::Server
            | Kind::Key => first.text.to_owned(),
            Kind::Number => pattern::number(first).unwrap_or(first.text).to_owned(),
            Kind::Files => {
                let (files, label) = pattern::files(first.text).unwrap_or_default();
                self.set("label", label);
                files
            }
            Kind::Text | Kind::Words | Kind::Command if first.quoted => first.text.to_owned(),
            Kind::Text | Kind::Words | Kind::Program => typed(request, tokens, slot).to_owned(),
            Kind::Command => without_tail(typed(request, tokens, slot)).to_owned(),
        };
        if slot.name != "path" {
            self.set(slot.name, value.clone());
        }
        value
    }

    /// Puts the slots into a template. `path` is what the step is done to. A slot nobody filled becomes nothing.
    pub fn render(&self, template: &str, path: Option<&str>) -> String {
        render(template, |slot| self.value(slot, path))
    }

    fn value(&self, slot: &str, path: Option<&str>) -> Option<String> {
        let (name, form) = slot.split_once('|').unwrap_or((slot, ""));
        let value = match (self.get(name), path) {
            (Some(value), _) if !matches!(name, "path" | "content") => value.to_owned(),
            // What is said, and not what a file holds.
            (Some(value), None) if name == "content" => value.to_owned(),
            (None, _) if name == "todo" => todos::generic(self.get("what")?),
            (_, Some(path)) if name == "path" => path.to_owned(),
            (_, Some(path)) if name == "path.tmp" => format!("{path}.tmp"),
            (_, Some(path)) if name == "test" => samples::test_path(path),
            (_, Some(path)) if name == "tests" => {
                styled(&samples::first_test(stem(path)), self.style)
            }
            (_, Some(path)) if name == "content" => self.content(path),
            (_, path) if name == "long" => self.long(path.unwrap_or("shown.py")),
            (_, Some(path)) if name == "mkdir" => return Some(make_parent(path)),
            (_, Some(path)) if name == "runner" => run_command(path),
            _ => return None,
        };
        Some(formed(&value, form))
    }

    /// The content of a file that is created or grows at this path.
    fn content(&self, path: &str) -> String {
        let given = |slot: &str| self.get(slot).map(unescaped);
        if let Some(code) = path.ends_with(".py").then(|| self.python(path)).flatten() {
            return styled(&code, self.style);
        }
        let is_table = |text: &String| text.ends_with(" table") || text.ends_with(" tables");
        if path.ends_with(".sql") && given("content").as_ref().is_none_or(is_table) {
            let about = self.get("about").map(|about| format!("{about} table"));
            let about = about.or_else(|| given("content"));
            return works::schema(&about.unwrap_or_default());
        }
        match (given("print"), given("content"), language(path)) {
            (Some(text), _, Some(language)) => language
                .prints
                .replace("{text}", &escaped(&text, language.ext)),
            (Some(text), _, None) | (None, Some(text), _) if text.ends_with('\n') => text,
            (Some(text), _, None) | (None, Some(text), _) => format!("{text}\n"),
            (None, None, Some(language)) => language.blank.replace("{stem}", stem(path)),
            (None, None, None) => format!("This is {}.\n", file_name(path)),
        }
    }

    /// A module of many functions.
    fn long(&self, path: &str) -> String {
        let functions = long::functions(self.get("n").unwrap_or_default());
        styled(&long::module(stem(path), functions), self.style)
    }

    /// A Python file, unless the user gave its text.
    fn python(&self, path: &str) -> Option<String> {
        let given = |slot: &str| self.get(slot).map(unescaped);
        let module = given("function").and_then(|it| samples::module(stem(path), &it));
        let in_package = || {
            let files: Vec<&str> = self.get("files")?.lines().collect();
            samples::package_file(path, self.get("package")?, &files)
        };
        let prints = given("print").map(|text| format!("print(\"{}\")\n", escaped(&text, "py")));
        let blank = || match stem(path) {
            stem if stem.starts_with("__") => format!("\"\"\"{stem}\"\"\"\n"),
            stem => START.replace("{stem}", stem),
        };
        in_package()
            .or(module)
            .or(prints)
            .or_else(|| given("content").is_none().then(blank))
    }
}

/// Replaces every `{slot}` of a template. A brace that belongs to no slot stays.
pub fn render(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        match after.split_once('}') {
            Some((slot, behind)) => {
                text.push_str(&value(slot).unwrap_or_default());
                rest = behind;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

/// What the user typed for a slot, without the punctuation that ends it.
fn typed<'a>(request: &'a str, tokens: &[Token], slot: &Taken) -> &'a str {
    let text = &request[tokens[slot.from].start..tokens[slot.to - 1].end];
    let text = text.trim_end_matches([',', ';', ':', '?']);
    let text = text
        .strip_suffix(')')
        .filter(|text| !text.contains('('))
        .unwrap_or(text);
    text.strip_suffix('.')
        .filter(|text| !text.ends_with(['.', ' ']))
        .unwrap_or(text)
        .trim()
}

/// `\n` and `\t` as the user types them in one line.
fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t")
}

fn without_tail(command: &str) -> &str {
    let mut command = command.trim_end_matches(['.', '!', '?', ',']);
    while let Some(rest) = words::COMMAND_TAILS
        .iter()
        .find_map(|tail| command.strip_suffix(tail))
    {
        let Some(rest) = rest.strip_suffix(' ') else {
            break;
        };
        command = rest.trim_end_matches([' ', ',']);
    }
    command
}

fn formed(value: &str, form: &str) -> String {
    match form {
        "sh" => shell_word(value),
        // `printf '%s\n'` adds the last line break itself.
        "line" => shell_word(value.strip_suffix('\n').unwrap_or(value)),
        "sed" => value.chars().fold(String::new(), |mut text, c| {
            match c {
                '/' | '\\' | '&' | '.' | '*' | '[' | ']' | '^' | '$' => text.extend(['\\', c]),
                '\'' => text.push_str(r"'\''"),
                '\n' => text.push_str("\\n"),
                _ => text.push(c),
            }
            text
        }),
        "functions" => long::functions(value).to_string(),
        "sample" => format!("new_file{}", value.trim_start_matches('*')),
        "behind" if value == "." => String::new(),
        "behind" => format!(" {}", shell_word(value)),
        "under" if value == "." => String::new(),
        "under" => format!("{}/", value.trim_end_matches('/')),
        "anywhere" => shell_word(&format!("*/{}", value.trim_start_matches("./"))),
        "similar" => shell_word(&format!("*{}*", stem(value))),
        "similar_glob" => format!("*{}*", stem(value)),
        _ => value.to_owned(),
    }
}

/// A text as one word of a shell command.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with('-') {
        return text.to_owned();
    }
    if text.starts_with('-') && text.contains('/') {
        return format!("./{text}");
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn make_parent(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some((parent, _))
            if !parent.starts_with(['/', '~']) && !matches!(parent, "" | "." | "..") =>
        {
            format!("mkdir -p {} && ", shell_word(parent))
        }
        _ => String::new(),
    }
}

fn run_command(path: &str) -> String {
    let here = |path: &str| {
        shell_word(&if path.contains('/') {
            path.to_owned()
        } else {
            format!("./{path}")
        })
    };
    match language(path) {
        Some(language) => render(language.runner, |slot| match slot {
            "path" => Some(shell_word(path)),
            _ => Some(shell_word(stem(path))),
        }),
        None => here(path),
    }
}

fn language(path: &str) -> Option<&'static Language> {
    let (_, ext) = file_name(path).rsplit_once('.')?;
    words::LANGUAGES.iter().find(|language| language.ext == ext)
}

/// A text inside the double quotes of this language.
fn escaped(text: &str, ext: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match (c, ext) {
            (_, "md") => escaped.push(c),
            ('\n', "sh") => escaped.push(c),
            ('\n', _) => escaped.push_str("\\n"),
            ('"' | '\\', _) | ('$' | '`', "sh") | ('#', "rb") => escaped.extend(['\\', c]),
            ('{' | '}', "rs") => escaped.extend([c, c]),
            _ => escaped.push(c),
        }
    }
    escaped
}

fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.')
        .map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}
