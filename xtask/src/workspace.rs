//! The course as its manifests describe it: members, chapters, and which chapter is diffed against which.
//!
//! All commands ask the same questions of a chapter (its base, its text of a carried file), so they are answered here.
//! Invariant: chapters are in order, and a base is always an earlier chapter; a manifest that says otherwise has none.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::tree::Tree;

/// The file that every chapter carries: the agent's loop.
pub const MAIN: &str = "src/main.rs";
/// The file that a chapter carries only when it changes the teammate's loop.
pub const TEAMMATE: &str = "src/teammate.rs";
/// The number of the chapter that puts everything together.
pub const LAST: u32 = 20;
/// All carried files.
pub const CARRIED: [&str; 2] = [MAIN, TEAMMATE];

/// A checkout of the course.
pub struct Workspace {
    /// The folder that holds the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// All files.
    pub tree: Tree,
    /// The workspace's own `Cargo.toml`.
    pub manifest: Table,
    /// The members, in the order in which it names them.
    pub members: Vec<Member>,
    /// The members that are chapters, in order.
    pub chapters: Vec<Chapter>,
}

/// One crate of the workspace.
pub struct Member {
    /// Its folder, relative to the root.
    pub dir: String,
    /// Its `Cargo.toml`.
    pub manifest: Table,
}

impl Member {
    /// The name of its package.
    pub fn package(&self) -> Option<&str> {
        self.manifest.get("package")?.get("name")?.as_str()
    }
}

/// A chapter and what its `[package.metadata.course]` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Chapter {
    /// 4 for `s04_hooks`.
    pub number: u32,
    /// The crate's name, which is its folder too.
    pub name: String,
    /// The mechanism it adds, in a word or a phrase.
    pub adds: Option<String>,
    /// The chapter it is diffed against, as written; see [`Workspace::base`].
    pub base: Option<String>,
    /// The mechanisms (names of chapters) that its `main.rs` leaves out.
    pub rests: Vec<String>,
    /// How long the lesson takes.
    pub minutes: Option<i64>,
    /// Which of its new files a reader begins with.
    pub read: Vec<String>,
    /// What a student writes who builds the mechanism: files, and functions of files (`src/plan.rs::new`).
    pub start: Vec<String>,
}

impl Workspace {
    /// Reads the workspace that `folder` is in.
    ///
    /// # Errors
    /// When there is none, or a file of it cannot be read.
    pub fn find(folder: &Path) -> Result<Self> {
        let is_root = |folder: &&Path| {
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.contains("[workspace]"))
        };
        let here = folder.display();
        let root = folder.ancestors().find(is_root);
        let root = root.with_context(|| {
            format!("{here} is in no Cargo workspace; run this inside the course")
        })?;
        Self::new(root.to_owned(), Tree::read(root)?)
    }

    /// Reads the manifests of `tree`.
    ///
    /// # Errors
    /// When one is missing or is not TOML.
    pub fn new(root: PathBuf, tree: Tree) -> Result<Self> {
        let manifest = parse(&tree, "Cargo.toml")?;
        let listed = manifest
            .get("workspace")
            .and_then(|workspace| workspace.get("members"));
        let member = |dir: String| {
            let manifest = parse(&tree, &format!("{dir}/Cargo.toml"))?;
            Ok(Member { dir, manifest })
        };
        let members = names(listed)
            .into_iter()
            .map(member)
            .collect::<Result<Vec<_>>>()?;
        let mut chapters: Vec<_> = members.iter().filter_map(Chapter::read).collect();
        chapters.sort_by_key(|chapter| chapter.number);
        Ok(Self {
            root,
            tree,
            manifest,
            members,
            chapters,
        })
    }

    /// The chapter that a person means by `s04`, `4` or `s04_hooks`.
    ///
    /// # Errors
    /// When there is none: one sentence that names those that exist.
    pub fn chapter(&self, wanted: &str) -> Result<&Chapter> {
        let number: Option<u32> = wanted.strip_prefix('s').unwrap_or(wanted).parse().ok();
        let mut chapters = self.chapters.iter();
        let meant = chapters.find(|it| it.name == wanted || Some(it.number) == number);
        meant.with_context(|| {
            let known: Vec<_> = self.chapters.iter().map(|it| it.name.as_str()).collect();
            format!(
                "there is no chapter {wanted:?}; the chapters are {}",
                known.join(", ")
            )
        })
    }

    /// The earlier chapter that `chapter` is diffed against. The first chapter has none.
    pub fn base(&self, chapter: &Chapter) -> Option<&Chapter> {
        let name = chapter.base.as_ref()?;
        self.chapters
            .iter()
            .find(|base| &base.name == name && base.number < chapter.number)
    }

    /// The chapters that come later than `chapter`.
    pub fn after(&self, chapter: &Chapter) -> impl Iterator<Item = &Chapter> {
        let number = chapter.number;
        self.chapters
            .iter()
            .filter(move |later| later.number > number)
    }

    /// The text of a file in the folder of `chapter`.
    pub fn text(&self, chapter: &Chapter, file: &str) -> Option<&str> {
        self.tree.text(&chapter.path(file))
    }

    /// The chapter whose copy of a carried file `chapter` runs: its own, or that of its base, and so on
    /// (copy on change).
    pub fn carrier<'a>(&'a self, chapter: &'a Chapter, file: &str) -> Option<&'a Chapter> {
        std::iter::successors(Some(chapter), |chapter| self.base(chapter))
            .find(|chapter| self.text(chapter, file).is_some())
    }
}

