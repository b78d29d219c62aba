//! Type hints, docstrings and a main guard for a simple module.
//!
//! Each takes the source as it is and returns it as it shall be, with a sentence on what changed. What cannot be told
//! from the source is not guessed. Invariant: what the program does stays the same.

use super::lines::{Line, depth, lines};
use crate::model::rehearsal::edits::Rewritten;
use crate::model::rehearsal::phrases::listed;

/// Adds the types that names, defaults and use give away.
pub fn hints(path: &str, source: &str) -> Rewritten {
    let read = lines(source);
    let mut text: Vec<String> = read.iter().map(|line| line.text.clone()).collect();
    let mut hinted = Vec::new();
    for function in functions(&read) {
        let body = &read[function.at + 1..function.end];
        let known: Vec<(String, Option<&str>)> = function
            .params
            .iter()
            .map(|param| (name_of(param).to_owned(), type_of_param(param, body)))
            .collect();
        let params: Vec<String> = function
            .params
            .iter()
            .zip(&known)
            .map(|(param, (_, kind))| with_hint(param, *kind))
            .collect();
        let returns = function
            .returns
            .clone()
            .or_else(|| type_returned(body, &known).map(str::to_owned));
        let arrow = returns.map_or(String::new(), |kind| format!(" -> {kind}"));
        let line = format!("def {}({}){arrow}:", function.name, params.join(", "));
        if text[function.at].trim_end() != line {
            text[function.at] = line;
            hinted.push(function.name);
        }
    }
    let note = match hinted.is_empty() {
        true => format!("I found no type hint to add to {path}"),
        false => format!("I added type hints to {} in {path}", listed(&hinted)),
    };
    Rewritten::new(source, &text, note)
}

/// Adds a docstring to the module and to each function that has none.
pub fn docstrings(path: &str, source: &str) -> Rewritten {
    let read = lines(source);
    let mut text: Vec<String> = read.iter().map(|line| line.text.clone()).collect();
    let mut documented = Vec::new();
    for function in functions(&read).into_iter().rev() {
        let first = read[function.at + 1..function.end]
            .iter()
            .find(|line| !line.is_blank());
        if first.is_none_or(is_docstring) {
            continue;
        }
        let given: Vec<String> = function
            .params
            .iter()
            .map(|param| name_of(param).to_owned())
            .collect();
        let words = sentence_case(&function.name);
        let about = match given.is_empty() {
            true => format!("{words}."),
            false => format!("{words}, given {}.", listed(&given)),
        };
        let indent = " ".repeat(first.map_or(4, Line::indent));
        text.insert(function.at + 1, format!("{indent}\"\"\"{about}\"\"\""));
        documented.insert(0, function.name);
    }
    let first = read.iter().find(|line| !line.is_blank());
    if first.is_some_and(|line| !is_docstring(line)) {
        let stem = path
            .rsplit('/')
            .next()
            .and_then(|name| name.split('.').next());
        // A line for the interpreter stays the first.
        let at = usize::from(text[0].starts_with("#!"));
        text.insert(
            at,
            format!("\"\"\"{}.\"\"\"", sentence_case(stem.unwrap_or(path))),
        );
        text.insert(at + 1, String::new());
        documented.insert(0, "the module".to_owned());
    }
    let note = match documented.is_empty() {
        true => format!("{path} has its docstrings already"),
        false => format!("I added docstrings to {} in {path}", listed(&documented)),
    };
    Rewritten::new(source, &text, note)
}

