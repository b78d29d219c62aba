//! A place for a file: a name in a directory that is held open.
//!
//! Between the moment in which a path is followed and the one in which a file is opened, a command may put a link in the
//! way. So the directory is opened from `/` down, name by name, through no link at all, and what follows happens in that
//! directory and no other. Invariants: a place that was found lies where its path led, or there is none; a reader sees the
//! old file or the new one, never half of one.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use kit::fresh_suffix;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// The largest file that is opened to be read, in bytes.
const MAX_FILE: i64 = 100_000_000;

/// How a directory is opened. Linux needs no right to list it.
const DIRECTORY: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_CLOEXEC).union(
    #[cfg(target_os = "linux")]
    OFlag::O_PATH,
    #[cfg(not(target_os = "linux"))]
    OFlag::O_RDONLY,
);

/// A name in an open directory. There need not be a file of that name.
pub(crate) struct Place {
    directory: OwnedFd,
    name: OsString,
}

impl Place {
    /// The place of an absolute path that holds no link.
    ///
    /// # Errors
    /// When its directory is not there, or a link has taken the place of one on the way.
    pub(crate) fn find(path: &Path) -> Result<Self> {
        Self::walk(path, false)
    }

    /// The same; missing directories are created.
    ///
    /// # Errors
    /// When one cannot be created, or a link has taken the place of one.
    pub(crate) fn make(path: &Path) -> Result<Self> {
        Self::walk(path, true)
    }

    fn walk(path: &Path, makes_missing: bool) -> Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            bail!("it is a directory; name a file");
        };
        let mut directory = open("/", DIRECTORY, Mode::empty()).map_err(io::Error::from)?;
        for part in parent.components().skip(1) {
            directory = match step(&directory, part.as_ref()) {
                Err(Errno::ENOENT) if !makes_missing => bail!("there is no such file"),
                Err(Errno::ENOENT) => make(&directory, part.as_ref()),
                opened => opened,
            }
            .map_err(io::Error::from)?;
        }
        Ok(Self {
            directory,
            name: name.to_owned(),
        })
    }

    /// Whether there is something of this name.
    pub(crate) fn exists(&self) -> bool {
        self.look().is_ok_and(|found| found.is_some())
    }

    /// Opens a regular file to be read; a pipe or a device would keep the reader waiting for ever.
    ///
    /// # Errors
    /// When there is none, or one that is too large.
    pub(crate) fn open(&self) -> Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let found = self.look()?.context("there is no such file")?;
        match kind(&found) {
            SFlag::S_IFREG if found.st_size > MAX_FILE => {
                bail!("it has {} bytes; use head, tail or grep in bash", found.st_size)
            }
            SFlag::S_IFREG => {}
            SFlag::S_IFDIR => bail!("it is a directory; list it with glob or bash"),
            _ => bail!("it is not a regular file"),
        }
        let opened = openat(&self.directory, self.name.as_os_str(), flags, Mode::empty());
        let file = File::from(opened.map_err(io::Error::from)?);
        // Another file may have come in between.
        ensure!(file.metadata()?.is_file(), "it is not a regular file");
        Ok(file)
    }

    /// Replaces the content as a whole: it is written beside the file and moved into its place. The permissions of an old file
    /// stay. Returns whether there was one.
    ///
    /// # Errors
    /// When there is a directory of that name, or the file is read-only or cannot be written.
    pub(crate) fn write(&self, content: &[u8]) -> Result<bool> {
        let old = self.look()?;
        let is = |wanted| old.as_ref().is_some_and(|old| kind(old) == wanted);
        ensure!(!is(SFlag::S_IFDIR), "it is a directory; name a file");
        let mode = old.as_ref().filter(|_| is(SFlag::S_IFREG));
        let mode = mode.map(|old| Mode::from_bits_truncate(old.st_mode));
        let writable = Mode::S_IWUSR | Mode::S_IWGRP | Mode::S_IWOTH;
        ensure!(
            mode.is_none_or(|mode| mode.intersects(writable)),
            "it is read-only; change its permissions first if that is meant"
        );
        let beside = format!(".write-{}", fresh_suffix());
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        // The process's umask narrows this as it does for any new file.
        let new = Mode::from_bits_retain(0o666);
        let file = openat(&self.directory, beside.as_str(), flags, new).map_err(io::Error::from);
        let file = File::from(file.context("creating a file beside it")?);
        let moved = fill(file, mode, content).and_then(|()| {
            let (directory, name) = (&self.directory, self.name.as_os_str());
            Ok(renameat(directory, beside.as_str(), directory, name)?)
        });
        if moved.is_err() {
            let _ = unlinkat(&self.directory, beside.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        moved?;
        Ok(old.is_some())
    }

    /// What is there under this name, itself and not what it may point to.
    fn look(&self) -> Result<Option<FileStat>> {
        match fstatat(&self.directory, self.name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }
}

fn step(directory: &OwnedFd, name: &Path) -> nix::Result<OwnedFd> {
    openat(directory, name, DIRECTORY | OFlag::O_NOFOLLOW, Mode::empty())
}

fn make(directory: &OwnedFd, name: &Path) -> nix::Result<OwnedFd> {
    match mkdirat(directory, name, Mode::from_bits_retain(0o777)) {
        // Somebody else may have been quicker.
        Ok(()) | Err(Errno::EEXIST) => step(directory, name),
        Err(error) => Err(error),
    }
}

fn kind(found: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT
}

fn fill(mut file: File, mode: Option<Mode>, content: &[u8]) -> io::Result<()> {
    if let Some(mode) = mode {
        fchmod(&file, mode)?;
    }
    file.write_all(content)
}
