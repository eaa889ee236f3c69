//! Limits on unusual prose and names: word frequencies of doc comments, openings of comments, names of functions.
//!
//! Each limit is a ratchet: lower it when the measured figure falls, never raise it. Tests are not measured.

use anyhow::Result;
use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{ImplItemFn, ItemFn, ItemMod, TraitItemFn};

use crate::finding::TidyFinding;
use crate::sources::Sources;
use crate::sources::modules::is_for_tests;

/// Highest allowed figures of the tree.
const LIMITS: Figures = Figures {
    saying_per_10k: 1.0,
    relative_per_10k: 4.0,
    place_per_10k: 1.0,
    sideways_percent: 0.5,
    function_words: 5,
    participles: 5,
};

/// Verbs of speech: programs print, report, return and send.
const SAYING: &[&str] = &[
    "say", "says", "said", "tell", "tells", "told", "speak", "speaks", "spoken", "hear",
    "hears", "heard",
];
/// Relative pronouns that hide the noun of a sentence.
const RELATIVE: &[&str] = &["what", "who", "whoever", "nobody", "whatever"];
/// Words of place where software has none.
const PLACE: &[&str] = &["stand", "stands", "stood", "beside"];
/// First words of comments that begin with neither a verb nor a noun phrase.
const SIDEWAYS: &[&str] =
    &["What", "Who", "How", "Where", "Which", "Why", "Of", "As", "One", "Those", "Some"];
/// Prepositions, pronouns and conjunctions, which name no action and no property.
const FUNCTION_WORDS: &str = "of at with and or over under between before after beside apart below above alone again \
    next here there within to in on by off only all each once what who how why where whose which has is as like about \
    against around behind through together";
/// Participles without their noun.
const PARTICIPLES: &str = "said told asked shown held kept given seen known found heard made taken named judged carried \
    counted written listed stored reported refused placed tried tested begun ended done lost laid lent handed spent \
    wanted waited granted meant chosen merged typed joined forgotten spelled spoken";

/// Measured figures of a tree, or their limits.
#[derive(Debug, PartialEq)]
struct Figures {
    /// Verbs of speech per 10,000 words of doc comments.
    saying_per_10k: f64,
    /// Relative pronouns per 10,000 words.
    relative_per_10k: f64,
    /// Words of place per 10,000 words.
    place_per_10k: f64,
    /// Percentage of comment blocks with a first word of [`SIDEWAYS`].
    sideways_percent: f64,
    /// Functions named by a preposition or pronoun.
    function_words: usize,
    /// Functions named by a bare participle.
    participles: usize,
}

/// Reports each figure above its limit, with the places that count most.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    Ok(compare(&Census::take(sources), &LIMITS))
}

fn compare(census: &Census, limits: &Figures) -> Vec<TidyFinding> {
    let figures = census.figures();
    let why = "use the nouns and verbs of the field (STYLE.md, Names and Comments)";
    let mut findings = Vec::new();
    let mut report = |name: &str, measured: f64, limit: f64, examples: &[Place]| {
        if measured <= limit {
            return;
        }
        let first = examples.first().cloned().unwrap_or_default();
        let places: Vec<String> = examples.iter().take(5).map(Place::to_string).collect();
        let what = format!("{name}: {measured:.1}, at most {limit}; {}", places.join(", "));
        findings.push(TidyFinding::new(first.path, first.line, what, why));
    };
    let per_10k = "per 10,000 words of doc comments";
    report(
        &format!("say, tell, speak, hear {per_10k}"),
        figures.saying_per_10k,
        limits.saying_per_10k,
        &census.saying,
    );
    report(
        &format!("what, who, nobody, whatever {per_10k}"),
        figures.relative_per_10k,
        limits.relative_per_10k,
        &census.relative,
    );
    report(
        &format!("stand, beside, so many {per_10k}"),
        figures.place_per_10k,
        limits.place_per_10k,
        &census.place,
    );
    report(
        "% of comment blocks that open with What, How, Of, One, …",
        figures.sideways_percent,
        limits.sideways_percent,
        &census.sideways,
    );
    report(
        "functions named by a preposition or pronoun",
        figures.function_words as f64,
        limits.function_words as f64,
        &census.function_words,
    );
    report(
        "functions named by a bare participle",
        figures.participles as f64,
        limits.participles as f64,
        &census.participles,
    );
    findings
}

