//! Tests with valid and invalid crates of two modules.

use crate::sources::example;

/// Checks a crate with these texts in its root and in its modules `a` and `b`.
fn check(root: &str, a: &str, b: &str, expected: bool) {
    let sources = example::tree(&[
        ("x/Cargo.toml", "[package]\nname = \"x\""),
        ("x/src/lib.rs", &format!("mod a; mod b; {root}")),
        ("x/src/a.rs", &format!("mod child; {a}")),
        ("x/src/a/child.rs", ""),
        ("x/src/b.rs", b),
    ]);
    let found = super::check(&sources).unwrap();
    assert_eq!(!found.is_empty(), expected, "{found:?}\nroot: {root}\na: {a}\nb: {b}");
}

const A_TO_B: &str = "use crate::b::B;";

#[test]
fn accepts_one_way_imports() {
    check("", A_TO_B, "", false);
    check("", A_TO_B, "use std::fmt; use other::a::A;", false);
    check("", A_TO_B, "use self::a::A; mod a {}", false);
    check("", "use crate::a::child;", "use crate::b::B;", false);
    check("pub struct R;", A_TO_B, "use crate::R;", false);
}

#[test]
fn finds_every_form_of_import() {
    for back in [
        "use crate::a::A;",
        "use crate::{a::A, b};",
        "use crate::a as other;",
        "use crate::a::*;",
        "use super::a::A;",
        "fn f() { crate::a::f(); }",
        "fn f(a: crate::a::A) {}",
        "fn f() { println!(\"{}\", crate::a::f()); }",
        "macro_rules! m { () => { $crate::a::f() } }",
        "mod inner { use super::super::a::A; }",
        "impl crate::a::T for u8 {}",
    ] {
        check("", A_TO_B, back, true);
    }
}

#[test]
fn resolves_reexports_of_root() {
    check("pub use a::A;", A_TO_B, "use crate::A;", true);
    check("pub use crate::a::{A as C};", A_TO_B, "use crate::C;", true);
    check("use a::A;", A_TO_B, "fn f() { super::a::f(); }", true);
}

#[test]
fn ignores_imports_in_tests() {
    check("", A_TO_B, "#[cfg(test)] mod tests { use crate::a::A; }", false);
}

#[test]
fn reports_both_import_sites() {
    let sources = example::tree(&[
        ("x/Cargo.toml", "[package]\nname = \"x\""),
        ("x/src/main.rs", "mod a; mod b;"),
        ("x/src/a.rs", "\nuse crate::b::B;"),
        ("x/src/b.rs", "\n\nuse crate::a::A;"),
    ]);
    let found = super::check(&sources).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].path.as_str(), found[0].line), ("x/src/a.rs", 2));
    assert!(found[0].what.ends_with("at x/src/b.rs:3"), "{}", found[0].what);
}
