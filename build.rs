//! Provenance: the commit this was built from. Never fails; a build outside git says so.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for path in [".git/HEAD", ".git/logs/HEAD"] {
        if std::path::Path::new(path).exists() {
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
