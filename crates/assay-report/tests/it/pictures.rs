//! Geometry and colours of pictures, from their own coordinates: no label overlaps another or
//! leaves the picture, colours have enough contrast, letters are large enough on a small screen.

use std::collections::BTreeMap;

use assay_model::benchmark::Better;
use assay_model::quantity::Unit;
use assay_report::build;
use assay_report::document::{
    Axis, Block, Document, Forest, ForestRow, HeatMap, Plot, PlotPoint, PlotSeries,
    ReferenceLine, Scale, Tone,
};
use assay_report::locale::{Language, Locale};
use assay_report::render::{html, svg};
use proptest::prelude::*;

use crate::{conditions, guest, mpi, node, storage, troubled};

/// Font size of a picture.
const FONT_SIZE: f64 = 13.7;
/// Width at which a picture is drawn. A page shows it no narrower than its `min-width`.
const DRAWN_WIDTH: f64 = 760.0;

/// Label of a picture and its position: left, top, right, bottom.
type PlacedLabel = (String, [f64; 4]);

/// Returns the labels of every picture of a page, with the size of the picture.
fn pictures(page: &str) -> Vec<([f64; 2], Vec<PlacedLabel>)> {
    let attribute = |element: &str, name: &str| -> f64 {
        let value = element.split_once(&format!(" {name}=\"")).unwrap().1;
        value.split_once('"').unwrap().0.parse().unwrap()
    };
    let labels = |svg: &str| {
        let visible =
            svg.split("<text ").skip(1).filter(|it| !it.starts_with("display=\"none\""));
        let placed = visible.map(|rest| {
            let (element, rest) = rest.split_once('>').unwrap();
            let text = rest.split_once("</text>").unwrap().0;
            let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
            let (x, y) = (attribute(&format!(" {element}"), "x"), attribute(element, "y"));
            let em_width = |c: char| if c >= '\u{1100}' { 0.98 } else { 0.54 };
            let width = text.chars().map(em_width).sum::<f64>() * FONT_SIZE;
            (text, [x, y - 0.75 * FONT_SIZE, x + width, y + 0.2 * FONT_SIZE])
        });
        placed.collect::<Vec<_>>()
    };
    page.split("<svg class=\"plot\"")
        .skip(1)
        .map(|rest| {
            let svg = rest.split_once("</svg>").unwrap().0;
            let size = svg.split_once("viewBox=\"0 0 ").unwrap().1.split_once('"').unwrap().0;
            let size: Vec<f64> = size.split(' ').map(|it| it.parse().unwrap()).collect();
            assert!(svg.contains(&format!("font-size=\"{FONT_SIZE}\"")), "{svg}");
            ([size[0], size[1]], labels(svg))
        })
        .collect()
}

/// Returns a message for each label that overlaps another or leaves the picture.
fn label_faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for ([width, height], labels) in pictures(page) {
        for (index, (text, [left, top, right, bottom])) in labels.iter().enumerate() {
            if *left < 0.0 || *top < 0.0 || *right > width || *bottom > height {
                faults.push(format!("{text} sticks out: {left} {top} {right} {bottom}"));
            }
            for (other, [l, t, r, b]) in &labels[..index] {
                if left < r && l < right && top < b && t < bottom {
                    faults.push(format!("{text} lies on {other}"));
                }
            }
        }
    }
    faults
}

#[test]
fn labels_never_overlap_in_any_language() {
    let summaries = [
        guest::quick(),
        node::memory(),
        storage::volume(),
        storage::steady_state_and_search(),
        troubled::run(),
        mpi::mpi(),
    ];
    for locale in Locale::ALL {
        Language::for_locale(locale).scope(|| {
            let runs = summaries.iter().map(|it| build::run(it, None));
            let compared = build::comparison(&conditions::accelerated_networking());
            for document in runs.chain([compared]) {
                let faults = label_faults(&html::document(&document));
                assert_eq!(faults, Vec::<String>::new(), "{locale:?}: {}", document.title);
            }
        });
    }
}

