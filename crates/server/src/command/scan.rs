//! `SCAN` and `KEYS`.

use hotcopy_engine::bytes::{Cursor, Database, Keys};
use hotcopy_wire::resp::{Args, Encoder};

use super::error::CommandError;
use super::glob::{Pattern, check_len};
use super::numbers::integer;
use super::table::{Command, Flags};
use super::work::{Progress, STEP_KEYS, Step, Unfinished, Work};
use super::{Context, Handled};

/// Entries that one `SCAN` visits at the most. `COUNT` is a hint, and others wait meanwhile.
const MAX_COUNT: usize = 8_192;

const DEFAULT_COUNT: usize = 10;

pub(super) const COMMANDS: &[Command] = &[
    Command::new("scan", -2, scan)
        .flags(&[Flags::READONLY, Flags::KEYSPACE])
        .doc(
            "generic",
            "2.8.0",
            "O(1) per call",
            "The keys of a database, a few at a time.",
        ),
    Command::new("keys", 2, keys)
        .flags(&[Flags::READONLY, Flags::KEYSPACE, Flags::DANGEROUS])
        .doc("generic", "1.0.0", "O(N)", "All keys that match a pattern."),
];

struct Options<'a> {
    pattern: Option<Pattern<'a>>,
    count: usize,
    /// Whether values of the wanted type exist here at all.
    type_fits: bool,
}

impl<'a> Options<'a> {
    fn parse(mut words: impl Iterator<Item = &'a [u8]>) -> Result<Self, CommandError> {
        let mut options = Options {
            pattern: None,
            count: DEFAULT_COUNT,
            type_fits: true,
        };
        while let Some(option) = words.next() {
            let argument = words.next().ok_or(CommandError::Syntax)?;
            if option.eq_ignore_ascii_case(b"count") {
                let count = integer(argument)?;
                if count < 1 {
                    return Err(CommandError::Syntax);
                }
                options.count = usize::try_from(count).map_or(MAX_COUNT, |it| it.min(MAX_COUNT));
            } else if option.eq_ignore_ascii_case(b"match") {
                options.pattern = Some(Pattern::new(argument)?);
            } else if option.eq_ignore_ascii_case(b"type") {
                options.type_fits = argument.eq_ignore_ascii_case(b"string");
            } else {
                return Err(CommandError::Syntax);
            }
        }
        Ok(options)
    }
}

fn scan(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let cursor = parse_cursor(&args[1])?;
    let options = Options::parse(args.iter().skip(2))?;
    let mut found = Keys::default();
    let (database, now) = (context.database(), context.now);
    let next = context
        .store()
        .scan(database, cursor, options.count, now, &mut found);
    let mut reply = context.reply();
    reply.array(2);
    reply.bulk(next.0.to_string().as_bytes());
    reply_matching(context, &found, |key| {
        options.type_fits && options.pattern.as_ref().is_none_or(|it| it.matches(key))
    });
    Ok(())
}

/// Any unsigned number; one that no scan returned is a place to go on from like any other.
fn parse_cursor(argument: &[u8]) -> Result<Cursor, CommandError> {
    std::str::from_utf8(argument)
        .ok()
        .and_then(|text| text.parse().ok())
        .map(Cursor)
        .ok_or(CommandError::InvalidCursor)
}

fn keys(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    check_len(&args[1])?;
    context.session.unfinished = Some(Unfinished::new(ListKeys {
        database: context.database(),
        pattern: args[1].to_vec(),
        cursor: Cursor::default(),
        visited: Keys::default(),
        found: Vec::new(),
        count: 0,
    }));
    Ok(())
}

/// `KEYS`: the reply begins with how many keys there are, so all of them wait until the last is found.
#[derive(Debug)]
struct ListKeys {
    database: Database,
    pattern: Vec<u8>,
    cursor: Cursor,
    /// Of the step under way.
    visited: Keys,
    /// Those that match, as they will stand in the reply.
    found: Vec<u8>,
    count: usize,
}

impl Work for ListKeys {
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError> {
        self.visited.clear();
        let (cursor, visited) = (self.cursor, &mut self.visited);
        let store = &step.shared.store;
        self.cursor = store.scan(self.database, cursor, STEP_KEYS, step.now, visited);
        let pattern = Pattern::known(&self.pattern);
        for key in visited.iter().filter(|key| pattern.matches(key)) {
            Encoder::new(&mut self.found, step.version).bulk(key);
            self.count += 1;
        }
        if self.found.len() > step.shared.output_allowance() {
            return Err(CommandError::TooManyKeys);
        }
        if self.cursor != Cursor::default() {
            return Ok(Progress::Unfinished);
        }
        step.reply().array(self.count);
        step.output.encoded(&std::mem::take(&mut self.found).into());
        Ok(Progress::Done)
    }

    fn request_bytes(&self) -> usize {
        self.pattern.capacity()
    }

    fn reply_bytes(&self) -> usize {
        self.found.capacity()
    }
}

fn reply_matching(context: &mut Context<'_>, keys: &Keys, fits: impl Fn(&[u8]) -> bool) {
    let fitting: Vec<_> = keys.iter().filter(|key| fits(key)).collect();
    let mut reply = context.reply();
    reply.array(fitting.len());
    for key in fitting {
        reply.bulk(key);
    }
}
