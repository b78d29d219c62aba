//! The course as its manifests describe it: members, chapters, and which chapter is diffed against which.
//!
//! All commands ask the same questions of a chapter (its base, its text of a carried file), so they are answered here.
//! Invariant: chapters are in order, and a base is always an earlier chapter; a manifest that says otherwise has none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use toml::Table;

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
    /// What its `Cargo.toml` says for this tool.
    pub metadata: Metadata,
    /// The members, in the order in which it names them.
    pub members: Vec<Member>,
    /// The members that are chapters, in order.
    pub chapters: Vec<Chapter>,
}

/// The workspace's own `Cargo.toml`, as far as it matters here.
#[derive(Deserialize)]
struct Root {
    workspace: RootTable,
}

#[derive(Deserialize)]
struct RootTable {
    members: Vec<String>,
    #[serde(default)]
    metadata: Metadata,
}

/// `[workspace.metadata]`.
#[derive(Default, Deserialize)]
pub struct Metadata {
    /// What `cargo x features` allows: `schemars from s19_mcp_plugin`.
    #[serde(default)]
    pub rebuilt: Vec<String>,
    /// Written by `cargo x start`: which `chapter` is built in this copy.
    #[serde(default)]
    pub started: BTreeMap<String, String>,
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
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// 4 for `s04_hooks`.
    #[serde(skip)]
    pub number: u32,
    /// The crate's name, which is its folder too.
    #[serde(skip)]
    pub name: String,
    /// The mechanism it adds, in a word or a phrase.
    pub adds: String,
    /// The chapter it is diffed against, as written; see [`Workspace::base`].
    pub base: Option<String>,
    /// The mechanisms (names of chapters) that its `main.rs` leaves out.
    #[serde(default)]
    pub rests: Vec<String>,
    /// How long the lesson takes.
    pub minutes: u32,
    /// Which of its new files a reader begins with.
    #[serde(default)]
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
        let root = folder.ancestors().find(is_root);
        let root =
            root.context("this folder is in no Cargo workspace; run it inside the course")?;
        Self::new(root.to_owned(), Tree::read(root)?)
    }

    /// Reads the manifests of `tree`.
    ///
    /// # Errors
    /// When one is missing, is not TOML, or does not say what a chapter has to say.
    pub fn new(root: PathBuf, tree: Tree) -> Result<Self> {
        let Root { workspace } = parse(&tree, "Cargo.toml")?;
        let member = |dir: String| {
            let manifest = parse(&tree, &format!("{dir}/Cargo.toml"))?;
            Ok(Member { dir, manifest })
        };
        let members = workspace.members.into_iter().map(member);
        let members = members.collect::<Result<Vec<_>>>()?;
        let mut chapters = Vec::new();
        for member in &members {
            chapters.extend(Chapter::read(member)?);
        }
        chapters.sort_by_key(|chapter| chapter.number);
        let ws = Self {
            root,
            tree,
            metadata: workspace.metadata,
            members,
            chapters,
        };
        let mut later = ws.chapters.iter().skip(1);
        if let Some(chapter) = later.find(|chapter| ws.base(chapter).is_none()) {
            let path = chapter.path("Cargo.toml");
            bail!("{path}: the chapter names no earlier chapter as its base; write base = \"…\"");
        }
        Ok(ws)
    }

    /// The chapter that a person means by `s04`, `4` or `s04_hooks`.
    ///
    /// # Errors
    /// When there is none: one sentence that names those that exist.
    pub fn chapter(&self, wanted: &str) -> Result<&Chapter> {
        let number: Option<u32> = wanted.strip_prefix('s').unwrap_or(wanted).parse().ok();
        let mut chapters = self.chapters.iter();
        let meant = chapters.find(|it| it.name == wanted || Some(it.number) == number);
        let known: Vec<_> = self.chapters.iter().map(|it| it.name.as_str()).collect();
        let known = known.join(", ");
        meant.with_context(|| format!("there is no chapter {wanted:?}; the chapters are {known}"))
    }

    /// The earlier chapter that `chapter` is diffed against. The first chapter has none.
    pub fn base(&self, chapter: &Chapter) -> Option<&Chapter> {
        let (number, name) = (chapter.number, chapter.base.as_ref()?);
        let mut earlier = self.chapters.iter().filter(|it| it.number < number);
        earlier.find(|base| &base.name == name)
    }

    /// The chapters that come later than `chapter`.
    pub fn after(&self, chapter: &Chapter) -> impl Iterator<Item = &Chapter> {
        let number = chapter.number;
        self.chapters.iter().filter(move |it| it.number > number)
    }

    /// The carried files of all chapters: whose, which, and the text.
    pub fn carried(&self) -> impl Iterator<Item = (&Chapter, &'static str, &str)> {
        let chapters = self.chapters.iter();
        let all = chapters.flat_map(|chapter| CARRIED.map(|file| (chapter, file)));
        all.filter_map(|(chapter, file)| Some((chapter, file, self.text(chapter, file)?)))
    }

    /// The text of a file in the folder of `chapter`.
    pub fn text(&self, chapter: &Chapter, file: &str) -> Option<&str> {
        self.tree.text(&chapter.path(file))
    }

    /// The chapter whose copy of a carried file `chapter` runs: its own, or that of its base, and so on
    /// (copy on change).
    pub fn carrier<'a>(&'a self, chapter: &'a Chapter, file: &str) -> Option<&'a Chapter> {
        let mut bases = std::iter::successors(Some(chapter), |chapter| self.base(chapter));
        bases.find(|chapter| self.text(chapter, file).is_some())
    }

    /// The chapter from which `chapter` has a carried file, or would have it without a copy of its own.
    pub fn origin(&self, chapter: &Chapter, file: &str) -> Option<&Chapter> {
        self.carrier(self.base(chapter)?, file)
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
    fn read(member: &Member) -> Result<Option<Self>> {
        let Some(number) = chapter_number(&member.dir) else {
            return Ok(None);
        };
        let package = member.manifest.get("package");
        let course = package.and_then(|package| package.get("metadata")?.get("course"));
        let course = course.cloned().unwrap_or(Table::new().into());
        let place = || format!("{}/Cargo.toml: package.metadata.course", member.dir);
        let chapter = course.try_into().with_context(place)?;
        Ok(Some(Self {
            number,
            name: member.dir.clone(),
            ..chapter
        }))
    }
}

