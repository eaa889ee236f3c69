//! Markdown with the front matter of a documentation site, and its pictures as files beside it.

use crate::build::Published;
use crate::document::Block;
use crate::locale::Language;
use crate::plot;

use super::markdown;

/// A picture of a page: the name of its file, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The name of the file.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// The whole page. Its pictures are linked where files are named after `beside`; the points of every curve are a
/// table in any case.
#[must_use]
pub fn document(page: &Published, beside: Option<&str>) -> (String, Vec<Picture>) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut day = page.measured.get(..10).unwrap_or_default().split('-');
    let date = match (day.next(), day.next(), day.next()) {
        (Some(year), Some(month), Some(day)) => format!("ms.date: {month}/{day}/{year}\n"),
        _ => String::new(),
    };
    let (text, pictures) = content(page, beside);
    let text = format!(
        "---\ntitle: {}\ndescription: {}\nms.topic: concept-article\n{date}ms.contentlocale: {}\n---\n{text}",
        quoted(&page.document.title),
        quoted(&page.description),
        Language::current().locale.published(),
    );
    (text, pictures)
}

fn content(page: &Published, beside: Option<&str>) -> (String, Vec<Picture>) {
    let mut pictures: Vec<Picture> = Vec::new();
    let mut linked = page.document.clone();
    let Some(stem) = beside else { return (markdown::document(&linked), pictures) };
    let mut links = Vec::new();
    linked.blocks = Vec::new();
    for block in &page.document.blocks {
        if let Block::Plot(shown) = block {
            let number = pictures.len() + 1;
            let name = format!("{stem}-{number}.svg");
            let place = format!("assay-picture-{number}");
            links.push((place.clone(), markdown::picture(&shown.title, &name)));
            linked.paragraph(crate::document::Tone::Plain, place);
            pictures.push(Picture { name, svg: plot::svg(shown, number) });
        }
        linked.blocks.push(block.clone());
    }
    let mut text = markdown::document(&linked);
    for (place, link) in links {
        text = text.replacen(&format!("\n{place}\n"), &format!("\n{link}\n"), 1);
    }
    (text, pictures)
}
