//! Blocks as GitHub-flavoured Markdown, for a README or an issue.

use super::document::{Block, Table};

pub(super) fn print(blocks: &[Block]) -> String {
    let parts: Vec<String> = blocks.iter().map(block).collect();
    parts.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Title(text) => format!("## {}\n", escaped(text)),
        Block::Heading(text) => format!("### {}\n", escaped(text)),
        Block::Facts(facts) => facts
            .iter()
            .map(|(name, value)| format!("- **{name}:** {}\n", escaped(value)))
            .collect(),
        Block::Table(it) => table(it),
        Block::Note(text) => format!("<sub>{}</sub>\n", escaped(text)),
        Block::Paragraph(text) => format!("{}\n", escaped(text)),
        Block::List(items) => items
            .iter()
            .map(|item| format!("- {}\n", escaped(item)))
            .collect(),
        Block::Warning(text) => format!("> **warning:** {}\n", escaped(text)),
    }
}

fn table(table: &Table) -> String {
    let line = |cells: &[String]| {
        // A column name of two lines is one here: a cell of Markdown has no line breaks.
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| escaped(&cell.replace('\n', " ")))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&table.columns);
    let figures = "---: | ".repeat(table.columns.len().saturating_sub(1));
    text.push_str(&format!("| --- | {}\n", figures.trim_end()));
    for cells in &table.lines {
        text.push_str(&line(cells));
    }
    text
}

/// Characters that Markdown or HTML would take for markup are escaped.
fn escaped(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        if matches!(
            char,
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '~' | '&'
        ) {
            clean.push('\\');
        }
        clean.push(char);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_aligns_figures_at_the_right() {
        let table = Table {
            columns: vec!["step".into(), "mean\nof all".into(), "max".into()],
            lines: vec![vec!["GET".into(), "0.1 ms".into(), "2 ms".into()]],
        };
        assert_eq!(
            print(&[Block::Table(table)]),
            "| step | mean of all | max |\n| --- | ---: | ---: |\n| GET | 0.1 ms | 2 ms |\n"
        );
    }

    #[test]
    fn text_from_outside_cannot_become_markup() {
        let text = print(&[Block::Paragraph("key a|b <img> *x* [y](z)".into())]);
        assert_eq!(text, "key a\\|b \\<img\\> \\*x\\* \\[y\\](z)\n");
    }
}
