//! Functions and modules it can write by heart.
//!
//! Invariant: every sample runs; a function it does not know is a stub that says so when it is called.

use std::fmt::Write;

/// A function; `{0}` and `{1}` stand for the names of its parameters.
struct Sample {
    name: &'static str,
    params: &'static str,
    returns: &'static str,
    imports: &'static [&'static str],
    doc: &'static str,
    body: &'static [&'static str],
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "slugify",
        params: "text: str",
        returns: "str",
        imports: &["re", "unicodedata"],
        doc: "Return the text in lower case, its words joined by hyphens.",
        body: &[
            "plain = unicodedata.normalize(\"NFKD\", {0}).encode(\"ascii\", \"ignore\").decode()",
            "return re.sub(r\"[^a-z0-9]+\", \"-\", plain.lower()).strip(\"-\")",
        ],
    },
    Sample {
        name: "clamp",
        params: "value: float, low: float, high: float",
        returns: "float",
        imports: &[],
        doc: "Return the value, at least low and at most high.",
        body: &["return max({1}, min({2}, {0}))"],
    },
    Sample {
        name: "greet",
        params: "name: str",
        returns: "str",
        imports: &[],
        doc: "Return a greeting.",
        body: &["return f\"Hello, {{0}}!\""],
    },
    Sample {
        name: "add",
        params: "a: float, b: float",
        returns: "float",
        imports: &[],
        doc: "Return the sum of two numbers.",
        body: &["return {0} + {1}"],
    },
    Sample {
        name: "subtract",
        params: "a: float, b: float",
        returns: "float",
        imports: &[],
        doc: "Return the difference of two numbers.",
        body: &["return {0} - {1}"],
    },
    Sample {
        name: "multiply",
        params: "a: float, b: float",
        returns: "float",
        imports: &[],
        doc: "Return the product of two numbers.",
        body: &["return {0} * {1}"],
    },
    Sample {
        name: "reverse",
        params: "text: str",
        returns: "str",
        imports: &[],
        doc: "Return the text from its end to its start.",
        body: &["return {0}[::-1]"],
    },
    Sample {
        name: "is_palindrome",
        params: "text: str",
        returns: "bool",
        imports: &[],
        doc: "Say whether the text reads the same from both ends.",
        body: &[
            "letters = [letter for letter in {0}.lower() if letter.isalnum()]",
            "return letters == letters[::-1]",
        ],
    },
    Sample {
        name: "word_count",
        params: "text: str",
        returns: "int",
        imports: &[],
        doc: "Return how many words the text has.",
        body: &["return len({0}.split())"],
    },
    Sample {
        name: "factorial",
        params: "n: int",
        returns: "int",
        imports: &["math"],
        doc: "Return the product of all numbers from 1 to n.",
        body: &["return math.factorial({0})"],
    },
    Sample {
        name: "fibonacci",
        params: "n: int",
        returns: "int",
        imports: &[],
        doc: "Return the n-th number of the Fibonacci sequence.",
        body: &[
            "current, following = 0, 1",
            "for _ in range({0}):",
            "    current, following = following, current + following",
            "return current",
        ],
    },
    Sample {
        name: "is_prime",
        params: "n: int",
        returns: "bool",
        imports: &["math"],
        doc: "Say whether n is a prime number.",
        body: &["return {0} > 1 and all({0} % d for d in range(2, math.isqrt({0}) + 1))"],
    },
];

/// A module with one function, named as the user named it: `slugify(text: str)`, `slugify`. `None` when that is no name.
pub fn module(stem: &str, signature: &str) -> Option<String> {
    let (name, given) = match signature.trim().split_once('(') {
        Some((name, rest)) => (name, Some(rest.split_once(')')?.0.trim())),
        None => (signature.trim(), None),
    };
    is_name(name).then(|| whole(&title(stem), &[function(name, given)]))
}

/// Where the tests of a file stand: beside it.
pub fn test_path(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((parent, name)) => format!("{parent}/test_{name}"),
        None => format!("test_{path}"),
    }
}

/// A first test of a module: that it can be imported.
pub fn first_test(module: &str) -> String {
    format!(
        "\"\"\"Tests of {module}.\"\"\"\n\nimport {module}\n\n\ndef test_{module}_can_be_imported() -> None:\n    \
         assert {module}.__name__ == \"{module}\"\n"
    )
}

/// A file of a new package: its path, the directory of the package, and all files that are made.
pub fn package_file(path: &str, package: &str, files: &[&str]) -> Option<String> {
    let inside = path.strip_prefix(package)?.trim_start_matches('/');
    let name = package.trim_end_matches('/').rsplit('/').next()?;
    let stem = inside.rsplit('/').next()?.strip_suffix(".py")?;
    let has = |module: &str| {
        files
            .iter()
            .any(|file| file.trim_start_matches("./") == format!("{package}/{module}.py"))
    };
    Some(match stem {
        "__init__" if inside == "__init__.py" => format!("\"\"\"The package {name}.\"\"\"\n"),
        "__init__" => String::new(),
        "__main__" | "main" | "cli" | "app" => program(name),
        "setup" => format!("from setuptools import setup\n\nsetup(name=\"{name}\")\n"),
        "conftest" => "\"\"\"Shared fixtures.\"\"\"\n".to_owned(),
        test => match test.strip_prefix("test_") {
            Some(module) if has(module) => tests(
                name,
                module,
                inside.split('/').count(),
                function_names(module),
            ),
            Some(module) => format!("\"\"\"Tests of {module}.\"\"\"\n"),
            None => {
                let functions = function_names(stem).iter().map(|name| function(name, None));
                whole(&title(stem), &functions.collect::<Vec<_>>())
            }
        },
    })
}

