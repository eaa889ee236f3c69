//! Renderers, one per format. Documents for people; CSV and JSON, for programs, from the summary.

pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
pub mod text;
