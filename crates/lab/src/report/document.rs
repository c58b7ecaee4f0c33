//! What a report says, before it is decided how it looks: the terminal and Markdown print the same
//! blocks, so they cannot differ in content.

/// One part of a report, from top to bottom.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The first line.
    Title(String),
    /// Starts a section.
    Heading(String),
    /// Short facts with their names.
    Facts(Vec<(&'static str, String)>),
    /// Figures.
    Table(Table),
    /// Small print: a footnote or a remark.
    Note(String),
    /// Plain words.
    Paragraph(String),
    /// Plain words, one thought each.
    List(Vec<String>),
    /// What must not be overlooked.
    Warning(String),
}

/// Figures under column names; the first column holds the lines' names.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of all columns, each of one line or two.
    pub(super) columns: Vec<String>,
    /// As many cells as columns.
    pub(super) lines: Vec<Vec<String>>,
}

/// Footnotes of one table, numbered as they come; the same text keeps its number.
#[derive(Debug, Default)]
pub(super) struct Footnotes(Vec<String>);

impl Footnotes {
    /// Appends the mark of the footnote to `text`.
    pub(super) fn mark(&mut self, text: &str, footnote: &str) -> String {
        let index = self.0.iter().position(|it| it == footnote);
        let index = index.unwrap_or_else(|| {
            self.0.push(footnote.to_owned());
            self.0.len() - 1
        });
        format!("{text}{}", superscript(index + 1))
    }

    /// The small print below the table.
    pub(super) fn into_blocks(self) -> impl Iterator<Item = Block> {
        let notes = self.0.into_iter().enumerate();
        notes.map(|(index, text)| Block::Note(format!("{} {text}", superscript(index + 1))))
    }
}

fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .bytes()
        .map(|digit| DIGITS[usize::from(digit - b'0')])
        .collect()
}

/// Text from outside (a key, a server's setting) on one line and without control characters, which
/// could move the cursor or recolour the terminal.
pub(super) fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            clean.extend(char.escape_default());
        } else {
            clean.push(char);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footnote_is_numbered_once() {
        let mut notes = Footnotes::default();
        assert_eq!(notes.mark("–", "not measured"), "–¹");
        assert_eq!(notes.mark("p50", "the median"), "p50²");
        assert_eq!(notes.mark("–", "not measured"), "–¹");
        let blocks: Vec<_> = notes.into_blocks().collect();
        assert_eq!(
            blocks,
            [
                Block::Note("¹ not measured".into()),
                Block::Note("² the median".into())
            ]
        );
        assert_eq!(superscript(12), "¹²");
    }

    #[test]
    fn control_characters_are_shown_and_not_sent_to_the_terminal() {
        assert_eq!(printable("a\u{1b}[2J\nb\tµ"), "a\\u{1b}[2J\\nb\\tµ");
    }
}
