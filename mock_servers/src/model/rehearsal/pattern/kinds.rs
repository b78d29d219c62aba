//! What the words of a request look like: a path, a number, a kind of file, the key of an issue.
//!
//! Invariant: how a word looks is judged without asking the file system.

use crate::model::rehearsal::tokens::Token;
use crate::model::rehearsal::words;

/// Whether a token looks like a file or a directory.
pub fn is_path(token: &Token) -> bool {
    let text = token.text;
    let plain = |text: &str| {
        !text.is_empty() && text.len() < 256 && !text.contains(['\n', '"', '<', '>', '|', '*'])
    };
    if !plain(text)
        || text.contains("://")
        || token.is_any(words::NO_PATHS)
        || files(text).is_some() && text.starts_with('.')
    {
        return false;
    }
    if !token.quoted && (matches!(text, "." | ".." | "~") || known_file(text).is_some()) {
        return true;
    }
    let name = text.rsplit('/').next().unwrap_or(text);
    let spaced = text.contains(' ');
    has_extension(name) || text.contains('/') && !spaced
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ext)| {
        let word =
            (1..=12).contains(&ext.len()) && ext.starts_with(|c: char| c.is_ascii_alphabetic());
        let alone = stem.is_empty() && ext.len() > 2;
        word && ext
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            && (!stem.is_empty() && !stem.ends_with(' ') || alone)
    })
}

/// A directory: a path without extension, or a bare word that is no word for `here`.
pub(super) fn is_place(token: &Token) -> bool {
    let bare = |token: &Token| {
        let idle = [words::FILLERS, words::HERE, words::PRONOUNS];
        !idle.iter().any(|words| token.is_any(words)) && files(token.text).is_none()
    };
    let name = token.text.trim_end_matches('/');
    let is_file =
        has_extension(name.rsplit('/').next().unwrap_or(name)) || known_file(name).is_some();
    token.text.ends_with('/') || !is_file && (is_path(token) || bare(token))
}

pub(super) fn is_code(path: &str) -> bool {
    let ext = path.rsplit_once('.').map_or("", |(_, ext)| ext);
    words::CODE.contains(&ext)
}

/// `TEA-12`.
pub fn is_key(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else {
        return false;
    };
    let is_project = project.len() > 1 && project.bytes().all(|c| c.is_ascii_uppercase());
    is_project && !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

/// A short piece of writing of this kind.
pub fn piece(kind: &str) -> Option<&'static str> {
    let mut pieces = words::PIECES.iter();
    let piece = pieces.find(|(known, _)| kind.eq_ignore_ascii_case(known));
    piece.map(|(_, text)| *text)
}

/// The file a token names.
pub fn named_file<'a>(token: &Token<'a>) -> &'a str {
    known_file(token.text).unwrap_or(token.text)
}

/// The file a name without extension stands for.
pub fn known_file(word: &str) -> Option<&'static str> {
    words::KNOWN_FILES
        .iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known))
        .map(|(_, file)| *file)
}

/// The number a token stands for, in digits.
pub fn number<'a>(token: &Token<'a>) -> Option<&'a str> {
    if token.text.len() < 7 && token.text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(token.text);
    }
    words::NUMBERS
        .iter()
        .find(|(word, _)| token.is(word))
        .map(|(_, digits)| *digits)
}

/// The pattern and the label of a kind of file: `python`, `.rs`, `*.md`.
pub fn files(word: &str) -> Option<(String, String)> {
    let ext = word.strip_prefix("*.").or_else(|| word.strip_prefix('.'));
    let known = words::KINDS
        .iter()
        .find(|(name, _, _)| ext.unwrap_or(word).eq_ignore_ascii_case(name));
    match (known, ext) {
        (Some((_, pattern, label)), _) => Some((pattern.to_string(), label.to_string())),
        (None, Some(ext)) if word.starts_with('*') => {
            Some((format!("*.{ext}"), format!("*.{ext} files")))
        }
        (None, _) => None,
    }
}
