//! Hands the version of SPDK on from `spdk-sys`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=RIGEL_SPDK_VERSION={}", std::env::var("DEP_SPDK_VERSION").unwrap_or_default());
}
