//! A file of the harness, written as a whole.
//!
//! Invariant: a reader sees the old file or the new one, never half of one, whatever kills the writer.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::fresh_suffix;

/// Replaces the content of a file of the harness as a whole: it is written beside it and moved into its place. The
/// permissions of an old file stay; missing directories are created.
///
/// # Errors
/// When the path is a directory, or the file is read-only or cannot be written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let directory = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    let old = match fs::symlink_metadata(path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    ensure!(!old.as_ref().is_some_and(fs::Metadata::is_dir), "it is a directory; name a file");
    let permissions = old.filter(fs::Metadata::is_file);
    let permissions = permissions.map(|old| old.permissions());
    ensure!(
        !permissions.as_ref().is_some_and(fs::Permissions::readonly),
        "it is read-only; change its permissions first if that is meant"
    );
    let beside = directory.join(format!(".write-{}", fresh_suffix()));
    let mut file = File::create_new(&beside).context("creating a file beside it")?;
    let moved = permissions
        .map_or(Ok(()), |permissions| file.set_permissions(permissions))
        .and_then(|()| file.write_all(content))
        .and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        let _ = fs::remove_file(&beside);
    }
    Ok(moved?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_and_keeps_its_permissions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/file");
        write_whole(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "nothing lies beside it");
    }

    #[test]
    fn a_directory_and_a_read_only_file_stay() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |path: &Path| write_whole(path, b"new").unwrap_err().to_string();
        assert_eq!(refused(dir.path()), "it is a directory; name a file");
        let path = dir.path().join("file");
        write_whole(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        assert!(refused(&path).starts_with("it is read-only; "));
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}