/// The functions a module of this name gets.
fn function_names(module: &str) -> &'static [&'static str] {
    match module {
        "math" | "maths" | "calc" | "calculator" | "numbers" | "math_utils" => {
            &["add", "subtract", "multiply"]
        }
        _ => &["slugify", "clamp"],
    }
}

/// A function: what it imports, and its source.
type Function = (&'static [&'static str], String);

fn function(name: &str, given: Option<&str>) -> Function {
    let Some(sample) = SAMPLES.iter().find(|sample| sample.name == name) else {
        let source = format!(
            "def {name}({}):\n    \"\"\"Not written yet.\"\"\"\n    raise NotImplementedError(\"{name}\")\n",
            given.unwrap_or("")
        );
        return (&[], source);
    };
    let wanted = names(sample.params).len();
    let params = given
        .filter(|given| names(given).len() == wanted)
        .unwrap_or(sample.params);
    let mut source = format!(
        "def {name}({params}) -> {}:\n    \"\"\"{}\"\"\"\n",
        sample.returns, sample.doc
    );
    for line in sample.body {
        let line = names(params)
            .iter()
            .enumerate()
            .fold(line.to_string(), |line, (at, name)| {
                line.replace(&format!("{{{{{at}}}}}"), &format!("{{{name}}}"))
                    .replace(&format!("{{{at}}}"), name)
            });
        let _ = writeln!(source, "    {line}");
    }
    (sample.imports, source)
}

fn names(params: &str) -> Vec<&str> {
    let params = params.split(',').map(|param| {
        let name = param.split([':', '=']).next().unwrap_or("");
        name.trim()
    });
    params.filter(|name| is_name(name)).collect()
}

fn is_name(text: &str) -> bool {
    let start = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    start && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `string_tools` is `String tools`.
fn title(stem: &str) -> String {
    let words = stem.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

fn whole(title: &str, functions: &[Function]) -> String {
    let mut imports: Vec<&str> = functions
        .iter()
        .flat_map(|(imports, _)| imports.iter().copied())
        .collect();
    imports.sort_unstable();
    imports.dedup();
    let mut text = format!("\"\"\"{title}.\"\"\"\n");
    if !imports.is_empty() {
        text.push('\n');
    }
    for import in imports {
        let _ = writeln!(text, "import {import}");
    }
    for (_, source) in functions {
        let _ = write!(text, "\n\n{source}");
    }
    text
}

fn program(package: &str) -> String {
    format!(
        "\"\"\"The program {package}.\"\"\"\n\n\ndef main() -> None:\n    \"\"\"Say hello.\"\"\"\n    \
         print(\"Hello from {package}!\")\n\n\nif __name__ == \"__main__\":\n    main()\n"
    )
}

/// Tests that find the package from wherever they are started.
fn tests(package: &str, module: &str, depth: usize, functions: &[&str]) -> String {
    let mut text = format!(
        "\"\"\"Tests of {package}.{module}.\"\"\"\n\nimport sys\nimport unittest\nfrom pathlib import Path\n\n\
         sys.path.insert(0, str(Path(__file__).resolve().parents[{depth}]))\n\n\
         from {package}.{module} import {}  # noqa: E402\n\n\nclass {}Test(unittest.TestCase):\n",
        functions.join(", "),
        title(module).replace(' ', ""),
    );
    let cases: Vec<String> = functions.iter().map(|name| case(name)).collect();
    text.push_str(&cases.join("\n"));
    text.push_str("\n\nif __name__ == \"__main__\":\n    unittest.main()\n");
    text
}

fn case(function: &str) -> String {
    let (about, checks): (&str, &[&str]) = match function {
        "slugify" => (
            "words_are_joined_by_hyphens",
            &["slugify(\"  Crème brûlée, please! \"), \"creme-brulee-please\""],
        ),
        "clamp" => (
            "a_value_stays_between_its_limits",
            &[
                "clamp(5, 0, 3), 3",
                "clamp(-1, 0, 3), 0",
                "clamp(2, 0, 3), 2",
            ],
        ),
        "add" => ("numbers_are_added", &["add(2, 3), 5"]),
        "subtract" => ("numbers_are_subtracted", &["subtract(2, 3), -1"]),
        _ => ("numbers_are_multiplied", &["multiply(2, 3), 6"]),
    };
    let mut text = format!("    def test_{about}(self) -> None:\n");
    for check in checks {
        let _ = writeln!(text, "        self.assertEqual({check})");
    }
    text
}
