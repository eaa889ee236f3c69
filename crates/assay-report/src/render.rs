//! Renderers, one per format: documents for people, CSV and JSON from the summary for programs, and
//! a picture of the plots alone.

pub mod csv;
pub mod html;
pub mod json;
pub mod learn;
pub mod markdown;
pub mod svg;
pub mod text;
