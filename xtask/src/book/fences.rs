//! Text as Markdown shows it unchanged: code fences, folded passages, HTML.
//!
//! A page is made of files that know nothing of the book: they hold backticks, lines that begin with `#`, and angle brackets.
//! Invariant: a reader sees the file as it is, whatever stands in it.

/// A code fence around `text`, longer than any in it. Of `rust` mdBook hides the lines that begin with `#`; of `rs` none.
pub fn fence(language: &str, text: &str) -> String {
    let mut mark = "```".to_owned();
    while text.contains(&mark) {
        mark.push('`');
    }
    format!("{mark}{language}\n{}\n{mark}\n", text.trim_end())
}

/// A passage that opens on a click. `summary` is HTML.
pub fn folded(id: Option<&str>, summary: &str, body: &str) -> String {
    let id = id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
    let body = body.trim_end();
    format!("<details{id}><summary>{summary}</summary>\n\n{body}\n\n</details>\n")
}

/// A whole file for a folded passage: `book/theme/folds.js` makes a code block of it when it is opened.
///
/// mdBook's search leaves scripts out; with every file of the course in its index, the first search would load 10 MB.
pub fn quoted(language: &str, text: &str) -> String {
    let text =
        ["</script", "<script", "<!--"].iter().fold(text.trim_end().to_owned(), |text, end| {
            text.replace(end, &format!("<\\{}", &end[1..]))
        });
    format!(
        "<script type=\"text/plain\" class=\"file\" data-language=\"{language}\">\n{text}\n</script>\n"
    )
}

/// A sentence as HTML; what stands between backticks is code.
pub fn html(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        let part = escaped(part);
        match index % 2 {
            0 => html.push_str(&part),
            _ => html.push_str(&format!("<code>{part}</code>")),
        }
    }
    html
}

/// Text with what HTML means otherwise written out.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stays_what_it_is() {
        assert_eq!(fence("text", "a\n"), "```text\na\n```\n");
        let longer = "`````diff\n````\nx\n````\n`````\n";
        assert_eq!(fence("diff", "````\nx\n````\n"), longer);
        let script = "<script type=\"text/plain\" class=\"file\" data-language=\"rust\">\na\n\nb <\\/script> <\\!-- c\n</script>\n";
        assert_eq!(quoted("rust", "a\n\nb </script> <!-- c\n"), script);
        let sentence = "A <code>Vec&lt;T&gt;</code> &amp; more";
        assert_eq!(html("A `Vec<T>` & more"), sentence);
    }
}