/// Checks that the test above can fail.
#[test]
fn detects_overlapping_labels() {
    let page = html::document(&build::run(&storage::volume(), None));
    let start = page.find("<text ").unwrap();
    let end = start + page[start..].find("</text>").unwrap() + "</text>".len();
    let duplicated = [&page[..end], &page[start..end], &page[end..]].concat();
    assert_eq!(label_faults(&duplicated).len(), 1, "{:?}", label_faults(&duplicated));
}

fn plot(
    (x, y): (Scale, Scale),
    series: Vec<(String, Vec<(f64, f64)>)>,
    marks: Vec<(String, f64)>,
    limit: Option<f64>,
) -> Plot {
    let axis = |unit, scale| Axis::new("latency from when due", unit, scale);
    let point = |(x, y): (f64, f64)| PlotPoint { x, y, interval: None };
    let series = series.into_iter().map(|(name, points)| PlotSeries {
        name,
        points: points.into_iter().map(point).collect(),
    });
    let axes = [axis(Unit::IoPerSecond, x), axis(Unit::Second, y)];
    Plot {
        limit: limit.map(|value| ReferenceLine { label: "limit 12.3 GB/s".to_owned(), value }),
        marks: marks.into_iter().map(|(label, value)| ReferenceLine { label, value }).collect(),
        ..Plot::new("title", "description", axes, series.collect())
    }
}

fn scale() -> impl Strategy<Value = Scale> {
    prop::sample::select(vec![Scale::Linear, Scale::LinearFitted, Scale::Log2, Scale::Log10])
}

proptest! {
    /// Labels of random plots do not overlap.
    #[test]
    fn random_plots_have_no_overlapping_labels(
        scales in (scale(), scale()),
        series in prop::collection::vec(
            ("[a-zA-Z ,µ一二三가-힣]{0,40}", prop::collection::vec((1e-3..1e7, 1e-9..10.0), 0..12)),
            0..12,
        ),
        marks in prop::collection::vec(("[a-z +%]{0,60}", 1e-3..1e9), 0..8),
        limit in prop::option::of(1e-9..1e3),
    ) {
        let mut document = Document::new("x");
        document.blocks.push(Block::Plot(plot(scales, series, marks, limit)));
        prop_assert_eq!(label_faults(&html::document(&document)), Vec::<String>::new());
    }

    #[test]
    fn heat_map_labels_never_overlap(names in prop::collection::vec("[a-z0-9.-]{1,50}", 1..9)) {
        let page = html::document(&single_block(Block::HeatMap(heat_map(names))));
        prop_assert_eq!(label_faults(&page), Vec::<String>::new());
    }

    #[test]
    fn forest_labels_never_overlap(
        rows in prop::collection::vec(("[a-zA-Z ,一二三]{0,60}", 1e-3..1e3, 1.0..9.0), 1..40),
    ) {
        let row = |(name, value, factor): (String, f64, f64)| ForestRow {
            name,
            value,
            interval: Some([value / factor, value * factor]),
            formatted: format!("{value:.3} ({:.3}–{:.3})", value / factor, value * factor),
            tone: Tone::Plain,
        };
        let forest = Forest {
            title: "ratios".to_owned(),
            description: String::new(),
            axis: "b ÷ a".to_owned(),
            rows: rows.into_iter().map(row).collect(),
            margin: [0.95, 1.05],
        };
        let mut document = Document::new("x");
        document.blocks.push(Block::Forest(forest));
        prop_assert_eq!(label_faults(&html::document(&document)), Vec::<String>::new());
    }
}

/// Builds a heat map of hosts with these names: the first pair is the slowest, and marked.
fn heat_map(names: Vec<String>) -> HeatMap {
    let value = |index: usize| (index > 0).then_some(if index == 1 { 1e6 } else { 123.4e9 });
    let row =
        |row: usize| (0..names.len()).map(|column| value(row * names.len() + column)).collect();
    HeatMap {
        title: "pairs".to_owned(),
        description: "description".to_owned(),
        cells: (0..names.len()).map(row).collect(),
        rows: names.clone(),
        columns: names,
        marked: vec![(0, 1)],
        unit: Unit::BitPerSecond,
        better: Better::Higher,
    }
}

