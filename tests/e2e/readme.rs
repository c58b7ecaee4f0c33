//! The README's numbers are those of the results file that stands beside it.

use std::fs;
use std::path::Path;
use std::process::Command;

use hotcopy_tests::locate;

/// Run `cargo xtask readme --print` after a change of the report, or `cargo xtask readme` to measure
/// again.
#[test]
fn the_table_in_the_readme_is_printed_from_the_committed_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(locate::hotcopy())
        .args(["report", "docs/results/cost.json", "--format", "markdown"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8(output.stdout).unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, shown) = readme.split_once("<!-- results:begin -->\n").unwrap();
    let (shown, _) = shown.split_once("<!-- results:end -->").unwrap();
    assert!(shown.lines().count() > 20, "the README shows no table");
    for line in shown.lines().filter(|line| !line.is_empty()) {
        assert!(
            report.lines().any(|told| told == line),
            "the report of docs/results/cost.json has no line {line:?}"
        );
    }
}
