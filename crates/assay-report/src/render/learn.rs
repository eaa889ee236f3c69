//! Markdown with the front matter of a documentation site.

use super::markdown;
use crate::build::Published;
use crate::locale::Language;

/// The whole page.
#[must_use]
pub fn document(page: &Published) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut day = page.measured.get(..10).unwrap_or_default().split('-');
    let date = match (day.next(), day.next(), day.next()) {
        (Some(year), Some(month), Some(day)) => format!("ms.date: {month}/{day}/{year}\n"),
        _ => String::new(),
    };
    format!(
        "---\ntitle: {}\ndescription: {}\nms.topic: concept-article\n{date}ms.contentlocale: {}\n---\n{}",
        quoted(&page.document.title),
        quoted(&page.description),
        Language::current().locale.published(),
        markdown::document(&page.document)
    )
}
