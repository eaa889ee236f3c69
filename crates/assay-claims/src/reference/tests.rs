//! Built-in references and those of users.

use super::*;

#[test]
fn published_figures_are_complete() {
    let claims = published_claims();
    assert_eq!(claims.len(), 1281);
    for claim in &claims {
        assert!(claim.quantity.value.is_finite(), "{claim:?}");
        assert_ne!(claim.quantity.unit, Unit::Count, "{claim:?}");
        assert!(!claim.source.is_empty() && !claim.system.is_empty(), "{claim:?}");
        if let Some(target) = &claim.of {
            assert_eq!(target.metric.unit, claim.quantity.unit, "{claim:?}");
        }
    }
    assert_eq!(claims.iter().filter(|claim| claim.is_suspect()).count(), 8);
    assert!(claims.iter().filter(|claim| claim.of.is_some()).count() > 900);
}

/// The headlines of HB and HC are the shortest single sample and the highest rate; neither is a
/// bound.
#[test]
fn best_figure_is_no_bound_but_range_end_is() {
    let claims = published_claims();
    let check = |system: &str, what: &str, printed: &str, expected: Qualifier| {
        let is_match =
            |it: &&Claim| it.system == system && it.what == what && it.printed == printed;
        let qualifiers: Vec<Qualifier> =
            claims.iter().filter(is_match).map(|it| it.qualifier).collect();
        assert!(
            !qualifiers.is_empty() && qualifiers.iter().all(|it| *it == expected),
            "{printed}: {qualifiers:?}"
        );
    };
    check("azure/hb", "RDMA, latency", "2.35 us", Qualifier::Best);
    check("azure/hb", "RDMA, bandwidth", "96.5 Gbit/s", Qualifier::Best);
    check("azure/hc", "perftest ib_send_lat -a, t min", "1.78 us", Qualifier::Best);
    check("azure/hb", "perftest ib_send_lat -a, t max", "12.63 us", Qualifier::Exactly);
    check("azure/hb", "STREAM, triad bandwidth", "32 GB/s", Qualifier::AtLeast);
    check("azure/hb", "STREAM, triad bandwidth", "33 GB/s", Qualifier::AtMost);
    check("azure/hbv4", "RDMA, latency", "2 us", Qualifier::AtMost);
    let bounds = claims.iter().filter(|it| it.qualifier == Qualifier::AtLeast);
    let time_bounds = bounds.filter(|it| it.quantity.unit == Unit::Second && it.of.is_some());
    assert_eq!(time_bounds.count(), 0, "at least so long is said of no time that decides");
}

#[test]
fn finds_system_by_type_name_only() {
    for (product, expected) in [
        ("Amazon EC2 c5n.18xlarge", Some("aws/c5n.18xlarge")),
        ("HB120rs_v3", Some("azure/hbv3")),
        ("Standard_HC44rs", Some("azure/hc")),
        ("Standard_HB60rs", Some("azure/hb")),
        ("Microsoft Azure Standard_HB120rs_v3", Some("azure/hbv3")),
        ("Microsoft Azure Virtual Machine", None),
        ("Microsoft Corporation Virtual Machine", None),
        ("QEMU Standard PC (Q35 + ICH9, 2009)", None),
        ("Azure", None),
        ("", None),
    ] {
        assert_eq!(find_system(product).as_deref(), expected, "{product}");
    }
}

#[test]
fn printed_figure_keeps_digits_and_unit() {
    let printed = |text: &str| {
        let claim = Claim { printed: text.to_owned(), ..published_claims().swap_remove(0) };
        claim.as_printed().map(|(number, unit)| format!("{number}|{unit}"))
    };
    assert_eq!(printed("26.90 MB/s"), Some("26.90|MB/s".to_owned()));
    assert_eq!(printed("260GB/s"), Some("260|GB/s".to_owned()));
    assert_eq!(printed("260k MB/s"), None);
    assert_eq!(printed("2.35 us"), None, "the unit of another quantity");
    assert!(published_claims().iter().all(|it| it.as_printed().is_some()));
}

#[test]
fn finds_system_and_suggests_nearest() {
    assert!(
        claims_for_system("azure/HBv4").unwrap().iter().all(|it| it.system == "azure/hbv4")
    );
    assert!(claims_for_system("aws/c5n.18xlarge").unwrap().len() > 600);
    let error_for = |name: &str| claims_for_system(name).unwrap_err().to_string();
    assert!(error_for("azure/hbv44").contains("mean azure/hbv4?"));
    let by_model = claims_for_system("HBv4").unwrap();
    assert_eq!(by_model.len(), claims_for_system("azure/hbv4").unwrap().len());
    assert_eq!(full_system_name("hbv4").as_deref(), Some("azure/hbv4"));
    assert_eq!((full_system_name("azure"), full_system_name("triad")), (None, None));
    assert!(error_for("azure/HB120rs_v3").contains("mean azure/hbv3?"));
    assert!(error_for("mi300x").contains("mean azure/nd96isr_mi300x_v5?"));
    assert!(!error_for("v5").contains("mean"), "too short to name a system");
}

#[test]
fn rate_maximum_and_suspect_claim_decide_nothing() {
    let claim = |qualifier, note: &str| Claim {
        qualifier,
        note: note.to_owned(),
        ..published_claims().swap_remove(0)
    };
    let value = claim(Qualifier::Exactly, "").quantity.value;
    let check = |qualifier, note: &str, share: f64, better, expected: Option<bool>| {
        let is_met = claim(qualifier, note).is_met_by(value * share, better);
        assert_eq!(is_met, expected, "{qualifier:?} {share} {better:?}");
    };
    check(Qualifier::About, "", 0.96, Better::Higher, Some(true));
    check(Qualifier::About, "", 0.94, Better::Higher, Some(false));
    check(Qualifier::About, "", 1.06, Better::Lower, Some(false));
    check(Qualifier::AtLeast, "", 0.99, Better::Higher, Some(false));
    check(Qualifier::AtMost, "", 0.10, Better::Higher, None);
    check(Qualifier::AtMost, "", 1.01, Better::Lower, Some(false));
    check(Qualifier::Best, "", 0.10, Better::Higher, None);
    check(Qualifier::Best, "", 9.00, Better::Lower, None);
    check(Qualifier::About, "SUSPECT: no", 0.1, Better::Higher, None);
}