/// 4 for `s04_hooks`; nothing for a name that is not a chapter's.
pub fn chapter_number(name: &str) -> Option<u32> {
    let (digits, word) = name.strip_prefix('s')?.split_once('_')?;
    let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number && !word.is_empty())
}

fn parse<T: serde::de::DeserializeOwned>(tree: &Tree, path: &str) -> Result<T> {
    let text = tree.text(path).with_context(|| {
        format!("there is no {path}; the workspace's Cargo.toml names its folder as a member")
    })?;
    toml::from_str(text).with_context(|| format!("reading {path}"))
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
        let error = ws.chapter("s21").unwrap_err().to_string();
        let known = "there is no chapter \"s21\"; the chapters are s01_loop, s02_tools";
        assert_eq!(error, known);
        assert_eq!(chapter_number("s04_hooks"), Some(4));
        for name in ["s4_hooks", "s04", "s04_", "sXX_loop", "mock_servers", "s"] {
            assert_eq!(chapter_number(name), None, "{name}");
        }
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
    fn what_a_chapter_has_to_say_is_said_or_missed() {
        for (course, missed) in [
            ("base = \"s01_loop\"", "missing field `adds`"),
            ("adds = \"a\"\nbase = \"s02_tools\"", "names no earlier chapter as its base"),
            ("adds = \"a\"\nbase = \"s01_loop\"\nmore = 1", "unknown field `more`"),
        ] {
            let manifest = fixture::manifest("s02_tools", course, "");
            let tree = fixture::tree(&[("s02_tools/Cargo.toml", &manifest)]);
            let error = Workspace::new(PathBuf::new(), tree).err().unwrap();
            let error = format!("{error:#}");
            assert!(
                error.starts_with("s02_tools/Cargo.toml: ") && error.contains(missed),
                "{error}"
            );
        }
    }
}