impl Chapter {
    /// The path of one of the chapter's files in the workspace.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.name)
    }

    /// `s04` for `s04_hooks`: how a person calls it.
    pub fn short(&self) -> &str {
        &self.name[..3]
    }

    /// The member as a chapter, when its folder is named like one.
    fn read(member: &Member) -> Option<Self> {
        let package = member.manifest.get("package");
        let course = package.and_then(|package| package.get("metadata")?.get("course"));
        let entry = |key: &str| course.and_then(|course| course.get(key));
        let text = |key: &str| entry(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            number: chapter_number(&member.dir)?,
            name: member.dir.clone(),
            adds: text("adds"),
            base: text("base"),
            rests: names(entry("rests")),
            minutes: entry("minutes").and_then(Value::as_integer),
            read: names(entry("read")),
            start: names(entry("start")),
        })
    }
}

/// 4 for `s04_hooks`; nothing for a name that is not a chapter's.
pub fn chapter_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('s')?.get(..2)?;
    let named = name.get(3..4) == Some("_") && name.len() > 4;
    if named && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

fn parse(tree: &Tree, path: &str) -> Result<Table> {
    let Some(text) = tree.text(path) else {
        bail!("there is no {path}; the workspace's Cargo.toml names its folder as a member");
    };
    text.parse().with_context(|| format!("reading {path}"))
}

/// The texts of an array; none without one.
pub fn names(value: Option<&Value>) -> Vec<String> {
    let array = value.and_then(Value::as_array);
    let texts = array.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn a_chapter_is_found_by_its_number_its_short_name_and_its_name() {
        let ws = fixture::course(&[]);

        for wanted in ["2", "02", "s02", "s2", "s02_tools"] {
            assert_eq!(ws.chapter(wanted).unwrap().name, "s02_tools");
        }
    }

    #[test]
    fn an_unknown_chapter_is_answered_with_those_that_exist() {
        let ws = fixture::course(&[]);

        let error = ws.chapter("s21").unwrap_err().to_string();

        assert_eq!(
            error,
            "there is no chapter \"s21\"; the chapters are s01_loop, s02_tools"
        );
    }

    #[test]
    fn a_chapter_without_a_carried_file_runs_the_last_one_of_its_bases() {
        let ws = fixture::course(&[("s01_loop/src/teammate.rs", "//! The teammate.\n")]);
        let tools = ws.chapter("s02").unwrap();

        assert_eq!(ws.carrier(tools, TEAMMATE).unwrap().name, "s01_loop");
        assert_eq!(ws.carrier(tools, MAIN).unwrap().name, "s02_tools");
        assert_eq!(ws.carrier(tools, "src/hooks.rs"), None);
    }

    #[test]
    fn a_base_that_comes_later_is_no_base() {
        let manifest = fixture::manifest("s01_loop", "base = \"s02_tools\"", "");
        let ws = fixture::course(&[("s01_loop/Cargo.toml", &manifest)]);

        assert_eq!(ws.base(ws.chapter("s01").unwrap()), None);
    }

    #[test]
    fn a_folder_is_a_chapter_by_its_name() {
        assert_eq!(chapter_number("s04_hooks"), Some(4));
        for name in ["s4_hooks", "s04", "s04_", "sXX_loop", "mock_servers", "s"] {
            assert_eq!(chapter_number(name), None, "{name}");
        }
    }
}
