//! JSON of events. Derived code is generic over the format, and each crate that calls it compiles a
//! copy of its own for all types inside. Functions that are not generic keep that to one copy, here.
//! Never reads or writes a file.

use crate::event::RunEvent;

impl RunEvent {
    /// Decodes an event.
    ///
    /// # Errors
    /// If the text is not JSON of an event.
    pub fn from_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Encodes the event on one line without a line feed.
    ///
    /// # Errors
    /// If the event contains a value that JSON has no form for.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
