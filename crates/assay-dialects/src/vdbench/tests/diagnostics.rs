//! Tests of every diagnostic with its location.

use super::super::attributes::UNAPPLIED;
use super::super::keywords::{DefinitionKind, KeywordSupport};
use super::*;

const USUAL: &str = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n";
const RUN: &str = "rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n";

/// Returns `code line:column` of all diagnostics, errors or not.
fn codes(text: &str) -> Vec<String> {
    let found = match compile_text(text) {
        Ok(execution) => execution.notes,
        Err(found) => found,
    };
    found
        .iter()
        .map(|one| match &one.location {
            Some(place) => format!("{} {}:{}", one.code, place.line, place.column),
            None => one.code.to_owned(),
        })
        .collect()
}

#[test]
fn every_diagnostic_has_its_location() {
    let usual = |more: &str| format!("{USUAL}{more}\n{RUN}");
    let run = |more: &str| format!("{USUAL}rd=rd1,wd=wd1{more}\n");
    let whole = |storage: &str, workload: &str| format!("{storage}\n{workload}\n{RUN}");
    let sd = "sd=sd1,lun=/a,size=1g";
    let table = [
        ("include=missing".to_owned(), "V101 1:9"),
        (usual("wd=wd2,sd=$name"), "V103 3:11"),
        (usual("wd=wd2,sd=sd1,xfersize=(4k, 50)"), "V110 3:28"),
        (usual("wd=wd2,sd=sd1, rdpct=50"), "V110 3:16"),
        (usual("wd=wd2,sd=sd1,nonsense"), "V111 3:15"),
        (usual("wd=wd2,sd=(sd1"), "V112 3:11"),
        (usual("wd=wd2,sd=\"sd1"), "V112 3:11"),
        (usual("wd=wd2,sd=sd1,xfresize=4k"), "V113 3:15"),
        (usual("wd=wd2,sd=sd1,hotband=(1,2)"), "V114 3:15"),
        (usual("wd=wd2,sd=sd1,rdpct=(50,words)"), "V123 3:25"),
        (run(",iorate=(100,curve),elapsed=10,interval=1"), "V120 3:15"),
        (run(",iorate=max,forthreads=(1-8),elapsed=10,interval=1"), "V121 3:38"),
        (usual("wd=wd2,sd=(sd-1)"), "V121 3:12"),
        (run(",iorate=max,forthreads=(8-1,2),elapsed=10,interval=1"), "V122 3:38"),
        (usual("wd=wd2,sd=sd1,rdpct=5x"), "V123 3:21"),
        (whole(sd, "wd=wd1,sd=x*"), "V130 2:11"),
        (whole(sd, "wd=wd1,sd=sd2"), "V131 2:11"),
        (format!("fsd=fsd1,anchor=/a\n{USUAL}{RUN}"), "V140 1:5"),
        (format!("wd=wd1,sd=sd1\n{sd}\n{RUN}"), "V141 2:4"),
        (whole(&format!("{sd}\n{sd}"), "wd=wd1,sd=sd1"), "V142 2:4"),
        (whole("sd=sd1,lun=/dev/x", "wd=wd1,sd=sd1"), "V150 1:4"),
        (whole("sd=sd1,lun=/a", "wd=wd1,sd=sd1"), "V151 1:4"),
        (whole("sd=sd1,lun=/dev/x,size=2g,openflags=directio", "wd=wd1,sd=sd1"), "V152 1:4"),
        (whole("sd=sd1,lun=/a,size=4k", "wd=wd1,sd=sd1"), "V153 1:4"),
        (usual("wd=wd2,sd=sd1,xfersize=1000"), "V154 3:15"),
        (usual("wd=wd2,sd=sd1,xfersize=(4k,50,8k,40)"), "V155 3:15"),
        (run(",elapsed=10,interval=1"), "V160 3:4"),
        (run(",iorate=max,elapsed=1,interval=1"), "V161 3:4"),
        (run(",iorate=max,elapsed=10,interval=3"), "V162 3:4"),
        (
            format!(
                "{sd}\nwd=wd1,sd=sd1,skew=50\nwd=wd2,sd=sd1,skew=20\nrd=r,wd=*,iorate=9,el=9,in=1"
            ),
            "V164 4:4",
        ),
    ];
    for (text, expected) in table {
        let found = codes(&text);
        assert!(found.iter().any(|code| code == expected), "{text}\n{found:?}");
    }
}