/// Puts what runs at the end of the module behind a main guard.
pub fn guard(path: &str, source: &str) -> Rewritten {
    let read = lines(source);
    let unchanged = |note: String| Rewritten {
        text: source.to_owned(),
        note,
    };
    if source.contains("__name__ ==") {
        return unchanged(format!("{path} has a main guard already"));
    }
    // The last definition or import; what follows it runs.
    let defined = read.iter().rposition(|line| {
        line.is_top()
            && ["def ", "class ", "@", "import ", "from ", "async "]
                .iter()
                .any(|word| line.text.starts_with(word))
    });
    let behind = defined.map_or(0, |at| at + 1);
    let Some(start) =
        (behind..read.len()).find(|at| read[*at].is_top() && !is_docstring(&read[*at]))
    else {
        return unchanged(format!(
            "Nothing in {path} runs by itself, so it needs no main guard"
        ));
    };
    let tail = &read[start..];
    if tail.iter().any(|line| line.in_string) {
        return unchanged(format!(
            "I added no main guard to {path}: a long string at its end would change"
        ));
    }
    let mut text: Vec<String> = read[..start].iter().map(|line| line.text.clone()).collect();
    while text.last().is_some_and(|line| line.trim().is_empty()) {
        text.pop();
    }
    text.extend([
        String::new(),
        String::new(),
        "if __name__ == \"__main__\":".to_owned(),
    ]);
    text.extend(tail.iter().map(|line| match line.text.trim() {
        "" => String::new(),
        _ => format!("    {}", line.text),
    }));
    Rewritten::new(
        source,
        &text,
        format!("I put what {path} runs behind a main guard"),
    )
}

/// A function at the left margin whose `def` stands on one line.
struct Function {
    at: usize,
    end: usize,
    name: String,
    params: Vec<String>,
    returns: Option<String>,
}

fn functions(read: &[Line]) -> Vec<Function> {
    let ends = |at: usize| {
        (at + 1..read.len())
            .find(|next| read[*next].is_top())
            .unwrap_or(read.len())
    };
    let starts = (0..read.len()).filter(|at| read[*at].is_top());
    starts
        .filter_map(|at| {
            let line = &read[at];
            let mask = line.mask.trim_end();
            let head = mask.strip_prefix("def ")?.strip_suffix(':')?;
            if depth(mask, 0) != 0 || line.text.trim_end().len() != mask.len() {
                return None;
            }
            let open = mask.find('(')?;
            let close = mask.rfind(')')?;
            let returns = mask[close..].find("->").map(|arrow| close + arrow + 2);
            Some(Function {
                at,
                end: ends(at),
                name: head.split('(').next()?.trim().to_owned(),
                params: split_params(&line.text[open + 1..close], &mask[open + 1..close]),
                returns: returns.map(|from| line.text[from..mask.len() - 1].trim().to_owned()),
            })
        })
        .collect()
}

fn split_params(text: &str, mask: &str) -> Vec<String> {
    let mut params = Vec::new();
    let (mut from, mut level) = (0, 0_usize);
    for (at, byte) in mask.bytes().enumerate() {
        level = depth(&mask[at..=at], level);
        if byte == b',' && level == 0 {
            params.push(text[from..at].trim().to_owned());
            from = at + 1;
        }
    }
    params.push(text[from..].trim().to_owned());
    params.retain(|param| !param.is_empty());
    params
}

fn name_of(param: &str) -> &str {
    let end = param.find([':', '=']).unwrap_or(param.len());
    param[..end].trim()
}

fn with_hint(param: &str, kind: Option<&str>) -> String {
    match (kind, param.split_once('=')) {
        (None, _) => param.to_owned(),
        (Some(_), _)
            if param
                .split('=')
                .next()
                .is_some_and(|head| head.contains(':')) =>
        {
            param.to_owned()
        }
        (Some(kind), Some((name, default))) => {
            format!("{}: {kind} = {}", name.trim(), default.trim())
        }
        (Some(kind), None) => format!("{param}: {kind}"),
    }
}

/// The type of a parameter: from its default, from how it is used, from its name.
fn type_of_param<'a>(param: &str, body: &[Line]) -> Option<&'a str> {
    if param.starts_with(['*', '/']) || matches!(name_of(param), "self" | "cls") {
        return None;
    }
    if let Some((_, default)) = param.split_once('=') {
        return type_of_literal(default.trim());
    }
    let name = name_of(param);
    let used = |suffix: &str| {
        body.iter().any(|line| {
            line.mask.match_indices(name).any(|(at, _)| {
                let alone = !line.mask[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
                alone && line.mask[at + name.len()..].starts_with(suffix)
            })
        })
    };
    let as_text = [
        ".upper(",
        ".lower(",
        ".split(",
        ".strip(",
        ".title(",
        ".replace(",
        ".startswith(",
    ];
    if as_text.iter().any(|suffix| used(suffix)) {
        return Some("str");
    }
    NAMES
        .iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, kind)| *kind)
}