fn host_map(count: usize) -> HeatMap {
    heat_map((0..count).map(|it| format!("rack-7-node-{it:03}.cluster")).collect())
}

fn single_block(block: Block) -> Document {
    let mut document = Document::new("x");
    document.blocks.push(block);
    document
}

/// A heat map is as wide as its hosts need, and its letters do not shrink.
#[test]
fn large_maps_stay_legible() {
    for count in [3, 40] {
        let page = html::document(&single_block(Block::HeatMap(host_map(count))));
        let svg = page.split_once("<svg class=\"plot\" style=\"").unwrap().1;
        let pixels = |name: &str| -> f64 {
            let value = svg.split_once(&format!("{name}: ")).unwrap().1;
            value.split_once("px").unwrap().0.parse().unwrap()
        };
        let width = pictures(&page)[0].0[0];
        let [min, max] = ["min-width", "max-width"].map(pixels);
        assert!(min * FONT_SIZE / width >= 11.0 && max <= width, "{count}: {min} {max}");
    }
}

/// The SVG file of all pictures also contains the heat maps.
#[test]
fn svg_file_contains_maps() {
    let mut document = single_block(Block::HeatMap(host_map(9)));
    let empty_plot = plot((Scale::Linear, Scale::Linear), vec![], vec![], None);
    document.blocks.push(Block::Plot(empty_plot));
    let file = svg::document(&document).unwrap();
    assert_eq!(
        (file.matches("</desc>").count(), file.matches("rack-7-node-008").count()),
        (2, 2)
    );
    let width = file.split_once(" width=\"").unwrap().1.split_once('"').unwrap().0;
    assert!(width.parse::<f64>().unwrap() > DRAWN_WIDTH, "{width}");
}

/// A ceiling far above the values is labelled at the edge, but does not extend the axis.
#[test]
fn distant_ceilings_do_not_extend_the_axis() {
    let rightmost_point = |ceiling: f64| {
        let points = vec![(1e3, 1e-3), (2e3, 2e-3), (4e3, 5e-3)];
        let marks = vec![("provisioned".to_owned(), ceiling)];
        let mut document = Document::new("x");
        let curve =
            plot((Scale::Linear, Scale::Linear), vec![("a".into(), points)], marks, None);
        document.blocks.push(Block::Plot(curve));
        let page = html::document(&document);
        let dots = page.split("<circle cx=\"").skip(1);
        let x = dots.map(|it| it.split_once('"').unwrap().0.parse::<f64>().unwrap());
        (x.fold(0.0, f64::max), page.contains("provisioned →"))
    };
    let (near, far) = (rightmost_point(5e3), rightmost_point(1e6));
    assert!(near.0 < 0.9 * far.0 && !near.1, "{near:?}");
    assert!(far.0 > 0.9 * DRAWN_WIDTH && far.1, "{far:?}");
}

/// The first tick label of the horizontal axis is below the lowest one of the vertical axis: they
/// do not fit next to each other.
#[test]
fn labels_both_values_of_two_points() {
    let points = vec![(100.0, 1e-3), (200.0, 2e-3)];
    for scale in [Scale::LinearFitted, Scale::Log10] {
        let curve =
            plot((scale, Scale::Linear), vec![("a".into(), points.clone())], vec![], None);
        let labels =
            pictures(&html::document(&single_block(Block::Plot(curve)))).swap_remove(0).1;
        let has = |value: &str| labels.iter().any(|(text, _)| text.starts_with(value));
        assert!(has("100") && has("200") && has("0"), "{scale:?} {labels:?}");
    }
}

/// A shaded band is an interval: a curve without intervals has none.
#[test]
fn only_intervals_are_shaded() {
    let points = vec![(1e3, 1e-3), (2e3, 2e-3), (4e3, 5e-3)];
    let bands = |interval: Option<[f64; 2]>| {
        let curve = plot(
            (Scale::Linear, Scale::Linear),
            vec![("a".into(), points.clone())],
            vec![],
            None,
        );
        let mut curve = curve;
        curve.series[0].points.iter_mut().for_each(|it| it.interval = interval);
        let mut document = Document::new("x");
        document.blocks.push(Block::Plot(curve));
        html::document(&document).matches("<polygon").count()
    };
    assert_eq!((bands(None), bands(Some([1e-4, 6e-3]))), (0, 1));
}

