//! Declares an enum of benchmarks from one row each: variant, stored identifier and definition. A variant
//! cannot be missing from the list, from the identifiers or from the definitions.

/// Declares the enum. Groups are variants with benchmarks of their own, each with its identifier.
macro_rules! benchmark_table {
    (
        $(#[$meta:meta])*
        $name:ident;
        $($(#[doc = $doc:literal])+ $variant:ident, $id:literal, $row:expr;)+
        $(groups { $($(#[doc = $group_doc:literal])+ $group:ident($test:ident);)+ })?
    ) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $id)] $variant,)+
            $($($(#[doc = $group_doc])+ #[serde(untagged)] $group($test),)+)?
        }

        impl $name {
            const UNGROUPED: [Self; [$($id),+].len()] = [$(Self::$variant),+];

            /// Every one, in the order in which they are printed.
            pub const ALL: [Self; Self::UNGROUPED.len() $($(+ $test::ALL.len())+)?] = {
                let mut all =
                    [Self::UNGROUPED[0]; Self::UNGROUPED.len() $($(+ $test::ALL.len())+)?];
                let mut count = 0;
                // `for` is not allowed in a const context.
                while count < Self::UNGROUPED.len() {
                    all[count] = Self::UNGROUPED[count];
                    count += 1;
                }
                $($(
                    let before = count;
                    while count < before + $test::ALL.len() {
                        all[count] = Self::$group($test::ALL[count - before]);
                        count += 1;
                    }
                )+)?
                all
            };

            /// Returns the stored identifier.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)+
                    $($(Self::$group(test) => test.id(),)+)?
                }
            }

            /// Returns the definition.
            pub const fn definition(self) -> &'static Definition {
                match self {
                    $(Self::$variant => {
                        const ROW: Definition = $row;
                        &ROW
                    })+
                    $($(Self::$group(test) => test.definition(),)+)?
                }
            }
        }
    };
}

pub(super) use benchmark_table;
