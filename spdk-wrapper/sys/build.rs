//! Finds SPDK, compiles the shim, generates the bindings and says how to link, each rule with its reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What Rigel uses of SPDK; pkg-config adds what these need.
const PACKAGES: [&str; 16] = [
    "spdk_nvme",
    "spdk_init",
    "spdk_event_bdev",
    "spdk_env_dpdk",
    "spdk_sock_posix",
    "spdk_sock_uring",
    "spdk_vfio_user",
    "spdk_bdev_malloc",
    "spdk_bdev_null",
    "spdk_bdev_delay",
    "spdk_bdev_iscsi",
    "spdk_bdev_nvme",
    "spdk_bdev_aio",
    "spdk_bdev_uring",
    "spdk_bdev_error",
    "spdk_bdev_raid",
];

/// Functions the wrapper calls; everything else of SPDK stays out of the bindings.
const FUNCTIONS: &str = "rigel_.*|spdk_(dma_zmalloc|dma_free)|spdk_thread_(lib_fini|create|exit|poll|is_exited|destroy)\
|spdk_(set|get)_thread|spdk_subsystem_(init|load_config|fini)|spdk_put_io_channel\
|spdk_bdev_(open_ext|close|desc_get_bdev|get_io_channel|read_blocks|write_blocks|unmap_blocks|write_zeroes_blocks|flush_blocks|io_type_supported|free_io|get_block_size|get_num_blocks|get_name|get_product_name)\
|spdk_nvme_ctrlr_(process_admin_completions|get_ns|get_num_ns|is_active_ns|free_io_qpair|connect_io_qpair|get_first_active_ns|get_next_active_ns)\
|spdk_nvme_ns_(get_sector_size|get_extended_sector_size|get_num_sectors|get_max_io_xfer_size|is_active|cmd_read|cmd_write|cmd_dataset_management|cmd_write_zeroes|cmd_flush|get_flags|get_md_size)\
|spdk_nvme_qpair_(is_connected|process_completions)|spdk_nvme_poll_group_(create|add|remove|destroy|process_completions)\
|spdk_rpc_set_state";

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for name in ["SPDK_DIR", "SPDK_SRC", "XDG_CACHE_HOME", "HOME"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    for file in ["csrc/shim.c", "csrc/shim.h", "build.rs", "../../scripts/setup.sh"] {
        println!("cargo:rerun-if-changed={file}");
    }
    let root = spdk_root(&manifest);
    // A build that was removed or made anew must be noticed.
    println!("cargo:rerun-if-changed={}", root.join(".rigel-finished").display());
    let tree = Tree::at(&root);
    compile_shim(&tree);
    generate_bindings(&tree, &out);
    link(&tree, &out);
    println!("cargo:version={}", tree.version());
}

/// Ends the build with a message a person can act on, not with a backtrace.
fn fail(message: &str) -> ! {
    panic!("\n\n    {message}\n")
}

/// The SPDK to use, as `scripts/setup.sh` (which put it there) tells.
fn spdk_root(manifest: &Path) -> PathBuf {
    let script = manifest.join("../../scripts/setup.sh");
    let output = Command::new("bash").arg(&script).arg("--where").output();
    match output {
        Ok(output) if output.status.success() => PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()),
        Ok(output) => fail(&format!(
            "SPDK was not found. Run:  scripts/setup.sh\n    ({})\n    Or build without it:  cargo build --no-default-features",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
        Err(error) => fail(&format!("cannot run bash {}: {error}", script.display())),
    }
}

/// Where things are in a built tree (`build/…`, submodules beside) or in an installation prefix.
struct Tree {
    root: PathBuf,
    pkgconfig: PathBuf,
    include: PathBuf,
    lib: PathBuf,
}

impl Tree {
    fn at(root: &Path) -> Self {
        let base = if root.join("build/lib/pkgconfig").is_dir() { root.join("build") } else { root.to_owned() };
        Self {
            root: root.to_owned(),
            pkgconfig: base.join("lib/pkgconfig"),
            include: base.join("include"),
            lib: base.join("lib"),
        }
    }

    fn version(&self) -> String {
        let text = fs::read_to_string(self.include.join("spdk/version.h")).unwrap_or_default();
        let number = |name: &str| {
            text.lines()
                .find_map(|l| l.strip_prefix(&format!("#define {name}")).map(|v| v.trim().to_owned()))
                .unwrap_or_default()
        };
        let minor = number("SPDK_VERSION_MINOR");
        format!("{}.{minor:0>2}", number("SPDK_VERSION_MAJOR"))
    }

    /// Link arguments of all packages and of what they need, in order.
    fn pkg_config(&self) -> Vec<String> {
        let output = Command::new("pkg-config")
            .args(["--libs", "--static"])
            .args(PACKAGES)
            .args(["spdk_dpdklibs", "spdk_syslibs"])
            .env("PKG_CONFIG_PATH", &self.pkgconfig)
            .output();
        match output {
            Ok(output) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect()
            }
            Ok(output) => fail(&format!(
                "pkg-config does not find SPDK's packages in {}: {}",
                self.pkgconfig.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            )),
            Err(error) => fail(&format!("pkg-config cannot be run ({error}); scripts/setup.sh installs it")),
        }
    }
}

