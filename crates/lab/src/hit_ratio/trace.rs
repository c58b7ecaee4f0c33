//! Traces in memory, and reading them from files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use foldhash::fast::RandomState;

use super::HitRatioError;

/// A longer line is no key: the file is probably not a trace.
const LONGEST_LINE: u64 = 64 << 10;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A reference: to a key, and how many bytes belong to the key from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    /// Keys are numbered from 0 in the order in which they come first.
    pub(super) key: u32,
    /// 1 in a trace without sizes.
    pub(super) size: u32,
}

/// Recorded requests.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) references: Vec<Reference>,
    pub(super) is_sized: bool,
    pub(super) distinct_keys: usize,
    /// The sum of the sizes that the keys have at the end.
    pub(super) distinct_bytes: u64,
}

impl Trace {
    pub(super) fn read(file: &Path) -> Result<Self, HitRatioError> {
        let failed = |source| HitRatioError::Read {
            file: file.to_owned(),
            source,
        };
        let opened = File::open(file).map_err(failed)?;
        if opened.metadata().map_err(failed)?.is_dir() {
            return Err(HitRatioError::Folder(file.to_owned()));
        }
        let mut reader = BufReader::new(opened);
        let is_gzip = reader.fill_buf().map_err(failed)?.starts_with(&GZIP_MAGIC);
        if is_gzip {
            return parse(BufReader::new(MultiGzDecoder::new(reader)), file);
        }
        if file.extension().is_some_and(|extension| extension == "gz") {
            return Err(HitRatioError::NotGzip(file.to_owned()));
        }
        parse(reader, file)
    }

    #[cfg(test)]
    pub(super) fn from_references(
        references: impl IntoIterator<Item = (u32, u32)>,
        is_sized: bool,
    ) -> Self {
        let mut builder = Builder::default();
        for (key, size) in references {
            builder.add(&key.to_le_bytes(), size);
        }
        builder.build(is_sized)
    }
}

/// Reads lines; `file` is for errors.
fn parse(mut reader: impl BufRead, file: &Path) -> Result<Trace, HitRatioError> {
    let mut builder = Builder::default();
    let mut is_sized = None;
    let mut text = Vec::new();
    for line in 1.. {
        let wrong = |problem| HitRatioError::Line {
            file: file.to_owned(),
            line,
            problem,
        };
        text.clear();
        let read = reader.by_ref().take(LONGEST_LINE);
        let length =
            { read }
                .read_until(b'\n', &mut text)
                .map_err(|source| HitRatioError::Read {
                    file: file.to_owned(),
                    source,
                })?;
        if length == 0 {
            break;
        }
        if length as u64 == LONGEST_LINE {
            return Err(wrong("it is longer than 64 KiB"));
        }
        let mut words = text
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty());
        let Some(key) = words.next() else {
            continue;
        };
        let size = words.next();
        if words.next().is_some() {
            return Err(wrong("it has more than two words"));
        }
        if *is_sized.get_or_insert(size.is_some()) != size.is_some() {
            return Err(wrong("some lines have a size and some have none"));
        }
        let size = size
            .map_or(Some(1), size_of)
            .ok_or_else(|| wrong("the size is not a whole number from 1 to 4,294,967,295"))?;
        if builder.size_of_key.len() == u32::MAX as usize {
            return Err(wrong("there are more than 4,294,967,295 keys"));
        }
        builder.add(key, size);
    }
    match is_sized {
        Some(is_sized) => Ok(builder.build(is_sized)),
        None => Err(HitRatioError::Empty(file.to_owned())),
    }
}

fn size_of(word: &[u8]) -> Option<u32> {
    let size = std::str::from_utf8(word).ok()?.parse().ok()?;
    (size > 0).then_some(size)
}

#[derive(Default)]
struct Builder {
    references: Vec<Reference>,
    numbers: HashMap<Box<[u8]>, u32, RandomState>,
    size_of_key: Vec<u32>,
}

impl Builder {
    fn add(&mut self, key: &[u8], size: u32) {
        let key = match self.numbers.get(key) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(key.into(), number);
                self.size_of_key.push(size);
                number
            }
        };
        self.size_of_key[key as usize] = size;
        self.references.push(Reference { key, size });
    }

    fn build(self, is_sized: bool) -> Trace {
        Trace {
            references: self.references,
            is_sized,
            distinct_keys: self.size_of_key.len(),
            // Fewer than 2^32 keys of less than 2^32 bytes each.
            distinct_bytes: self.size_of_key.into_iter().map(u64::from).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn read(name: &str, content: &[u8]) -> Result<Trace, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let shown = format!("{}/", folder.path().display());
        Trace::read(&file).map_err(|error| error.to_string().replace(&shown, ""))
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn keys(trace: &Trace) -> Vec<u32> {
        trace.references.iter().map(|it| it.key).collect()
    }

    #[test]
    fn keys_are_any_words_and_are_numbered_as_they_come() {
        let trace = read("a", b"7\nuser:\xff\n7\r\n\n 8 ").unwrap();
        assert_eq!(keys(&trace), [0, 1, 0, 2]);
        assert_eq!((trace.distinct_keys, trace.distinct_bytes), (3, 3));
        assert!(!trace.is_sized);
    }

    #[test]
    fn a_size_belongs_to_its_key_until_another_comes() {
        let trace = read("a", b"a 10\nb 4294967295\na\t30\n").unwrap();
        let sizes: Vec<u32> = trace.references.iter().map(|it| it.size).collect();
        assert_eq!(sizes, [10, u32::MAX, 30]);
        assert_eq!(trace.distinct_bytes, 30 + u64::from(u32::MAX));
        assert!(trace.is_sized);
    }

    #[test]
    fn gzip_is_known_by_its_content_and_may_have_several_members() {
        let members = [gzip(b"a\nb\n"), gzip(b"a\n")].concat();
        for name in ["a.gz", "a"] {
            assert_eq!(keys(&read(name, &members).unwrap()), [0, 1, 0]);
        }
    }

    #[test]
    fn what_is_no_trace_is_told_with_the_line() {
        let long = vec![b'x'; 1 << 20];
        let cut = &gzip(&[b"1\n2\n".repeat(1000), long.clone()].concat())[..40];
        for (name, content, says) in [
            ("a.gz", &b"1\n2\n"[..], "a.gz is not gzip"),
            ("a", b"", "a holds no key"),
            ("a", b"\n \n", "a holds no key"),
            ("a", b"1\n2 3 4\n", "a, line 2: it has more than two words"),
            ("a", b"1\n2 3\n", "a, line 2: some lines have a size"),
            ("a", b"1 2\n2\n", "a, line 2: some lines have a size"),
            ("a", b"1 x\n", "a, line 1: the size is not a whole number"),
            ("a", b"1 0\n", "a, line 1: the size is not a whole number"),
            ("a", b"1 -1\n", "a, line 1: the size is not a whole number"),
            (
                "a",
                b"1 18446744073709551616\n",
                "a, line 1: the size is not",
            ),
            ("a", &long, "a, line 1: it is longer than 64 KiB"),
            ("a", cut, "cannot read a: "),
        ] {
            let error = read(name, content).expect_err(says);
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn a_missing_file_and_a_folder_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = |file: &Path| Trace::read(file).unwrap_err().to_string();
        assert!(error(folder.path()).ends_with("is a folder; name the trace files in it"));
        assert!(error(&folder.path().join("no")).starts_with("cannot read "));
    }
}
