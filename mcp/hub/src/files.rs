//! The files that a question names, read by the hub so that an agent need not be let near them.
//!
//! Invariants: nothing outside the allowed roots is read, whatever the links on the way; a file that is no text, or too
//! large to be read whole, is described instead.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::context::{Focus, Piece};

/// The largest file that is read whole, and of a log how much of its end.
const LARGEST: u64 = 4 << 20;
/// Where a file shows whether it is text.
const SAMPLE: usize = 8 << 10;

/// The files that may be read.
#[derive(Clone, Debug)]
pub struct Files {
    /// Without links.
    roots: Vec<PathBuf>,
}

impl Files {
    /// Those below these directories.
    ///
    /// # Errors
    /// A root that is not there.
    pub fn below(roots: &[PathBuf]) -> Result<Self, String> {
        let real = |root: &PathBuf| {
            let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
            fs::canonicalize(root).map_err(|error| format!("roots: {}: {error}", root.display()))
        };
        Ok(Self {
            roots: roots.iter().map(real).collect::<Result<_, _>>()?,
        })
    }

    /// Reads `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`; a relative path begins at the first root.
    ///
    /// # Errors
    /// Why it must not or cannot be read.
    pub fn read(&self, name: &str) -> Result<Piece, String> {
        let (path, lines) = split(name);
        let title = kit::cut(&kit::one_line(path), 200);
        let wrong = |why: &dyn std::fmt::Display| format!("{title}: {why}");
        let base =
            self.roots.first().ok_or_else(|| wrong(&"no file may be read: there are no roots"))?;
        let real = fs::canonicalize(base.join(path)).map_err(|error| wrong(&error))?;
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            let roots: Vec<_> = self.roots.iter().map(|root| root.display().to_string()).collect();
            return Err(wrong(&format!("it is not below {}", roots.join(" or "))));
        }
        // Not through a link that has come in between; a pipe must not hold up the hub.
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(&real);
        let mut file = file.map_err(|error| wrong(&error))?;
        let about = file.metadata().map_err(|error| wrong(&error))?;
        let moved = fs::metadata(&real)
            .map_or(true, |now| (now.dev(), now.ino()) != (about.dev(), about.ino()));
        if !about.is_file() || moved {
            return Err(wrong(&"it is no file"));
        }
        let is_log = lines.is_none() && real.extension().is_some_and(|suffix| suffix == "log");
        let content = content(&mut file, about.len(), is_log).map_err(|error| wrong(&error))?;
        let title = if is_log && about.len() > LARGEST {
            format!("{title} (its last {} MiB)", LARGEST >> 20)
        } else {
            title
        };
        let focus = match lines {
            Some((from, to)) => Focus::Lines(from, to),
            None if is_log => Focus::End,
            None => Focus::Start,
        };
        Ok(match content {
            Ok(text) => Piece { title, text, focus },
            Err(text) => Piece {
                title,
                text,
                focus: Focus::Start,
            },
        })
    }
}

/// The path, and the lines that are meant.
fn split(name: &str) -> (&str, Option<(usize, usize)>) {
    let found = name.rsplit_once(':').and_then(|(path, lines)| {
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        let (from, to) = (from.parse().ok()?, to.parse().ok()?);
        (from > 0 && from <= to).then_some((path, Some((from, to))))
    });
    found.unwrap_or((name, None))
}

/// The text of a file; or, as the error, its description.
fn content(file: &mut File, size: u64, is_log: bool) -> std::io::Result<Result<String, String>> {
    let kib = size.div_ceil(1024);
    if size > LARGEST && is_log {
        file.seek(SeekFrom::End(-(LARGEST.cast_signed())))?;
    }
    let whole = size <= LARGEST || is_log;
    let most = if whole { LARGEST } else { SAMPLE as u64 };
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let odd = String::from_utf8_lossy(sample).matches('\u{fffd}').count();
    if sample.contains(&0) || odd > sample.len() / 20 {
        let first: Vec<_> = sample.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let first = first.join(" ");
        return Ok(Err(format!(
            "[a binary file of {kib} KiB that begins with {first}; not shown]"
        )));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if !whole {
        let first = text.lines().next().unwrap_or_default();
        return Ok(Err(format!(
            "[a text of {kib} KiB, too large to be read; its first line: {}]",
            kit::cut(first, 200)
        )));
    }
    Ok(Ok(text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_lies_below_a_root_is_read_whatever_leads_there() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "key").unwrap();
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/plan.md"), "one\ntwo\n").unwrap();
        symlink("sub/plan.md", at("inner")).unwrap();
        symlink(outside.path(), at("out")).unwrap();
        symlink(outside.path().join("secret"), at("sub/link")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let files = Files::below(&[root.path().to_owned()]).unwrap();
        let piece = files.read("sub/plan.md:2-9").unwrap();
        assert_eq!((piece.text.as_str(), piece.focus), ("one\ntwo\n", Focus::Lines(2, 9)));
        assert_eq!(files.read("inner").unwrap().text, "one\ntwo\n");
        let secret = outside.path().join("secret").display().to_string();
        for name in ["out/secret", "sub/link", "../", "/etc/passwd", &secret] {
            let error = files.read(name).unwrap_err();
            assert!(error.contains("it is not below"), "{error}");
        }
        for name in ["pipe", "sub"] {
            assert_eq!(files.read(name).unwrap_err(), format!("{name}: it is no file"));
        }
        assert!(files.read("gone.md").unwrap_err().starts_with("gone.md: No such file"));
    }

    #[test]
    fn what_cannot_be_shown_is_described() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("a.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
        let line = "a line of a file that is too large\n";
        let large = line.repeat(LARGEST as usize / line.len() + 2) + "the end\n";
        fs::write(at("large.txt"), &large).unwrap();
        fs::write(at("large.log"), &large).unwrap();
        fs::write(at("latin.txt"), b"caf\xe9 und mehr als zwanzig Zeichen").unwrap();
        let files = Files::below(&[root.path().to_owned()]).unwrap();
        let text = |name: &str| files.read(name).unwrap().text;
        assert_eq!(
            text("a.png"),
            "[a binary file of 1 KiB that begins with 89 50 4e 47 0d 0a 1a 0a; not shown]"
        );
        assert!(
            text("large.txt")
                .starts_with("[a text of 4097 KiB, too large to be read; its first line: a line")
        );
        let log = files.read("large.log").unwrap();
        assert!(log.focus == Focus::End && log.text.ends_with("the end\n"));
        assert!(text("latin.txt").starts_with("caf\u{fffd} und"));
    }
}
