//! Provenance: the commit this was built from. Never fails; a build outside git says so.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Where git keeps them: in a worktree not below this folder.
    for name in ["HEAD", "logs/HEAD"] {
        let path = Command::new("git").args(["rev-parse", "--git-path", name]).output();
        let path = path.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
        if std::path::Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let git = Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"]).output();
    let git = git
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo:rustc-env=RIGEL_GIT={}", git.as_deref().unwrap_or("unknown"));
}