/// Location of an example, with the word or name found there.
#[derive(Debug, Clone, Default)]
struct Place {
    path: String,
    line: usize,
    text: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` {}:{}", self.text, self.path, self.line)
    }
}

/// Counts over all files that are not tests.
#[derive(Debug, Default)]
struct Census {
    words: usize,
    blocks: usize,
    saying: Vec<Place>,
    relative: Vec<Place>,
    place: Vec<Place>,
    sideways: Vec<Place>,
    function_words: Vec<Place>,
    participles: Vec<Place>,
}

impl Census {
    fn take(sources: &Sources) -> Self {
        let mut census = Self::default();
        for (path, file) in &sources.rust {
            if path.contains("/tests/")
                || path.ends_with("tests.rs")
                || path.ends_with("test.rs")
            {
                continue;
            }
            let test_lines = test_modules(&file.items);
            census.read_comments(path, &sources.files[path], &test_lines);
            Names { path, census: &mut census }.visit_file(file);
        }
        census
    }

    fn read_comments(&mut self, path: &str, text: &str, test_lines: &[(usize, usize)]) {
        let mut in_block = false;
        for (line, content) in (1..).zip(text.lines()) {
            let trimmed = content.trim();
            let comment = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!"));
            let Some(comment) = comment.filter(|_| !is_within(line, test_lines)) else {
                in_block = false;
                continue;
            };
            let place =
                |text: &str| Place { path: path.to_owned(), line, text: text.to_owned() };
            if let (false, Some(first)) = (in_block, comment.split_whitespace().next()) {
                self.blocks += 1;
                let first = first.trim_matches([',', '.', ':', ';', '`']);
                if SIDEWAYS.contains(&first) {
                    self.sideways.push(place(first));
                }
            }
            in_block = true;
            self.words += comment.split_whitespace().count();
            let words: Vec<String> = comment
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect();
            for (index, word) in words.iter().enumerate() {
                let word = word.as_str();
                let is_so_many =
                    word == "so" && words.get(index + 1).is_some_and(|it| it == "many");
                if SAYING.contains(&word) {
                    self.saying.push(place(word));
                } else if RELATIVE.contains(&word) {
                    self.relative.push(place(word));
                } else if PLACE.contains(&word) || is_so_many {
                    self.place.push(place(word));
                }
            }
        }
    }

    fn figures(&self) -> Figures {
        let per_10k = |places: &[Place]| 1e4 * places.len() as f64 / self.words.max(1) as f64;
        Figures {
            saying_per_10k: per_10k(&self.saying),
            relative_per_10k: per_10k(&self.relative),
            place_per_10k: per_10k(&self.place),
            sideways_percent: 100.0 * self.sideways.len() as f64 / self.blocks.max(1) as f64,
            function_words: self.function_words.len(),
            participles: self.participles.len(),
        }
    }
}

/// First and last lines of the inline modules that are compiled for tests only.
fn test_modules(items: &[syn::Item]) -> Vec<(usize, usize)> {
    let modules = items.iter().filter_map(|item| match item {
        syn::Item::Mod(ItemMod { attrs, content: Some((braces, _)), .. })
            if is_for_tests(attrs) =>
        {
            Some((braces.span.open().start().line, braces.span.close().end().line))
        }
        _ => None,
    });
    modules.collect()
}

fn is_within(line: usize, ranges: &[(usize, usize)]) -> bool {
    ranges.iter().any(|&(first, last)| (first..=last).contains(&line))
}

/// Collects the names of functions outside tests.
struct Names<'a> {
    path: &'a str,
    census: &'a mut Census,
}

impl Names<'_> {
    fn place(&self, name: &Ident) -> Place {
        let line = name.span().start().line;
        Place { path: self.path.to_owned(), line, text: name.to_string() }
    }

    fn add_function(&mut self, name: &Ident) {
        let place = self.place(name);
        if FUNCTION_WORDS.split_whitespace().any(|word| name == word) {
            self.census.function_words.push(place);
        } else if PARTICIPLES.split_whitespace().any(|word| name == word) {
            self.census.participles.push(place);
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.add_function(&item.sig.ident);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.add_function(&item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_for_tests(&item.attrs) {
            self.add_function(&item.sig.ident);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::example;

    fn measure(text: &str) -> Figures {
        Census::take(&example::tree(&[("a.rs", text)])).figures()
    }

    #[test]
    fn counts_words_of_doc_comments() {
        let figures =
            measure("//! What it says, so many words: ten, eight, four, six.\n// told\n");
        assert!((figures.saying_per_10k - 1000.0).abs() < 1e-9, "{figures:?}");
        assert!((figures.relative_per_10k - 1000.0).abs() < 1e-9, "{figures:?}");
        assert!((figures.place_per_10k - 1000.0).abs() < 1e-9, "{figures:?}");
        assert!((figures.sideways_percent - 100.0).abs() < 1e-9, "{figures:?}");
    }

    #[test]
    fn only_the_first_word_of_a_block_is_an_opening() {
        let figures =
            measure("/// Reads a file.\n/// What follows.\nfn f() {}\n\n/// Of b.\nfn g() {}");
        assert!((figures.sideways_percent - 50.0).abs() < 1e-9, "{figures:?}");
    }

    #[test]
    fn counts_names_of_functions() {
        let figures =
            measure("fn of() {} fn told() {} fn offset() {} impl A { fn at(&self) {} }");
        assert_eq!((figures.function_words, figures.participles), (2, 1));
    }

    #[test]
    fn tests_are_not_measured() {
        let figures = measure("#[cfg(test)]\nmod tests {\n/// What is said.\nfn of() {} }");
        assert_eq!(figures.function_words, 0);
        assert!(figures.sideways_percent.abs() < 1e-9, "{figures:?}");
    }

    #[test]
    fn reports_each_figure_above_its_limit() {
        let text =
            "/// What a program says to somebody beside it.\npub fn of() {}\nfn told() {}";
        let census = Census::take(&example::tree(&[("a.rs", text)]));
        let none = Figures {
            saying_per_10k: 0.0,
            relative_per_10k: 0.0,
            place_per_10k: 0.0,
            sideways_percent: 0.0,
            function_words: 0,
            participles: 0,
        };
        let findings = compare(&census, &none);
        assert_eq!(findings.len(), 6, "{findings:?}");
        assert!(findings[4].what.contains("`of` a.rs:2"), "{}", findings[4]);
        assert!(compare(&census, &census.figures()).is_empty());
    }
}
