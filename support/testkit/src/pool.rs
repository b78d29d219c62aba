//! Which tools a chapter's agents are offered, as its `tests/pool.txt` says.
//!
//! One list serves the class test, which holds it against what the model was sent, and whoever prints a chapter's tools.
//! Invariant: a chapter without the file offers what the chapter before it does, which its `Cargo.toml` names as `base`.

use std::fs;
use std::path::Path;

/// Where a chapter keeps its pool: a line for each agent, `lead: bash, read_file`.
const FILE: &str = "tests/pool.txt";
/// Set to `write`, a pool is written instead of being compared; `cargo x pool --write` does that.
const VARIABLE: &str = "POOL";

/// Asserts that the agents of the chapter in `folder`, which is `env!("CARGO_MANIFEST_DIR")`, are offered what its pool names.
///
/// # Panics
/// When they are not, and nobody asked to write it down.
#[track_caller]
pub fn assert_pool<'a>(folder: &str, offered: impl IntoIterator<Item = (&'a str, Vec<String>)>) {
    let folder = Path::new(folder);
    let line = |(agent, tools): (&str, Vec<String>)| format!("{agent}: {}\n", tools.join(", "));
    let now: String = offered.into_iter().map(line).collect();
    if std::env::var(VARIABLE).is_ok_and(|asked| asked == "write") {
        write(folder, &now);
    }
    let was = read(folder).unwrap_or_default();
    assert!(
        was == now,
        "the pool has changed; if that is meant, run: cargo x pool --write\n\nit was\n{was}\nand is\n{now}"
    );
}

/// Writes the pool into the chapter, unless the chapter before it has the same one.
fn write(folder: &Path, now: &str) {
    let own = folder.join(FILE);
    let written = match base(folder).and_then(|base| read(&base)) {
        Some(handed_on) if handed_on == now && own.exists() => fs::remove_file(own),
        Some(handed_on) if handed_on == now => Ok(()),
        _ => fs::write(own, now),
    };
    written.unwrap_or_else(|error| panic!("{}: {error}", folder.join(FILE).display()));
}

/// The chapter's own pool, or the one that it hands on.
fn read(folder: &Path) -> Option<String> {
    let own = fs::read_to_string(folder.join(FILE)).ok();
    own.or_else(|| read(&base(folder)?))
}

/// The folder of the chapter that this one is compared with.
fn base(folder: &Path) -> Option<std::path::PathBuf> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let mut lines = manifest.lines();
    let base = lines.find_map(|line| line.strip_prefix("base = \"")?.strip_suffix('"'))?;
    Some(folder.parent()?.join(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_the_chapter_s_own_or_handed_on() {
        let course = tempfile::tempdir().unwrap();
        let chapter = |name: &str| course.path().join(name);
        for (name, manifest) in [("s01", ""), ("s02", "base = \"s01\"\n")] {
            fs::create_dir_all(chapter(name).join("tests")).unwrap();
            fs::write(chapter(name).join("Cargo.toml"), manifest).unwrap();
        }
        assert_eq!(read(&chapter("s02")), None);

        write(&chapter("s01"), "lead: bash\n");
        write(&chapter("s02"), "lead: bash\n");
        assert!(!chapter("s02").join(FILE).exists());
        assert_eq!(read(&chapter("s02")).unwrap(), "lead: bash\n");

        write(&chapter("s02"), "lead: bash, glob\n");
        assert_eq!(read(&chapter("s02")).unwrap(), "lead: bash, glob\n");
        write(&chapter("s02"), "lead: bash\n");
        assert!(!chapter("s02").join(FILE).exists());
    }

    #[test]
    #[should_panic(expected = "cargo x pool --write\n\nit was\nlead: bash\n\nand is\nlead: glob\n")]
    fn another_pool_is_told_with_what_to_do() {
        let chapter = tempfile::tempdir().unwrap();
        fs::create_dir(chapter.path().join("tests")).unwrap();
        fs::write(chapter.path().join(FILE), "lead: bash\n").unwrap();
        let folder = chapter.path().to_str().unwrap();
        assert_pool(folder, [("lead", vec!["glob".to_owned()])]);
    }
}