fn compile_shim(tree: &Tree) {
    cc::Build::new()
        .file("csrc/shim.c")
        .include(&tree.include)
        .opt_level(2)
        .warnings(true)
        .extra_warnings(false)
        .compile("rigel_shim");
}

fn generate_bindings(tree: &Tree, out: &Path) {
    let bindings = bindgen::Builder::default()
        .header("csrc/shim.h")
        .clang_arg(format!("-I{}", tree.include.display()))
        .allowlist_function(FUNCTIONS)
        .allowlist_type("spdk_nvme_cpl|spdk_nvme_ns_flags|spdk_bdev_io_type|rigel_.*")
        // Bit-field-heavy or packed types are only ever used behind a pointer.
        .opaque_type("spdk_nvme_(ctrlr_data|ns_data|cmd|ctrlr_opts|io_qpair_opts|transport_id)")
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .layout_tests(true)
        .generate_comments(false)
        .derive_debug(false)
        .generate();
    match bindings {
        Ok(bindings) => bindings.write_to_file(out.join("bindings.rs")).expect("OUT_DIR can be written"),
        Err(error) => {
            fail(&format!("bindgen failed: {error}; it needs libclang (scripts/setup.sh installs libclang-dev)"))
        }
    }
}

fn link(tree: &Tree, out: &Path) {
    let dpdk = tree.root.join("dpdk/build/lib");
    let vfio_user = tree.root.join("build/libvfio-user/usr/local/lib");
    // Copies of the archives that must not be taken from a folder with a shared library of the same name beside it:
    // rustc prefers neither, the linker the shared one, and the program then does not start.
    let mut folders: BTreeSet<PathBuf> =
        [&tree.lib, &dpdk, &vfio_user].into_iter().filter(|p| p.is_dir()).cloned().collect();
    let mut seen = BTreeSet::new();
    let mut system = Vec::new();
    for argument in tree.pkg_config() {
        if let Some(folder) = argument.strip_prefix("-L") {
            folders.extend(Some(PathBuf::from(folder)).filter(|p| p.is_dir()));
        } else if let Some(name) = argument.strip_prefix("-l") {
            if !seen.insert(name.to_owned()) {
                continue;
            }
            if name.starts_with("spdk_") || name.starts_with("rte_") {
                // Bus drivers, bdev modules, sock implementations, mempool handlers and subsystems register
                // themselves in constructors that nothing refers to: only whole archives keep them.
                println!("cargo:rustc-link-lib=static:+whole-archive,-bundle={name}");
            } else {
                system.push(name.to_owned());
            }
        } else if let Some(name) = archive_name(&argument) {
            // isa-l and isa-l-crypto are named by path.
            if seen.insert(name.clone()) {
                folders.extend(Path::new(&argument).parent().map(Path::to_owned));
                println!("cargo:rustc-link-lib=static:-bundle={name}");
            }
        }
    }
    for name in system {
        // libvfio-user is built static with the tree; everything else is the system's.
        let kind = if folders.iter().any(|f| f.join(format!("lib{name}.a")).is_file() && f.starts_with(&tree.root)) {
            "static:-bundle"
        } else {
            "dylib"
        };
        println!("cargo:rustc-link-lib={kind}={name}");
    }
    for folder in folders {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    println!("cargo:rustc-link-search=native={}", out.display());
}

fn archive_name(argument: &str) -> Option<String> {
    let file = Path::new(argument).file_name()?.to_str()?;
    Some(file.strip_prefix("lib")?.strip_suffix(".a")?.to_owned())
}
