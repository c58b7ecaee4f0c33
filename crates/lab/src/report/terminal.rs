//! Blocks as text for a terminal of at most 100 columns.

use anstyle::{AnsiColor, Style as Ansi};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table as Grid, TableStyle,
};

use super::Style;
use super::document::{Block, Table};

const WIDEST: u16 = 100;
const NARROWEST: u16 = 40;

/// In a narrower terminal a table is cut or wrapped by the terminal: figures broken over two lines
/// could be misread.
const NARROWEST_TABLE: u16 = 80;

const INDENT: &str = "  ";

/// A rule under the column names and nothing else.
const RULE_ONLY: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

pub(super) fn print(blocks: &[Block], style: Style) -> String {
    let width = style.width.unwrap_or(WIDEST).clamp(NARROWEST, WIDEST);
    let mut page = Page {
        text: String::new(),
        width,
        color: style.color,
    };
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 && stands_apart(block, &blocks[index - 1]) {
            page.text.push('\n');
        }
        page.block(block);
    }
    page.text
}

/// Whether a blank line goes between two blocks.
fn stands_apart(block: &Block, previous: &Block) -> bool {
    !matches!(
        (previous, block),
        (Block::Note(_), Block::Note(_))
            | (Block::Warning(_), Block::Warning(_))
            | (Block::Paragraph(_), Block::List(_))
    )
}

struct Page {
    text: String,
    width: u16,
    color: bool,
}

impl Page {
    fn block(&mut self, block: &Block) {
        let bold = Ansi::new().bold();
        let dim = Ansi::new().dimmed();
        let yellow = AnsiColor::Yellow.on_default();
        match block {
            Block::Title(text) | Block::Heading(text) => self.wrapped(text, "", "", bold),
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => self.table(table, bold),
            Block::Note(text) => self.wrapped(text, INDENT, "    ", dim),
            Block::Paragraph(text) => self.wrapped(text, "", "", Ansi::new()),
            Block::List(items) => {
                for item in items {
                    self.wrapped(item, "  • ", "    ", Ansi::new());
                }
            }
            Block::Warning(text) => self.wrapped(&format!("warning: {text}"), "", INDENT, yellow),
        }
    }

    fn facts(&mut self, facts: &[(&str, String)]) {
        let name_width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let hanging = " ".repeat(INDENT.len() + name_width + 2);
        for (name, value) in facts {
            let first = format!("{INDENT}{name:name_width$}  ");
            self.wrapped(value, &first, &hanging, Ansi::new());
        }
    }

    fn table(&mut self, table: &Table, header: Ansi) {
        let mut grid = Grid::new();
        grid.load_style(RULE_ONLY)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.width.max(NARROWEST_TABLE))
            .set_header(&table.columns);
        for line in &table.lines {
            grid.add_row(line);
        }
        for column in grid.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        let mut style = header;
        for line in grid.lines() {
            if line.trim_start().starts_with('─') {
                style = Ansi::new();
            }
            self.line(line.trim_end(), style);
        }
    }

    /// Breaks `text` between words; a word wider than the page is broken inside.
    fn wrapped(&mut self, text: &str, first: &str, hanging: &str, style: Ansi) {
        let width = usize::from(self.width);
        let mut line = first.to_owned();
        let mut empty = true;
        for word in text.split(' ') {
            let mut word = word;
            if !empty && columns(&line) + 1 + columns(word) > width {
                self.line(&line, style);
                line = hanging.to_owned();
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            while columns(&line) + columns(word) > width {
                let room = width.saturating_sub(columns(&line)).max(1);
                let cut = word.char_indices().nth(room).map_or(word.len(), |it| it.0);
                line.push_str(&word[..cut]);
                word = &word[cut..];
                self.line(&line, style);
                line = hanging.to_owned();
            }
            line.push_str(word);
            empty = false;
        }
        self.line(&line, style);
    }

    fn line(&mut self, line: &str, style: Ansi) {
        if self.color && !line.is_empty() {
            self.text.push_str(&format!("{style}{line}{style:#}"));
        } else {
            self.text.push_str(line);
        }
        self.text.push('\n');
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(block: Block, width: u16) -> String {
        let style = Style {
            color: false,
            width: Some(width),
        };
        print(&[block], style)
    }

    #[test]
    fn words_are_kept_whole_and_lines_hang_under_their_item() {
        let text = plain(
            Block::List(vec![
                "one two three four five six seven eight nine ten".into(),
            ]),
            40,
        );
        assert_eq!(
            text,
            "  • one two three four five six seven\n    eight nine ten\n"
        );
    }

    #[test]
    fn a_word_wider_than_the_page_is_broken() {
        let text = plain(Block::Paragraph("x".repeat(90)), 40);
        assert_eq!(text.lines().map(columns).collect::<Vec<_>>(), [40, 40, 10]);
    }

    #[test]
    fn a_table_has_one_rule_and_figures_at_the_right() {
        let table = Table {
            columns: vec!["step".into(), "mean".into()],
            lines: vec![vec!["GET".into(), "0.1 ms".into()]],
        };
        assert_eq!(
            plain(Block::Table(table), 80),
            " step     mean\n───────────────\n GET    0.1 ms\n"
        );
    }

    #[test]
    fn colour_is_added_only_when_asked_for() {
        let blocks = [Block::Warning("slow".into())];
        let with = |color| print(&blocks, Style { color, width: None });
        assert_eq!(with(false), "warning: slow\n");
        assert_eq!(with(true), "\u{1b}[33mwarning: slow\u{1b}[0m\n");
    }
}
