//! The folder in which the harness keeps what outlives it.
//!
//! Every chapter keeps something there, and none of it belongs into the user's repository. Invariants: nothing is created
//! before it is needed; git ignores all of it from the first folder on, and other users cannot read it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// The name of the state folder, in the working directory.
pub const STATE_DIR: &str = ".harness";

/// Creates a folder that is, or lies in, the state folder; only the user may read what it creates.
///
/// # Errors
/// When the folder or its `.gitignore` cannot be created.
pub fn make_state_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let is_state = |folder: &&Path| folder.ends_with(STATE_DIR);
    let Some(state) = folder.ancestors().find(is_state) else {
        return Ok(());
    };
    let ignore = state.join(".gitignore");
    let file = OpenOptions::new().write(true).create_new(true).open(ignore);
    match file {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn git_ignores_the_state_and_a_users_own_gitignore_stays() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join(STATE_DIR);
        make_state_folder(&state.join("tasks/damaged")).unwrap();
        assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "*\n");
        let mode = fs::metadata(&state).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "and other users do not look into it");
        fs::write(state.join(".gitignore"), "history\n").unwrap();
        make_state_folder(&state).unwrap();
        assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "history\n");
        assert!(!dir.path().join(".gitignore").exists());
    }
}
