//! Renderers, one per format. Documents for people; CSV and JSON, for programs, from the summary; a
//! picture from the plots alone.

pub mod csv;
pub mod html;
pub mod json;
pub mod learn;
pub mod markdown;
pub mod svg;
pub mod text;