/// Names that say what they hold.
const NAMES: &[(&[&str], &str)] = &[
    (
        &[
            "name", "text", "word", "title", "line", "message", "greeting", "path", "sentence",
        ],
        "str",
    ),
    (
        &[
            "n", "times", "count", "index", "limit", "number", "age", "year", "size", "length",
        ],
        "int",
    ),
    (
        &[
            "radius",
            "width",
            "height",
            "x",
            "y",
            "price",
            "ratio",
            "celsius",
            "fahrenheit",
        ],
        "float",
    ),
    (
        &["items", "values", "numbers", "words", "lines", "names"],
        "list",
    ),
];

fn type_of_literal<'a>(text: &str) -> Option<&'a str> {
    let quoted = text.starts_with(['"', '\'']) || text.starts_with("f\"") || text.starts_with("f'");
    match text {
        "True" | "False" => Some("bool"),
        _ if quoted => Some("str"),
        _ if text.parse::<i64>().is_ok() => Some("int"),
        _ if text.parse::<f64>().is_ok() => Some("float"),
        _ if text.starts_with('[') => Some("list"),
        "{}" => Some("dict"),
        _ => None,
    }
}

/// The type all returns agree on; `None` (the type) when nothing is returned.
fn type_returned<'a>(body: &[Line], known: &[(String, Option<&'a str>)]) -> Option<&'a str> {
    if body.iter().any(|line| line.mask.contains("yield")) {
        return None;
    }
    let statement = |line: &'_ Line| -> Option<String> {
        let rest = line.text.trim().strip_prefix("return")?;
        rest.is_empty()
            .then(String::new)
            .or_else(|| rest.strip_prefix(' ').map(|value| value.trim().to_owned()))
    };
    let values: Vec<String> = body.iter().filter_map(statement).collect();
    let inner = body
        .iter()
        .any(|line| line.mask.contains("return") && statement(line).is_none());
    if values.is_empty() {
        return (!inner).then_some("None");
    }
    let mut kinds = values.iter().map(|value| type_of_value(value, body, known));
    let first = kinds.next()??;
    (!inner && kinds.all(|kind| kind == Some(first))).then_some(first)
}

fn type_of_value<'a>(
    value: &str,
    body: &[Line],
    known: &[(String, Option<&'a str>)],
) -> Option<&'a str> {
    let named = |name: &str| {
        known
            .iter()
            .find(|(known, _)| known == name)
            .and_then(|(_, kind)| *kind)
    };
    let mask = lines(value).first()?.mask.clone();
    if depth(&mask, 0) != 0 {
        return None;
    }
    if mask.starts_with("not ")
        || ["==", "!=", " in ", " < ", " > ", " and "]
            .iter()
            .any(|sign| mask.contains(sign))
    {
        return Some("bool").filter(|_| !mask.contains(" and "));
    }
    if let Some(kind) = named(value) {
        return Some(kind);
    }
    let first = value
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
        .unwrap_or("");
    if value == first && !first.is_empty() {
        let assigned = body.iter().find_map(|line| {
            let rest = line
                .text
                .trim()
                .strip_prefix(first)?
                .trim_start()
                .strip_prefix('=')?;
            type_of_literal(rest.trim())
        });
        return assigned.or_else(|| type_of_literal(value));
    }
    if type_of_literal(value) == Some("str")
        || value.ends_with(".upper()")
        || value.ends_with(".lower()")
    {
        return Some("str");
    }
    match first {
        "len" | "int" if mask.ends_with(')') && !mask.contains(' ') => Some("int"),
        // `text.upper() * times`, `name + "!"`: the type of what comes first, where it cannot become another.
        _ if named(first) == Some("str")
            && (value[first.len()..].starts_with(".upper()")
                || value[first.len()..].starts_with(" + ")) =>
        {
            Some("str")
        }
        _ => type_of_literal(value),
    }
}

fn is_docstring(line: &Line) -> bool {
    line.text.trim_start().starts_with(['"', '\'']) || line.text.trim_start().starts_with("r\"\"\"")
}

/// `read_line` is `Read line`.
fn sentence_case(name: &str) -> String {
    let words = name.trim_matches('_').replace('_', " ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
