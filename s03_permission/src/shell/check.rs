//! Checks a tree of the grammar against bash's own rules.
//!
//! tree-sitter-bash is made for editors: it reads on over a newline in some pipelines, takes a quote's end from the
//! wrong place, sees no backquotes in a heredoc. Each such case hides a command. Text between two nodes must be what
//! bash skips there, and quotes and heredocs must end where bash ends them.
//!
//! Invariant: a line that passes is cut by bash where the tree cuts it.

use tree_sitter::Node;

use super::quotes;

/// How deep a tree may be: far above what people write, far below what overflows a stack.
const MAX_DEPTH: usize = 64;

/// Nodes that hold a list of statements.
const LISTS: &[&str] = &[
    "program",
    "subshell",
    "compound_statement",
    "do_group",
    "if_statement",
    "elif_clause",
    "else_clause",
    "while_statement",
    "command_substitution",
    "process_substitution",
];

/// Other nodes between whose children bash skips newlines.
const BLOCKS: &[&str] = &[
    "for_statement",
    "case_statement",
    "case_item",
    "function_definition",
];

/// Nodes whose children are one word, so that nothing may stand between them.
const GLUED: &[&str] = &[
    "concatenation",
    "simple_expansion",
    "variable_assignment",
    "translated_string",
    "brace_expression",
];

/// Nodes whose text `words` reads itself, or that leave a doubt of their own.
const OWN_TEXT: &[&str] = &[
    "string",
    "heredoc_body",
    "expansion",
    "arithmetic_expansion",
    "array",
    "subscript",
];

/// Says whether bash cuts `source` the way the tree does, or why not.
pub(super) fn matches_bash(root: Node, source: &str) -> Result<(), String> {
    let outside = [&source[..root.start_byte()], &source[root.end_byte()..]];
    if root.has_error() || !outside.iter().all(|text| is_blank(text)) {
        return Err("it is not bash that can be understood".to_string());
    }
    if !continuations_stand_apart(source) {
        return Err("a backslash joins two of its lines in the middle of a word".to_string());
    }
    check(root, source)
}

/// Whether a blank stands in front of each backslash that joins two lines. Bash joins them before it looks for words,
/// substitutions and comments, the grammar after it: `"$\` and `(rm x)"` on the next line run `rm x`.
fn continuations_stand_apart(source: &str) -> bool {
    source.match_indices("\\\n").all(|(at, _)| {
        let mut before = source[..at].chars().rev();
        before.next().is_none_or(|c| c == ' ' || c == '\t') && before.next() != Some('\\')
    })
}

/// Whether a tree is deeper than is followed. When it is not, everything else may recurse on it.
pub(super) fn is_too_deep(node: Node, depth: usize) -> bool {
    let mut cursor = node.walk();
    depth > MAX_DEPTH
        || node
            .children(&mut cursor)
            .any(|child| is_too_deep(child, depth + 1))
}

fn check(node: Node, source: &str) -> Result<(), String> {
    if !leaf_is_sound(node, source) {
        return Err(two_ways(&source[node.byte_range()]));
    }
    let mut cursor = node.walk();
    let children: Vec<_> = node.children(&mut cursor).collect();
    let is_heredoc = node.kind() == "heredoc_redirect";
    if is_heredoc && heredoc_ends_there(&children, source).is_none() {
        return Err("its heredoc can be read in two ways".to_string());
    }
    // The last two children of a heredoc are its body and its end, which stand on lines of their own.
    let on_line = if is_heredoc {
        &children[..children.len() - 2]
    } else {
        &children[..]
    };
    if !OWN_TEXT.contains(&node.kind()) {
        on_line
            .windows(2)
            .try_for_each(|pair| gap(node, pair[0], pair[1], source))?;
    }
    children
        .into_iter()
        .try_for_each(|child| check(child, source))
}

/// Checks the text of the nodes that the grammar cuts out by a pattern of its own.
fn leaf_is_sound(node: Node, source: &str) -> bool {
    let text = &source[node.byte_range()];
    match node.kind() {
        "word" | "number" | "variable_name" if node.child_count() == 0 => !has_bare_blank(text),
        "regex" | "extglob_pattern" => !text.contains(['$', '`', ' ', '\t', '\n', '\\', '"', '\'']),
        // Two backquotes in a row: an empty substitution, or the end of one and the start of the next.
        "``" => false,
        "expansion" => !has_inner_quotes(node, source),
        "ansi_c_string" => quotes::ansi_c(text).is_some(),
        // Bash starts a comment only where a word could start.
        "comment" => source[..node.start_byte()]
            .chars()
            .next_back()
            .is_none_or(|c| " \t\n;&|()".contains(c)),
        // Backquotes end at the next one, even between quotes, and bash removes backslashes before it reads the command.
        "command_substitution" => {
            text.starts_with("$(") || (!text.contains('\\') && text.matches('`').count() == 2)
        }
        _ => true,
    }
}

