//! Tells the tests whether this machine has PostgreSQL, so that they are counted as skipped, with the reason, if not.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(postgres_installed)");
    // Each look builds everything anew. So not at every change of PATH, and at the folder around it only until it is there.
    let watched = ["/usr/lib/postgresql", "/usr/lib"].into_iter().find(|path| Path::new(path).exists());
    println!("cargo::rerun-if-changed={}", watched.unwrap_or("Cargo.toml"));
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let of_debian = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    if of_debian.chain(std::env::split_paths(&path)).any(|bin| bin.join("initdb").exists()) {
        println!("cargo::rustc-cfg=postgres_installed");
    }
}