/// Style of a page: variables of the light and the dark scheme, and replacements of picture colours
/// on a dark screen.
struct PageStyle {
    light: BTreeMap<String, String>,
    dark: BTreeMap<String, String>,
    dark_replacements: BTreeMap<String, String>,
}

fn style() -> PageStyle {
    let page = html::document(&Document::new("x"));
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let (light, rest) =
        style.split_once("@media screen and (prefers-color-scheme: dark) {").unwrap();
    let (dark, rest) = rest.split_once("}\n  .plot").unwrap();
    let variables = |text: &str| {
        let pairs = text.split("--").skip(1).filter_map(|it| it.split_once(": "));
        let value = |it: &str| it.split_once(';').unwrap().0.to_lowercase();
        pairs.map(|(name, rest)| (name.to_owned(), value(rest))).collect()
    };
    let drawn = rest.lines().filter_map(|line| {
        let from = line.split_once("=\"")?.1.split_once('"')?.0.to_lowercase();
        Some((from, line.split_once(": ")?.1.split_once(';')?.0.to_lowercase()))
    });
    PageStyle {
        light: variables(light),
        dark: variables(dark),
        dark_replacements: drawn.collect(),
    }
}

/// Relative luminance (WCAG 2.2).
fn luminance(colour: &str) -> f64 {
    let channel = |offset: usize| {
        let value =
            f64::from(u8::from_str_radix(&colour[offset..offset + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

/// Contrast ratio (WCAG 2.2): from 1 to 21.
fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// WCAG AA requires a contrast ratio of 4.5 for text and 3 for graphics.
#[test]
fn colours_have_the_contrast_of_wcag_aa() {
    assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
    let style = style();
    for (scheme, colours) in [("light", &style.light), ("dark", &style.dark)] {
        let colour_of = |name: &str| colours[name].as_str();
        for text in ["ink", "quiet", "doubt", "bad", "link"] {
            for background in ["paper", "stripe"] {
                let ratio = contrast(colour_of(text), colour_of(background));
                assert!(ratio >= 4.5, "{scheme}: {text} on {background}: {ratio:.2}");
            }
        }
        for (text, background) in [
            ("ink", "doubt-paper"),
            ("ink", "bad-paper"),
            ("doubt", "doubt-paper"),
            ("doubt", "bad-paper"),
            ("link", "doubt-paper"),
            ("link", "bad-paper"),
        ] {
            let ratio = contrast(colour_of(text), colour_of(background));
            assert!(ratio >= 4.5, "{scheme}: {text} on {background}: {ratio:.2}");
        }
        let displayed = |colour: &str| match scheme {
            "dark" => style
                .dark_replacements
                .get(colour)
                .cloned()
                .unwrap_or_else(|| colour.to_owned()),
            _ => colour.to_owned(),
        };
        let backgrounds = [colour_of("paper").to_owned(), displayed("#eaeef2")];
        for (colour, min_ratio) in drawn_colours() {
            // Curves need contrast with the paper only, although they may cross a band.
            for background in backgrounds.iter().take(if min_ratio > 3.0 { 2 } else { 1 }) {
                let ratio = contrast(&displayed(&colour), background);
                assert!(ratio >= min_ratio, "{scheme}: {colour} on {background}: {ratio:.2}");
            }
        }
    }
}

/// Letters have enough contrast on the darkest cell of a heat map; marked cells have enough
/// contrast with the paper.
#[test]
fn maps_have_the_contrast_of_wcag_aa() {
    let style = style();
    let page = html::document(&single_block(Block::HeatMap(host_map(3))));
    let attribute = |element: &str, name: &str| {
        let value = element.split_once(&format!(" {name}=\"")).unwrap().1;
        value.split_once('"').unwrap().0.to_lowercase()
    };
    let cells: Vec<&str> = page.split("<rect ").skip(1).collect();
    let by_opacity =
        |a: &&&str, b: &&&str| attribute(a, "fill-opacity").cmp(&attribute(b, "fill-opacity"));
    let darkest = cells.iter().max_by(by_opacity).unwrap();
    let opacity: f64 = attribute(darkest, "fill-opacity").parse().unwrap();
    assert!(opacity > 0.4, "{opacity}");
    for (scheme, colours) in [("light", &style.light), ("dark", &style.dark)] {
        let displayed = |colour: String| match scheme {
            "dark" => style.dark_replacements.get(&colour).cloned().unwrap_or(colour),
            _ => colour,
        };
        let paper = colours["paper"].as_str();
        let channel = |offset: usize, colour: &str| {
            f64::from(u8::from_str_radix(&colour[offset..offset + 2], 16).unwrap())
        };
        let fill = displayed(attribute(darkest, "fill"));
        let blended = [1, 3, 5].map(|offset| {
            let blended =
                opacity * channel(offset, &fill) + (1.0 - opacity) * channel(offset, paper);
            format!("{:02x}", blended.round() as u8)
        });
        let text = displayed(attribute(page.split_once("<text").unwrap().1, "fill"));
        let ratio = contrast(&text, &format!("#{}", blended.concat()));
        assert!(ratio >= 4.5, "{scheme}: letters on a map: {ratio:.2}");
        let ratio = contrast(&displayed(attribute(darkest, "stroke")), paper);
        assert!(ratio >= 3.0, "{scheme}: the edge of a marked cell: {ratio:.2}");
    }
}

/// Returns every colour of pictures with its required contrast ratio, from a picture that contains
/// all of them.
fn drawn_colours() -> BTreeMap<String, f64> {
    let curve = |nth: u32| (nth.to_string(), vec![(1e3, 1e-3), (2e3, f64::from(nth) * 1e-3)]);
    let all_colours = plot(
        (Scale::Linear, Scale::Linear),
        (1..=7).map(curve).collect(),
        vec![("knee".to_owned(), 1.5e3)],
        Some(5e-3),
    );
    let mut document = Document::new("x");
    document.blocks.push(Block::Plot(all_colours));
    let page = html::document(&document);
    let svg = page.split_once("<svg class=\"plot\"").unwrap().1;
    let mut colours = BTreeMap::new();
    for element in svg.split('<') {
        // Grid lines may have less contrast: every value is printed.
        let min_ratio = if element.starts_with("text ") { 4.5 } else { 3.0 };
        for name in ["fill=\"#", "stroke=\"#"] {
            let Some((_, rest)) = element.split_once(name) else { continue };
            let colour = format!("#{}", &rest[..6]).to_lowercase();
            if !["#d0d7de", "#eaeef2"].contains(&colour.as_str()) {
                let required = colours.entry(colour).or_insert(min_ratio);
                *required = f64::max(*required, min_ratio);
            }
        }
    }
    assert_eq!(colours.len(), 9, "{colours:?}");
    colours
}

/// Names of curves may take up to a third of the picture's width.
#[test]
fn fitting_names_are_not_truncated() {
    for letters in 1..24 {
        let names = [letters - 1, letters].map(|count| "n".repeat(count));
        let curves = names.into_iter().map(|name| (name, vec![(1e3, 1e-3), (2e3, 1e-3)]));
        let legend = plot((Scale::Linear, Scale::Linear), curves.collect(), vec![], None);
        assert!(!html::document(&single_block(Block::Plot(legend))).contains('…'), "{letters}");
    }
}

/// A picture scrolls before its letters become smaller than 11 pixels.
#[test]
fn letters_stay_legible_on_a_small_screen() {
    let page = html::document(&Document::new("x"));
    let min_width = page.split_once("min-width: ").unwrap().1.split_once("px").unwrap().0;
    let min_width: f64 = min_width.parse().unwrap();
    assert!(min_width * FONT_SIZE / DRAWN_WIDTH >= 11.0, "{min_width}");
    for rest in page.split("font-size: ").skip(1) {
        let size = rest.split_once(';').unwrap().0.split('}').next().unwrap();
        if let Some(rem) = size.trim().strip_suffix("rem") {
            assert!(rem.parse::<f64>().unwrap() * 16.0 >= 11.0, "{size}");
        }
    }
}
