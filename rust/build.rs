//! Gives the program the versions it was built with, for `/runtime` (C3).

use std::{env, fs, process::Command};

fn main() {
    let compiler = env::var("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(compiler).arg("--version").output().expect("rustc runs");
    let text = String::from_utf8(output.stdout).expect("rustc prints UTF-8");
    let rust = text.split_whitespace().nth(1).expect("`rustc 1.95.0 (…)`");
    println!("cargo::rustc-env=RUST_VERSION={rust}");

    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock is committed");
    for (package, variable) in [("axum", "AXUM_VERSION"), ("mysql_async", "MYSQL_ASYNC_VERSION")] {
        println!("cargo::rustc-env={variable}={}", locked(&lock, package));
    }
    println!("cargo::rerun-if-changed=Cargo.lock");
}

fn locked<'a>(lock: &'a str, package: &str) -> &'a str {
    let head = format!("name = \"{package}\"\nversion = \"");
    let (_, rest) = lock.split_once(&head).expect("the package is locked");
    rest.split('"').next().expect("a version ends with a quote")
}
