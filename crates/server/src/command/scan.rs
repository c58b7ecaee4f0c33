//! `SCAN` and `KEYS`.

use hotcopy_engine::bytes::{Cursor, Keys};
use hotcopy_wire::resp::{Args, Encoder};

use super::error::CommandError;
use super::glob::Pattern;
use super::numbers::integer;
use super::table::{Command, Flags};
use super::{Context, Handled};

/// Entries that one `SCAN` visits at the most. `COUNT` is a hint, and others wait meanwhile.
const MAX_COUNT: usize = 65_536;

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
    let pattern = Pattern::new(&args[1])?;
    let (database, now) = (context.database(), context.now);
    let (mut body, mut count) = (Vec::new(), 0);
    let version = context.session.version;
    let allowance = context.shared.output_allowance();
    context.store().for_all_keys(database, now, |keys| {
        for key in keys.iter().filter(|key| pattern.matches(key)) {
            Encoder::new(&mut body, version).bulk(key);
            count += 1;
            if body.len() > allowance {
                return Err(CommandError::TooManyKeys);
            }
        }
        Ok(())
    })?;
    context.reply().array(count);
    context.output.encoded(&body.into());
    Ok(())
}

fn reply_matching(context: &mut Context<'_>, keys: &Keys, fits: impl Fn(&[u8]) -> bool) {
    let fitting: Vec<_> = keys.iter().filter(|key| fits(key)).collect();
    let mut reply = context.reply();
    reply.array(fitting.len());
    for key in fitting {
        reply.bulk(key);
    }
}
