//! Identifiers avoid the synonyms that GLOSSARY.md forbids: one word for one thing.
//!
//! The glossary is a Markdown table `| word | meaning | not |`. The third column lists the words to
//! avoid, separated by commas. Words written as `code` are enforced here, the others are advice. A
//! word can have several parts (`data_point`), which are found in that order inside longer names.

use anyhow::Result;
use proc_macro2::Ident;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use syn::visit::{self, Visit};
use syn::{
    Field, ImplItemFn, ItemEnum, ItemFn, ItemMod, ItemStruct, ItemTrait, ItemType, ItemUnion,
    TraitItemFn, Variant,
};

use crate::finding::TidyFinding;
use crate::sources::Sources;
use crate::sources::modules::{is_for_tests, is_test_file};

const GLOSSARY: &str = "GLOSSARY.md";

/// Reports names of types, functions, fields and variants that contain a forbidden synonym, except
/// in tests.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let rows = sources.files.get(GLOSSARY).map(|text| parse_rows(text)).unwrap_or_default();
    if rows.is_empty() {
        let what = "no table `| word | meaning | not |`";
        return Ok(vec![TidyFinding::new(
            GLOSSARY,
            1,
            what,
            "GLOSSARY.md must define the words of the project",
        )]);
    }
    let mut findings: Vec<_> =
        rows.iter().filter_map(|row| find_contradiction(&rows, row)).collect();
    for (path, file) in &sources.rust {
        if !is_test_file(path) {
            let mut names = NameVisitor { path, rows: &rows, findings: &mut findings };
            names.visit_file(file);
        }
    }
    Ok(findings)
}

/// Word of the glossary with its forbidden synonyms.
struct GlossaryRow {
    line: usize,
    word: String,
    /// Synonyms, each split into lower-case parts.
    forbidden: Vec<Vec<String>>,
}

/// Parses the rows of every table whose third column is titled `not`.
fn parse_rows(text: &str) -> Vec<GlossaryRow> {
    let mut rows = Vec::new();
    let (mut cells, mut is_glossary): (Vec<GlossaryCell>, bool) = (Vec::new(), false);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => cells.clear(),
            Event::Start(Tag::TableCell) => cells.push(GlossaryCell::default()),
            Event::Text(words) => cells.last_mut().into_iter().for_each(|c| c.text += &words),
            Event::Code(word) => cells.last_mut().into_iter().for_each(|cell| {
                cell.text += &word;
                cell.code.push(split_words(&word));
            }),
            Event::End(TagEnd::TableHead) => {
                is_glossary = cells.get(2).is_some_and(|cell| cell.text.trim() == "not");
            }
            Event::End(TagEnd::TableRow) if is_glossary => {
                let line = text[..range.start].lines().count() + 1;
                let forbidden = cells.get(2).map(|cell| cell.code.clone()).unwrap_or_default();
                let word = cells.first().map(|cell| cell.text.clone()).unwrap_or_default();
                rows.push(GlossaryRow { line, word, forbidden });
            }
            _ => {}
        }
    }
    rows
}

#[derive(Default)]
struct GlossaryCell {
    text: String,
    code: Vec<Vec<String>>,
}

/// Finds a word that this row forbids and any row defines.
fn find_contradiction(rows: &[GlossaryRow], row: &GlossaryRow) -> Option<TidyFinding> {
    let defined =
        rows.iter().flat_map(|row| row.word.split([',', '·', '/', '→'])).map(split_words);
    let both = defined.into_iter().find(|word| row.forbidden.contains(word))?;
    let what = format!("`{}` forbids the word `{}`", row.word, both.join("_"));
    Some(TidyFinding::new(GLOSSARY, row.line, what, "another row defines it"))
}

struct NameVisitor<'a> {
    path: &'a str,
    rows: &'a [GlossaryRow],
    findings: &'a mut Vec<TidyFinding>,
}

impl NameVisitor<'_> {
    fn add(&mut self, name: &Ident) {
        let words = split_words(&name.to_string());
        for row in self.rows {
            for synonym in
                row.forbidden.iter().filter(|synonym| contains_synonym(&words, synonym))
            {
                let line = name.span().start().line;
                let what = format!("`{name}` uses `{}` for `{}`", synonym.join("_"), row.word);
                let why = "GLOSSARY.md has one word for one thing";
                self.findings.push(TidyFinding::new(self.path, line, what, why));
            }
        }
    }
}

/// Implements visitors that check the name of an item, then visit its contents.
macro_rules! note_names {
    ($($method:ident($item:ty) => |$it:ident| $name:expr;)*) => {$(
        fn $method(&mut self, $it: &'ast $item) {
            self.add($name);
            visit::$method(self, $it);
        }
    )*};
}

impl<'ast> Visit<'ast> for NameVisitor<'_> {
    note_names! {
        visit_item_struct(ItemStruct) => |it| &it.ident;
        visit_item_enum(ItemEnum) => |it| &it.ident;
        visit_item_union(ItemUnion) => |it| &it.ident;
        visit_item_trait(ItemTrait) => |it| &it.ident;
        visit_item_type(ItemType) => |it| &it.ident;
        visit_variant(Variant) => |it| &it.ident;
        visit_impl_item_fn(ImplItemFn) => |it| &it.sig.ident;
        visit_trait_item_fn(TraitItemFn) => |it| &it.sig.ident;
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if let Some(name) = &field.ident {
            self.add(name);
        }
        visit::visit_field(self, field);
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_for_tests(&function.attrs) {
            self.add(&function.sig.ident);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }
}

/// Splits a name into lower-case words: `NumaNode_count` into `numa`, `node`, `count`.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.trim().chars() {
        let is_start = c.is_uppercase() && !before.is_uppercase();
        if is_start || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("it starts with one").extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether `words` contain the synonym, in the singular or the plural.
fn contains_synonym(words: &[String], synonym: &[String]) -> bool {
    let same = |(word, part): (&String, &String)| {
        word == part || word.strip_suffix('s') == Some(part.as_str())
    };
    !synonym.is_empty()
        && words.windows(synonym.len()).any(|window| window.iter().zip(synonym).all(same))
}

#[cfg(test)]
mod tests;
