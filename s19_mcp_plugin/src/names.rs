//! Names in the pool: `mcp__server__tool`, whatever the server calls its tools.
//!
//! The API takes letters, digits, `_` and `-`, 128 of them; servers use any characters, so two names may become one.
//! Invariants: a name belongs to one tool of one server; it depends on what is connected, in whatever order; when two tools
//! would share a plain name, neither gets it, so no call reaches the wrong tool.

use std::collections::{HashMap, HashSet};

/// The most characters the API takes.
pub const MAX_NAME: usize = 128;

/// The name with every character that the API does not take replaced by `_`.
pub fn normalize_mcp_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if allowed(c) { c } else { '_' }).collect()
}

/// The names in the pool of all these tools, each given with its server, in the same order.
pub(crate) fn names_in_pool(tools: &[(&str, &str)]) -> Vec<String> {
    let plain = tools.iter().map(|(server, tool)| plain(server, tool));
    let plain: Vec<String> = plain.collect();
    let mut owners = HashMap::new();
    let mut disputed = HashSet::new();
    for (name, tool) in plain.iter().zip(tools) {
        if *owners.entry(name.as_str()).or_insert(tool) != tool {
            disputed.insert(name.as_str());
        }
    }
    let is_taken =
        |name: &str| name.len() > MAX_NAME || disputed.contains(name) || ends_like_a_suffix(name);
    let names = plain.iter().zip(tools);
    names
        .map(
            |(name, (server, tool))| {
                if is_taken(name) { with_suffix(name, server, tool) } else { name.clone() }
            },
        )
        .collect()
}

fn plain(server: &str, tool: &str) -> String {
    let (server, tool) = (normalize_mcp_name(server), normalize_mcp_name(tool));
    format!("mcp__{server}__{tool}")
}

/// Whether the name could be one that another tool gets.
fn ends_like_a_suffix(name: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.rsplit_once('_').is_some_and(|(_, end)| end.len() == 16 && end.bytes().all(is_hex))
}

/// The name, cut to its place, and what tells its tool from all others.
fn with_suffix(name: &str, server: &str, tool: &str) -> String {
    let suffix = format!("_{:016x}", fingerprint(&format!("{server}\0{tool}")));
    // A name is ASCII by now.
    let kept = name.len().min(MAX_NAME - suffix.len());
    format!("{}{suffix}", &name[..kept])
}

/// FNV-1a. The same in every run and every version, which the standard library promises of none of its hashers.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_api_does_not_take_becomes_an_underscore() {
        for (name, normal) in [
            ("docs", "docs"),
            ("get-version_2", "get-version_2"),
            ("my server", "my_server"),
            ("a.b/c:d", "a_b_c_d"),
            ("größe", "gr__e"),
            ("日本", "__"),
            ("a\nb\u{1b}[31m", "a_b__31m"),
            ("", ""),
        ] {
            assert_eq!(normalize_mcp_name(name), normal);
        }
    }

    #[test]
    fn two_that_would_share_a_name_both_get_a_suffix_in_whatever_order_they_come() {
        for (one, two) in [
            (("docs", "a b"), ("docs", "a.b")),
            (("my docs", "get"), ("my_docs", "get")),
            (("a", "b__c"), ("a__b", "c")),
        ] {
            let [forward, backward] = [[one, two], [two, one]].map(|both| names_in_pool(&both));
            assert_ne!(forward[0], forward[1]);
            assert_eq!([&forward[0], &forward[1]], [&backward[1], &backward[0]]);
            let plain = plain(one.0, one.1);
            let starts = |name: &String| name.starts_with(&format!("{plain}_"));
            assert!(forward.iter().all(starts), "{forward:?}");
        }
        let (a, b, c) = (("docs", "a b"), ("docs", "a.b"), ("docs", "other"));
        let names = names_in_pool(&[a, b, c]);
        assert_eq!(names[2], "mcp__docs__other", "the others keep theirs");
        assert_eq!(names[0], "mcp__docs__a_b_41390fb2845364f7", "in every run");
        let with_suffix = names_in_pool(&[("docs", "a_b_41390fb2845364f7"), a, b]);
        assert_eq!(with_suffix[1..], names[..2]);
        assert_ne!(with_suffix[0], names[0], "nobody has it in advance");
    }

    #[test]
    fn a_long_name_is_cut_and_still_its_own_and_others_are_plain() {
        let long = ["a", "b"].map(|end| format!("{}{end}", "x".repeat(199)));
        let names = names_in_pool(&[("docs", &long[0]), ("docs", &long[1])]);
        assert_ne!(names[0], names[1]);
        for name in names {
            assert_eq!(name.len(), MAX_NAME);
            assert!(name.starts_with("mcp__docs__xxx"), "{name}");
        }
        let just_fits = "x".repeat(MAX_NAME - "mcp__docs__".len());
        // One that is listed twice disputes nothing.
        for tools in [&[&*just_fits][..], &["search", "get_version"], &["search"; 2]] {
            let listed: Vec<_> = tools.iter().map(|tool| ("docs", *tool)).collect();
            let plain = tools.iter().map(|tool| format!("mcp__docs__{tool}"));
            assert_eq!(names_in_pool(&listed), plain.collect::<Vec<_>>());
        }
    }
}