#[test]
fn rejects_nested_include() {
    let files = HashMap::from([
        (PathBuf::from("dir/file"), b"include=second".to_vec()),
        (PathBuf::from("dir/second"), b"include=third".to_vec()),
    ]);
    let found = compile(&files, &input("dir/file")).unwrap_err();
    assert_eq!(found.len(), 1, "{}", render(&found));
    assert_eq!(found[0].code, "V102");
    assert_eq!(found[0].location.as_ref().map(|place| place.file.as_str()), Some("dir/second"));
}

#[test]
fn reports_missing_value_or_file_once() {
    let found = compile_text(&format!("{USUAL}wd=wd2,sd=sd1,xfersize=$xs,rdpct=!rd\n{RUN}"))
        .unwrap_err();
    let places: Vec<_> =
        found.iter().map(|one| (one.code, one.location.as_ref().unwrap().column)).collect();
    assert_eq!(places, [("V103", 24), ("V103", 34)], "{}", render(&found));
    let found = compile_text("include=/none/x\n").unwrap_err();
    expect_test::expect![[r#"
        error[V101]: cannot read the file `/none/x`: entity not found
          --> file:1:9
           | include=/none/x
           |         ^^^^^^^
          help: tried `/none/x`
          vdbench: stops
    "#]]
    .assert_eq(&render(&found));
}

#[test]
fn reports_observed_vdbench_behaviour() {
    // Each behaviour was observed with 5.04.06.
    let table = [
        ("xfersize=(4k,big)", "leaves it out of the list"),
        ("xfersize=4q", "stops"),
        ("xfersize=1000", "takes it for a file"),
        ("rdpct=150", "takes it as it is"),
    ];
    for (parameter, does) in table {
        let found =
            compile_text(&format!("{USUAL}wd=wd2,sd=sd1,{parameter}\n{RUN}")).unwrap_err();
        assert_eq!(found[0].vdbench.as_deref(), Some(does), "{}", render(&found));
    }
}

#[test]
fn diagnostic_shows_location_help_and_vdbench_behaviour() {
    let found = compile_text(&format!("{USUAL}wd=wd2,sd=sd1,xfresize=4k\n{RUN}")).unwrap_err();
    expect_test::expect![[r#"
        error[V113]: `xfresize` is not a parameter of a workload definition (wd)
          --> file:3:15
           | wd=wd2,sd=sd1,xfresize=4k
           |               ^^^^^^^^
          help: did you mean `xfersize`?
          vdbench: stops
    "#]]
    .assert_eq(&render(&found));
}

/// A keyword of the table that no definition applies would be ignored silently.
#[test]
fn every_supported_keyword_is_applied() {
    let kinds = [
        (DefinitionKind::General, ""),
        (DefinitionKind::Host, "hd=hd1,"),
        (DefinitionKind::Storage, "sd=sd2,lun=/b,"),
        (DefinitionKind::Workload, "sd=sd2,lun=/b\nwd=wd2,"),
        (DefinitionKind::FileSystem, "fsd=fsd1,anchor=/c,"),
        (DefinitionKind::FileWorkload, "fsd=fsd1,anchor=/c\nfwd=fwd1,"),
        (DefinitionKind::Run, "sd=sd2,lun=/b\nwd=wd2,sd=sd2\nrd=rd2,"),
    ];
    for (kind, start) in kinds {
        let supported = kind.keywords().iter().filter(|it| it.support == KeywordSupport::Full);
        for keyword in supported {
            let text = format!("{start}{}=1\n", keyword.spelled);
            let found = match compile_text(&text) {
                Ok(execution) => execution.notes,
                Err(found) => found,
            };
            let unapplied = found.iter().find(|it| it.message.contains(UNAPPLIED));
            assert!(unapplied.is_none(), "{text}: {unapplied:?}");
        }
    }
}
