//! A very long Python module: so many functions, each with a long docstring.
//!
//! It is made for replies that reach their token limit, so it must be long, valid, and the same every time.
//! Invariant: the functions have different names, and what a docstring shows is what the function returns.

use std::fmt::Write;

/// The most functions of a module.
const MOST: usize = 120;

/// A module has at least so many bytes: more than eight thousand tokens, however few its functions are.
const MIN_BYTES: usize = 38_000;

/// A docstring explains itself in at least and at most so many bytes.
const NOTES: (usize, usize) = (500, 3_600);

/// What the functions measure.
const THINGS: [&str; 20] = [
    "cups",
    "pots",
    "leaves",
    "kettles",
    "minutes",
    "degrees",
    "grams",
    "spoons",
    "saucers",
    "sieves",
    "tins",
    "bags",
    "blends",
    "brews",
    "infusions",
    "servings",
    "orders",
    "guests",
    "shelves",
    "harvests",
];

/// A function: its name, what it does, what it returns for the example, and its last line.
struct Kind {
    name: &'static str,
    does: &'static str,
    example: &'static str,
    result: &'static str,
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "count",
        does: "Count the values that are within the limit",
        example: "2.0",
        result: "float(len(within))",
    },
    Kind {
        name: "total",
        does: "Add up the values that are within the limit",
        example: "3.5",
        result: "float(sum(within))",
    },
    Kind {
        name: "middle",
        does: "Find the middle between the ends of the values within the limit",
        example: "1.75",
        result: "(min(within) + max(within)) * 0.5",
    },
    Kind {
        name: "largest",
        does: "Find the largest value that is within the limit",
        example: "2.5",
        result: "max(within)",
    },
    Kind {
        name: "smallest",
        does: "Find the smallest value that is within the limit",
        example: "1.0",
        result: "min(within)",
    },
    Kind {
        name: "spread",
        does: "Measure the spread of the values within the limit",
        example: "1.5",
        result: "max(within) - min(within)",
    },
];

/// Sentences that a docstring explains itself with; `{t}` is what is measured.
const SENTENCES: [&str; 8] = [
    "The {t} are given one by one, in any order, and the order makes no difference to the result.",
    "Values above the limit are left out, because a measurement that large means that somebody counted twice.",
    "An empty list of {t} is no mistake: it gives zero, so that a day without tea needs no special case.",
    "Nothing is rounded here; whoever prints the number decides how many digits a reader wants to see.",
    "The list itself is not changed, so the same {t} can be measured again with another limit.",
    "Negative values are taken as they are, since a correction of earlier {t} is written down as one.",
    "The time it takes grows with the number of {t} and with nothing else.",
    "All {t} are expected in the same unit; a mixed list gives a number that means nothing.",
];

/// How many functions a module has for what the user asked for.
pub fn functions(asked: &str) -> usize {
    asked.parse().unwrap_or(40).clamp(1, MOST)
}

/// The module.
pub fn module(stem: &str, functions: usize) -> String {
    let notes = (MIN_BYTES / functions).clamp(NOTES.0, NOTES.1);
    let mut text = format!("\"\"\"{stem}: {functions} small measurements for a tea house.\"\"\"\n");
    for number in 0..functions {
        function(&mut text, number, notes);
    }
    text
}

fn function(text: &mut String, number: usize, notes: usize) {
    let Kind {
        name,
        does,
        example,
        result,
    } = &KINDS[number % KINDS.len()];
    let things = THINGS[number / KINDS.len() % THINGS.len()];
    let _ = write!(
        text,
        "\n\ndef {name}_{things}(values: list[float], limit: float = 10.0) -> float:\n    \"\"\"{does}: {things}.\n\n"
    );
    let start = text.len();
    let mut next = number;
    while text.len() - start < notes {
        let _ = writeln!(
            text,
            "    {}",
            SENTENCES[next % SENTENCES.len()].replace("{t}", things)
        );
        next += 1;
    }
    let _ = write!(
        text,
        "\n    Args:\n        values: The {things} that were measured.\n        limit: The largest value that counts.\n\n    \
         Returns:\n        The result as a number, or 0.0 when no value is within the limit.\n\n    Example:\n        \
         >>> {name}_{things}([1.0, 2.5, 4.0], limit=3.0)\n        {example}\n    \"\"\"\n    \
         within = [value for value in values if value <= limit]\n    if not within:\n        return 0.0\n    \
         return {result}\n"
    );
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_module_is_long_and_its_functions_differ() {
        for count in [10, 40, 50, 60, 120] {
            let text = module("tea", count);
            let names: HashSet<&str> = text
                .lines()
                .filter_map(|line| line.strip_prefix("def ")?.split('(').next())
                .collect();
            assert_eq!(names.len(), count);
            assert!(
                (8_000..40_000).contains(&(text.len() / 4)),
                "{count}: {}",
                text.len() / 4
            );
        }
        assert_eq!(
            [
                functions("60"),
                functions("0"),
                functions("9999"),
                functions("x")
            ],
            [60, 1, 120, 40]
        );
    }
}
