//! Where logins are kept: an encrypted file for each server, readable by its owner alone.
//!
//! ChaCha20-Poly1305 (RFC 8439) with a fresh nonce at every write; the server's address is authenticated with the content, so
//! that one server's file does not open as another's. The key is `MCP_CLIENT_KEY`, or stands in a file of its own; with the
//! feature `keyring` it is kept by the system (Keychain, Credential Manager, Secret Service), where there is no such file yet.
//! Invariant: a file is replaced whole or not at all, and no plain text is ever written.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

/// Bytes of a key.
const KEY: usize = 32;

/// A folder of encrypted files, made when the first login is kept.
pub struct Store {
    folder: PathBuf,
    key: Option<String>,
    /// The system keeps the key.
    #[cfg(feature = "keyring")]
    keyring: bool,
}

impl Store {
    /// The store in `folder`. `key` is 32 bytes in base64; without it the key stands in the file `key` of the folder.
    pub fn new(folder: &Path, key: Option<String>) -> Self {
        Self {
            folder: folder.to_owned(),
            key,
            #[cfg(feature = "keyring")]
            keyring: false,
        }
    }

    /// The user's store, with the key of the environment when there is one.
    pub fn usual(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let configuration = variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let home = || PathBuf::from(variable("HOME").unwrap_or_default()).join(".config");
        let folder = configuration.unwrap_or_else(home).join("mcp_client");
        Self {
            #[cfg(feature = "keyring")]
            keyring: true,
            ..Self::new(&folder, variable("MCP_CLIENT_KEY"))
        }
    }

    fn key(&self) -> Result<LessSafeKey> {
        let path = self.folder.join("key");
        let (text, from) = match &self.key {
            Some(key) => (key.clone(), "MCP_CLIENT_KEY".to_owned()),
            #[cfg(feature = "keyring")]
            None if self.keyring && !path.exists() => {
                (key_of_the_system()?, "the key in the system's keyring".to_owned())
            }
            None => (key_file(&path)?, path.display().to_string()),
        };
        let bytes = STANDARD.decode(text.trim()).unwrap_or_default();
        ensure!(
            bytes.len() == KEY,
            "{from} is not {KEY} bytes in base64; `openssl rand -base64 {KEY}` makes such a key"
        );
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| anyhow!("no key"))?;
        Ok(LessSafeKey::new(key))
    }

    fn make(&self) -> Result<()> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.with_context(|| format!("creating {}", self.folder.display()))
    }

    /// Reads what is kept for a server.
    ///
    /// # Errors
    /// When the file was written with another key, or by nobody of ours.
    pub fn load<T: DeserializeOwned>(&self, url: &str) -> Result<Option<T>> {
        let path = self.path(url);
        let mut bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
        };
        let key = self.key()?;
        let opened = bytes.split_at_mut_checked(NONCE_LEN).and_then(|(nonce, sealed)| {
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            key.open_in_place(nonce, Aad::from(url), sealed).ok()
        });
        let kept = opened.and_then(|plain| serde_json::from_slice(plain).ok());
        let why = || {
            format!(
                "{} cannot be decrypted: it was written with another key; log out to remove it",
                path.display()
            )
        };
        kept.map(Some).with_context(why)
    }

    /// Keeps this for a server.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save<T: Serialize>(&self, url: &str, kept: &T) -> Result<()> {
        self.make()?;
        let key = self.key()?;
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).context("no random numbers")?;
        let mut sealed = serde_json::to_vec(kept)?;
        let assumed = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(assumed, Aad::from(url), &mut sealed)
            .map_err(|_| anyhow!("the login is too large to be kept"))?;
        let path = self.path(url);
        let fresh = path.with_extension(kit::fresh_suffix());
        let written = private(&fresh).and_then(|mut file| {
            file.write_all(&[&nonce[..], &sealed].concat())?;
            file.sync_all()?;
            fs::rename(&fresh, &path)
        });
        written.with_context(|| format!("writing {}", path.display()))
    }

    /// Forgets a server. False when nothing was kept.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn remove(&self, url: &str) -> Result<bool> {
        match fs::remove_file(self.path(url)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).context("removing a login"),
        }
    }

    /// Waits until no other process refreshes this server's login; the lock is free again when it is dropped.
    ///
    /// # Errors
    /// When the lock cannot be taken.
    pub fn lock(&self, url: &str) -> Result<File> {
        self.make()?;
        let path = self.path(url).with_extension("lock");
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = file.with_context(|| format!("opening {}", path.display()))?;
        file.lock().with_context(|| format!("locking {}", path.display()))?;
        Ok(file)
    }

    fn path(&self, url: &str) -> PathBuf {
        let name: String =
            Sha256::digest(url).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name)
    }
}

fn fresh_key() -> Result<String> {
    let mut key = [0; KEY];
    getrandom::fill(&mut key).context("no random numbers")?;
    Ok(STANDARD.encode(key))
}

/// The key that the system keeps, put there when there is none.
#[cfg(feature = "keyring")]
fn key_of_the_system() -> Result<String> {
    use keyring::v1::{Entry, Error};
    let kept = || {
        let entry = Entry::new("mcp_client", "logins")?;
        match entry.get_password() {
            Err(Error::NoEntry) => {
                entry.set_password(
                    &fresh_key().map_err(|error| Error::PlatformFailure(error.into()))?,
                )?;
                entry.get_password()
            }
            kept => kept,
        }
    };
    kept().context("the system's keyring cannot be used; with MCP_CLIENT_KEY it is not needed")
}

/// The key of the file, written when there is none. Of two processes that begin at once one writes and both read.
fn key_file(path: &Path) -> Result<String> {
    let fresh = path.with_extension(kit::fresh_suffix());
    if !path.exists() {
        let key = fresh_key()?;
        let written = private(&fresh).and_then(|mut file| file.write_all(key.as_bytes()));
        // Unlike a rename a link fails when another process was first.
        let linked = written.and_then(|()| fs::hard_link(&fresh, path));
        let _ = fs::remove_file(&fresh);
        if let Err(error) = linked
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error).with_context(|| format!("writing {}", path.display()));
        }
    }
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)
}