/// Whether `${x:-'…'}` holds single quotes: between double quotes and in a heredoc they quote nothing, so that bash runs
/// the substitutions in them. Also true of what the grammar takes for plain text in spite of a `$` or a backquote.
fn has_inner_quotes(node: Node, source: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| match child.kind() {
        "raw_string" | "ansi_c_string" => true,
        "word" => source[child.byte_range()].contains(['$', '`', '\'']),
        "command_substitution" | "process_substitution" => false,
        _ => has_inner_quotes(child, source),
    })
}

/// Checks what stands between two children.
fn gap(parent: Node, before: Node, after: Node, source: &str) -> Result<(), String> {
    let kind = parent.kind();
    let between = &source[before.end_byte().min(after.start_byte())..after.start_byte()];
    let blank = between.replace("\\\n", "");
    let is_comment = |node: Node| node.kind() == "comment";
    let fine = if !is_blank(&blank) {
        false
    } else if GLUED.contains(&kind) {
        between.is_empty()
    } else if blank.contains('\n') {
        let operator_before = !before.is_named() || is_comment(before);
        LISTS.contains(&kind)
            || BLOCKS.contains(&kind)
            || (matches!(kind, "list" | "pipeline") && operator_before)
    } else if LISTS.contains(&kind) {
        // Two statements need a newline or an operator between them.
        !before.is_named() || !after.is_named() || is_comment(after)
    } else {
        !blank.is_empty() || !is_one_word(before, after, source)
    };
    if fine {
        Ok(())
    } else {
        Err(two_ways(&source[before.start_byte()..after.end_byte()]))
    }
}

/// Whether two neighbours without a blank between them are one word to bash.
fn is_one_word(before: Node, after: Node, source: &str) -> bool {
    let cuts = |c: char| " \t\n;&|()<>".contains(c);
    let last = source[before.byte_range()].chars().next_back();
    let first = source[after.byte_range()].chars().next();
    !last.is_none_or(cuts) && !first.is_none_or(cuts)
}

/// Finds the end of a heredoc as bash does: `None` unless the tree ends it there and shows all its substitutions.
fn heredoc_ends_there(children: &[Node], source: &str) -> Option<()> {
    let [line @ .., body, end] = children else {
        return None;
    };
    let start = line.iter().find(|child| child.kind() == "heredoc_start")?;
    let written = &source[start.byte_range()];
    let line_end = line.last()?.end_byte();
    let newline = line_end + source[line_end..].find('\n')?;
    let one_line =
        !source[start.end_byte()..line_end].contains('\n') && is_blank(&source[line_end..newline]);
    if !one_line
        || written.contains(['$', '`'])
        || body.kind() != "heredoc_body"
        || end.kind() != "heredoc_end"
    {
        return None;
    }
    let delimiter = written.replace(['\'', '"', '\\'], "");
    let tabs = line.iter().any(|child| child.kind() == "<<-");
    let mut at = newline + 1;
    let text = source.get(at..)?;
    for line in text.split('\n') {
        if delimiter
            == if tabs {
                line.trim_start_matches('\t')
            } else {
                line
            }
        {
            let shows_all = delimiter != written
                || no_hidden_substitution(*body, &source[newline..at], newline);
            return (shows_all && at + line.len() == end.end_byte()).then_some(());
        }
        at += line.len() + 1;
    }
    None
}

/// Whether each `$(`, `${`, `$[` and backquote of a heredoc's text lies in a child of its body.
fn no_hidden_substitution(body: Node, text: &str, offset: usize) -> bool {
    let mut cursor = body.walk();
    let known: Vec<_> = body
        .named_children(&mut cursor)
        .filter(|child| child.kind() != "heredoc_content")
        .collect();
    let opens = |at: usize| {
        text[at..].starts_with(['`'])
            || ["$(", "${", "$["].iter().any(|s| text[at..].starts_with(s))
    };
    text.char_indices()
        .filter(|(at, _)| opens(*at))
        .all(|(at, _)| {
            let at = at + offset;
            known.iter().any(|child| child.byte_range().contains(&at))
        })
}

/// Whether a word contains a blank that no backslash protects. To bash other spaces than these three are letters, so
/// that the grammar's wider notion of a space would cut words that bash does not cut.
fn has_bare_blank(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|c| {
        let bare = c.is_whitespace() && (!escaped || c == '\n');
        escaped = c == '\\' && !escaped;
        bare
    })
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\n'))
}

fn two_ways(text: &str) -> String {
    let shown: String = text.chars().take(60).collect();
    format!("`{shown}` can be read in two ways")
}
