//! The workspace: the directory the agent works in, and the fence around it.
//!
//! A model writes paths from memory; `..`, absolute paths and symbolic links lead out of the project before anybody
//! notices. Invariant: a path that [`Workspace::resolve`] returns lies inside the workspace or in a directory that was
//! allowed by name, with every symbolic link on the way already followed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, RwLock};

use anyhow::{Context, Result, bail};
use kit::STATE_DIR;

/// The working directory of an agent, and where its file tools may reach. Clones share the allowed directories.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: Arc<Path>,
    /// The workspace whose state folder is used: this one, or the one it was moved from.
    home: Arc<Path>,
    /// A std lock: nothing is awaited while it is held.
    allowed: Arc<RwLock<Vec<PathBuf>>>,
}

impl Workspace {
    /// The current directory of the process.
    ///
    /// # Errors
    /// When that directory has been removed.
    pub fn here() -> Result<Self> {
        Self::at(std::env::current_dir().context("finding the current directory")?)
    }

    /// A workspace at this directory.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn at(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        let root = fs::canonicalize(root)
            .with_context(|| format!("opening the workspace {}", root.display()))?;
        let root: Arc<Path> = root.into();
        Ok(Self {
            home: Arc::clone(&root),
            root,
            allowed: Arc::default(),
        })
    }

    /// The same workspace with another directory to work in, such as a worktree: the state and the allowed directories
    /// stay shared.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn moved_to(&self, root: impl AsRef<Path>) -> Result<Self> {
        Ok(Self {
            home: Arc::clone(&self.home),
            allowed: Arc::clone(&self.allowed),
            ..Self::at(root)?
        })
    }

    /// The directory, absolute and without symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the folder that holds the harness's state.
    pub fn state(&self, name: &str) -> PathBuf {
        self.home.join(STATE_DIR).join(name)
    }

    /// Lets the file tools reach another directory, too. A relative one is taken from the workspace.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn allow_directory(&self, directory: &Path) -> Result<()> {
        let directory = self.root.join(directory);
        let directory = fs::canonicalize(&directory)
            .with_context(|| format!("allowing the directory {}", directory.display()))?;
        self.allowed.write().unwrap().push(directory);
        Ok(())
    }

    /// The file that a model means by this path. It need not exist yet.
    ///
    /// # Errors
    /// When the path leads out of the workspace, or through a link to nowhere.
    pub fn resolve(&self, path: &str) -> Result<PathBuf> {
        let resolved = self.follow(path)?;
        let allowed = self.allowed.read().unwrap();
        if resolved.starts_with(&self.root)
            || allowed.iter().any(|directory| resolved.starts_with(directory))
        {
            return Ok(resolved);
        }
        bail!("{path} is outside the workspace {}; use a path inside it", self.root.display())
    }

    /// The path as the model should see it: relative to the workspace where possible, `.` for the workspace itself.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root).unwrap_or(path) {
            inside if inside.as_os_str().is_empty() => ".".to_owned(),
            shown => shown.display().to_string(),
        }
    }

    /// Follows the path component by component, so that `link/..` means what it means to the system, and a part that
    /// does not exist yet cannot hide a link.
    fn follow(&self, path: &str) -> Result<PathBuf> {
        if path.trim().is_empty() || path.contains('\0') {
            bail!("the path is empty or holds a NUL character; name a file");
        }
        if path == "~" || path.starts_with("~/") {
            bail!("{path}: `~` means nothing here; use a path inside the workspace");
        }
        let mut current = self.root.to_path_buf();
        for component in Path::new(path).components() {
            match component {
                Component::Prefix(_) | Component::RootDir => {
                    current = PathBuf::from(component.as_os_str())
                }
                Component::CurDir => {}
                Component::ParentDir => {
                    current.pop();
                }
                Component::Normal(name) => {
                    current.push(name);
                    match fs::symlink_metadata(&current) {
                        Ok(found) if found.is_symlink() => {
                            current = fs::canonicalize(&current).with_context(|| {
                                format!("following the link {}", self.shown(&current))
                            })?;
                        }
                        Ok(_) => {}
                        Err(error)
                            if matches!(
                                error.kind(),
                                ErrorKind::NotFound | ErrorKind::NotADirectory
                            ) => {}
                        Err(error) => {
                            return Err(error).with_context(|| format!("looking at {path}"));
                        }
                    }
                }
            }
        }
        Ok(current)
    }
}
