//! Generated passages in Markdown files: what stands between `<!-- name -->` and `<!-- /name -->`.
//!
//! Invariant: the text around a passage and the markers themselves stay as they are.

/// What stands between the markers `name`, when both are there.
pub fn inside<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<!-- {name} -->"))?;
    Some(rest.split_once(&format!("<!-- /{name} -->"))?.0)
}

/// `text` with `new` between the markers `name`; `None` when they are not both there.
pub fn replace(text: &str, name: &str, new: &str) -> Option<String> {
    let (before, _) = text.split_once(&format!("<!-- {name} -->"))?;
    let start = before.len() + format!("<!-- {name} -->").len();
    let end = start + inside(text, name)?.len();
    Some(format!("{}{new}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_replaced_and_the_rest_kept() {
        let text = "| `main.rs` | <!-- step -->+1 −2<!-- /step --> |\n";

        assert_eq!(inside(text, "step"), Some("+1 −2"));
        assert_eq!(
            replace(text, "step", "+3 −0").unwrap(),
            "| `main.rs` | <!-- step -->+3 −0<!-- /step --> |\n"
        );
        assert_eq!(replace(text, "budget", "x"), None);
        assert_eq!(replace("<!-- step --> never closed", "step", "x"), None);
    }
}
