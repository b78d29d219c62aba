//! The modules stand on each other in one direction.
//!
//! Invariant: no module of the crate needs one that needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What the files of a module name behind `crate::`.
fn named(path: &Path) -> BTreeSet<String> {
    if path.is_dir() {
        return fs::read_dir(path)
            .unwrap()
            .flat_map(|entry| named(&entry.unwrap().path()))
            .collect();
    }
    let text = fs::read_to_string(path).unwrap();
    let names = text.split("crate::").skip(1);
    names
        .map(|rest| {
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn no_two_modules_need_each_other() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let module = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let paths = fs::read_dir(source).unwrap().map(|entry| entry.unwrap().path());
    let mut open: BTreeMap<String, BTreeSet<String>> =
        paths.map(|path| (module(&path), named(&path))).collect();
    let all: BTreeSet<String> = open.keys().cloned().collect();
    assert!(all.contains("understand") && open["act"].contains("understand"), "{open:?}");
    for (module, needs) in &mut open {
        let unknown: Vec<&String> = needs.difference(&all).collect();
        assert!(
            unknown.is_empty(),
            "{module} names {unknown:?}, which is no module: a root item goes into one"
        );
        needs.remove(module);
    }
    // Those that need nothing any more go, until none are left.
    while !open.is_empty() {
        let done: Vec<String> = open
            .iter()
            .filter(|(_, needs)| needs.is_empty())
            .map(|(name, _)| name.clone())
            .collect();
        assert!(!done.is_empty(), "these need each other: {open:?}");
        open.retain(|name, _| !done.contains(name));
        open.values_mut().for_each(|needs| needs.retain(|name| !done.contains(name)));
    }
}
