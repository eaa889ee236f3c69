//! Conversions into an enumeration of values: one row for each type.

/// Implements `From` for each type of a table: `impl_from!(Phrase { String => Self::Name, })`.
#[macro_export]
macro_rules! impl_from {
    ($into:ty { $($(#[$attribute:meta])* $from:ty => $convert:expr,)+ }) => {
        $(
            $(#[$attribute])*
            impl From<$from> for $into {
                fn from(value: $from) -> Self {
                    let convert: fn($from) -> Self = $convert;
                    convert(value)
                }
            }
        )+
    };
}
