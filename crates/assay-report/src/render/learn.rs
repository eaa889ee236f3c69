//! Markdown with the front matter of Microsoft Learn, and its plots as separate SVG files.

use crate::build::PublishedPage;
use crate::document::Block;
use crate::locale::Language;
use crate::plot;

use super::markdown;

/// SVG file of a plot on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureFile {
    /// File name.
    pub name: String,
    /// Contents of the file.
    pub svg: String,
}

/// Renders the page. If `stem` is given, it links plots as `STEM-1.svg` and so on; the points of
/// every curve are a table in any case.
#[must_use]
pub fn document(page: &PublishedPage, stem: Option<&str>) -> (String, Vec<PictureFile>) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut day = page.measured_at.get(..10).unwrap_or_default().split('-');
    let date = match (day.next(), day.next(), day.next()) {
        (Some(year), Some(month), Some(day)) => format!("ms.date: {month}/{day}/{year}\n"),
        _ => String::new(),
    };
    let (text, pictures) = content(page, stem);
    let text = format!(
        "---\ntitle: {}\ndescription: {}\nms.topic: concept-article\n{date}ms.contentlocale: {}\n---\n{text}",
        quoted(&page.document.title),
        quoted(&page.description),
        Language::current().locale.learn_tag(),
    );
    (text, pictures)
}

fn content(page: &PublishedPage, stem: Option<&str>) -> (String, Vec<PictureFile>) {
    let mut pictures: Vec<PictureFile> = Vec::new();
    let mut linked = page.document.clone();
    let Some(stem) = stem else { return (markdown::document(&linked), pictures) };
    let mut links = Vec::new();
    linked.blocks = Vec::new();
    for block in &page.document.blocks {
        if let Block::Plot(plot) = block {
            let number = pictures.len() + 1;
            let name = format!("{stem}-{number}.svg");
            let placeholder = format!("assay-picture-{number}");
            links.push((placeholder.clone(), markdown::picture_link(&plot.title, &name)));
            linked.paragraph(crate::document::Tone::Plain, placeholder);
            pictures.push(PictureFile { name, svg: plot::svg(plot, number) });
        }
        linked.blocks.push(block.clone());
    }
    let mut text = markdown::document(&linked);
    for (placeholder, link) in links {
        text = text.replacen(&format!("\n{placeholder}\n"), &format!("\n{link}\n"), 1);
    }
    (text, pictures)
}
