//! Tests of factors: levels, ranges, combinations and placeholders.

use super::*;

fn factor(text: &str) -> FactorLevels {
    FactorLevels::parse(text).unwrap()
}

#[test]
fn levels_are_lists_and_ranges() {
    for (text, expected) in [
        ("size=1,2,4", Ok("1 2 4")),
        ("size=1..4", Ok("1 2 3 4")),
        ("size=0..100+25", Ok("0 25 50 75 100")),
        ("size=1..10*2", Ok("1 2 4 8")),
        ("size=1..4,16", Ok("1 2 3 4 16")),
        ("path=../a,/b..c", Ok("../a /b..c")),
        ("share=90%,10%", Ok("90% 10%")),
        ("size=", Err("factor `size` has no levels")),
        ("size", Err("factor `size` has no levels")),
        ("size=1,,2", Err("factor `size` has no levels")),
        ("size=1,1", Err("factor `size` has the level `1` twice")),
        ("a={b}", Err("the level `{b}` of factor `a` names a factor: levels are plain values")),
        ("2=1", Err("`2` is not a name of a factor")),
        ("size=4..1", Err("`4..1` is not a range")),
        ("size=1..x", Err("`1..x` is not a range")),
        ("size=0..8*2", Err("`0..8*2` is not a range")),
        ("size=1..8*1", Err("`1..8*1` is not a range")),
        ("size=1..9999999999", Err("`1..9999999999` has more than 256 levels")),
    ] {
        match (FactorLevels::parse(text), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.levels.join(" "), expected, "{text}"),
            (Err(found), Err(part)) => {
                assert!(found.to_string().starts_with(part), "{text}: {found}");
                assert!(!found.advice().is_empty());
            }
            (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn combinations_vary_last_factor_fastest() {
    let all = combine_levels(&[factor("a=1,2"), factor("b=x,y")]).unwrap();
    let all: Vec<String> = all.iter().map(|it| format_levels(it)).collect();
    assert_eq!(all, ["a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y"]);
    let many = combine_levels(&[factor("a=1..100"), factor("b=1..100")]).unwrap_err();
    assert_eq!(
        many.to_string(),
        "the factors have 10000 combinations, and at most 256 are measured: 100 of a, 100 of b"
    );
    let same = combine_levels(&[factor("a=1"), factor("a=2")]).unwrap_err();
    assert_eq!(same, FactorError::RepeatedName("a".to_owned()));
}

#[test]
fn placeholders_are_filled() {
    let levels = [("size", "4"), ("n", "x y")]
        .map(|(factor, level)| FactorLevel { factor: factor.into(), level: level.into() });
    for (text, expected) in [
        ("-s {size} {n}", Ok("-s 4 x y")),
        ("{size}{size}", Ok("44")),
        ("{{size}} {1} {print $1} a{3}", Ok("{size} {1} {print $1} a{3}")),
        ("{ {size}", Ok("{ 4")),
        ("{", Ok("{")),
        ("{print}", Err("`{print}` names no factor: the factors are size, n")),
    ] {
        let found = fill_placeholders(text, &levels).map_err(|it| it.to_string());
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
    }
    assert_eq!(placeholders("{a} {{b}} {c}").collect::<Vec<_>>(), ["a", "c"]);
}
