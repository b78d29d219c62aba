//! Programs of others that a test needs: installed once, below the target folder.
//!
//! They come from npm and pip in fixed versions, so that a test means the same next year.
//! Invariant: what cannot be installed is said in one line; half an installation is never taken for a whole one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// What is installed together, and with what.
pub struct Kit {
    /// Its folder, and what it is called in a message.
    pub name: &'static str,
    /// Tells the tests where it is; unset, they skip what needs it.
    pub variable: &'static str,
    /// With their versions.
    pub packages: &'static [&'static str],
    /// Without it the kit neither installs nor runs.
    pub program: &'static str,
    /// Installs the packages into the folder.
    pub install: fn(&Path, &[&str]) -> Result<(), String>,
}

/// The target folder, where this program lies: it outlives a clone's builds, and git ignores it.
///
/// # Errors
/// When this program cannot tell where it lies.
pub fn target() -> Result<PathBuf> {
    let own = std::env::current_exe().context("looking for the target folder")?;
    let target = own.ancestors().nth(2);
    Ok(target.context("looking for the target folder")?.to_owned())
}

/// Installs a kit that is not there in these versions. The list of its packages, written last, tells a whole
/// installation from half of one.
///
/// # Errors
/// Why it is not there, in one line.
pub fn prepare(kit: &Kit, home: &Path) -> Result<(), String> {
    // Also for a kit that is there: what it was installed with may be gone.
    succeed(Command::new(kit.program).arg("--version"))?;
    let mark = home.join("installed");
    let wanted = kit.packages.join("\n");
    if std::fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    let io = |error: std::io::Error| format!("{}: {error}", home.display());
    if home.exists() {
        std::fs::remove_dir_all(home).map_err(io)?;
    }
    std::fs::create_dir_all(home).map_err(io)?;
    (kit.install)(home, kit.packages)?;
    std::fs::write(mark, wanted).map_err(io)
}

/// With npm.
///
/// # Errors
/// What npm says is wrong, in one line.
pub fn install_node(home: &Path, packages: &[&str]) -> Result<(), String> {
    let install =
        "install --loglevel=error --no-audit --no-fund --ignore-scripts --fetch-retries=1";
    let mut npm = Command::new("npm");
    npm.args(install.split(' ')).arg("--prefix").arg(home);
    succeed(npm.args(packages))
}

/// With npm, and node among the packages: its own script fetches the program for this machine.
///
/// # Errors
/// What npm says is wrong, in one line.
pub fn install_node_itself(home: &Path, packages: &[&str]) -> Result<(), String> {
    install_node(home, packages)?;
    let npm = ["rebuild", "--loglevel=error", "node", "--prefix"];
    succeed(Command::new("npm").args(npm).arg(home))
}

/// With pip, in an environment of its own.
///
/// # Errors
/// What pip says is wrong, in one line.
pub fn install_python(home: &Path, packages: &[&str]) -> Result<(), String> {
    let install = "-m pip install --quiet --disable-pip-version-check --retries=1 --timeout=30";
    succeed(Command::new("python3").args(["-m", "venv"]).arg(home))?;
    let mut python = Command::new(home.join("bin/python"));
    succeed(python.args(install.split(' ')).args(packages))
}

/// Runs a command; why it failed is one line.
fn succeed(command: &mut Command) -> Result<(), String> {
    let program = Path::new(command.get_program()).file_name();
    let program = program
        .map(OsStr::to_string_lossy)
        .unwrap_or_default()
        .into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program} does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    // Advice and warnings stand around it; without a line that calls itself an error, the last one is the best there is.
    let error = said
        .lines()
        .find(|line| line.to_lowercase().contains("error"));
    let line = error
        .or(said.trim().lines().next_back())
        .unwrap_or("no word why");
    Err(format!(
        "{program} ended with {}: {}",
        output.status,
        line.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kit whose installation leaves a file, or fails.
    fn kit(
        packages: &'static [&'static str],
        install: fn(&Path, &[&str]) -> Result<(), String>,
    ) -> Kit {
        Kit {
            name: "kit",
            variable: "EXTERNAL_KIT",
            packages,
            program: "cargo",
            install,
        }
    }

    #[test]
    fn a_kit_whose_program_is_gone_is_skipped_although_it_is_installed() {
        let dir = tempfile::tempdir().unwrap();
        let mut kit = kit(&["a"], |_, _| Ok(()));
        prepare(&kit, dir.path()).unwrap();
        kit.program = "no-such-program";
        let why = prepare(&kit, dir.path()).unwrap_err();
        assert!(why.starts_with("no-such-program does not start"), "{why}");
    }

    #[test]
    fn a_kit_is_installed_once_and_again_in_other_versions() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("kit");
        let leaves_a_file = |home: &Path, packages: &[&str]| {
            std::fs::write(home.join(packages[0]), "").map_err(|error| error.to_string())
        };
        let fails = |_: &Path, _: &[&str]| Err("the registry is not there".to_owned());

        prepare(&kit(&["a@1"], leaves_a_file), &home).unwrap();
        prepare(&kit(&["a@1"], fails), &home).unwrap();
        let why = prepare(&kit(&["a@2"], fails), &home).unwrap_err();
        assert_eq!(why, "the registry is not there");
        assert!(!home.join("a@1").exists() && !home.join("installed").exists());
        prepare(&kit(&["a@2"], leaves_a_file), &home).unwrap();
        assert!(home.join("a@2").exists());
    }

    #[test]
    fn why_a_kit_is_missing_is_one_line() {
        let fails = |script: &str| succeed(Command::new("sh").arg("-c").arg(script)).unwrap_err();

        assert_eq!(
            fails(
                "echo some advice >&2; echo 'npm error code ENOTFOUND' >&2; echo more >&2; exit 1"
            ),
            "sh ended with exit status: 1: npm error code ENOTFOUND"
        );
        assert_eq!(fails("exit 3"), "sh ended with exit status: 3: no word why");
        let missing = succeed(&mut Command::new("no-such-program")).unwrap_err();
        assert!(
            missing.starts_with("no-such-program does not start: "),
            "{missing}"
        );
    }
}
