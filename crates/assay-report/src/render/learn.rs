//! Markdown with the front matter of Microsoft Learn, and its plots as separate SVG files.

use crate::build::PublishedPage;
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

/// Returns the body of the page, and the files of its plots if they are linked.
fn content(page: &PublishedPage, stem: Option<&str>) -> (String, Vec<PictureFile>) {
    let mut pictures: Vec<PictureFile> = Vec::new();
    let text = markdown::document_with_links(&page.document, &mut |plot| {
        let number = pictures.len() + 1;
        let name = format!("{}-{number}.svg", stem?);
        let link = markdown::picture_link(&plot.title, &name);
        pictures.push(PictureFile { name, svg: plot::svg(plot, number) });
        Some(link)
    });
    (text, pictures)
}
