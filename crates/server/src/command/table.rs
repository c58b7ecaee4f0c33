//! The table of commands: what is known about each, and how a request finds its own.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::other_types;
use super::{Context, Handled};

pub(super) type Handler = fn(&mut Context<'_>, Args<'_>) -> Handled;

/// One command or subcommand.
#[derive(Debug)]
pub(crate) struct Command {
    pub(super) name: &'static str,
    /// Number of arguments with the name; negative: at least so many.
    arity: i32,
    pub(super) flags: Flags,
    pub(super) keys: Keys,
    pub(super) group: &'static str,
    /// The version of Redis that had it first.
    pub(super) since: &'static str,
    pub(super) complexity: &'static str,
    pub(super) summary: &'static str,
    pub(super) handler: Handler,
    pub(super) subcommands: &'static [Command],
}

/// Where a command's keys are among its arguments, as Redis describes it; all zero without keys.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keys {
    pub(super) first: i32,
    /// Negative: counted from the end.
    pub(super) last: i32,
    pub(super) step: i32,
    /// What is done with them, in the words of `COMMAND INFO`.
    pub(super) access: &'static [&'static str],
}

/// A set of properties of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flags(u32);

impl Flags {
    pub(super) const NONE: Flags = Flags(0);
    pub(super) const WRITE: Flags = Flags(1);
    pub(super) const READONLY: Flags = Flags(1 << 1);
    /// It can need memory.
    pub(super) const DENYOOM: Flags = Flags(1 << 2);
    pub(super) const ADMIN: Flags = Flags(1 << 3);
    pub(super) const PUBSUB: Flags = Flags(1 << 4);
    pub(super) const NOSCRIPT: Flags = Flags(1 << 5);
    /// It works while a server loads its data (`loading`) and while a replica lags (`stale`).
    pub(super) const ALWAYS: Flags = Flags(1 << 6);
    /// Its time does not depend on how much is stored.
    pub(super) const FAST: Flags = Flags(1 << 7);
    /// A client may use it before it has authenticated.
    pub(super) const NO_AUTH: Flags = Flags(1 << 8);
    /// A subscriber may use it with RESP2.
    pub(super) const FOR_SUBSCRIBERS: Flags = Flags(1 << 9);
    /// Belongs to the category of commands that can harm others.
    pub(super) const DANGEROUS: Flags = Flags(1 << 10);
    pub(super) const KEYSPACE: Flags = Flags(1 << 11);
    pub(super) const STRING: Flags = Flags(1 << 12);
    pub(super) const CONNECTION: Flags = Flags(1 << 13);

    pub(super) const fn contains(self, flag: Flags) -> bool {
        self.0 & flag.0 == flag.0
    }

    pub(super) const fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// The flags that `COMMAND INFO` names, in its order.
    pub(super) fn names(self) -> Vec<&'static str> {
        const NAMES: [(Flags, &[&str]); 8] = [
            (Flags::WRITE, &["write"]),
            (Flags::READONLY, &["readonly"]),
            (Flags::DENYOOM, &["denyoom"]),
            (Flags::ADMIN, &["admin"]),
            (Flags::PUBSUB, &["pubsub"]),
            (Flags::NOSCRIPT, &["noscript"]),
            (Flags::ALWAYS, &["loading", "stale"]),
            (Flags::FAST, &["fast"]),
        ];
        let mut names: Vec<_> = self.named(&NAMES);
        if self.contains(Flags::NO_AUTH) {
            names.extend(["no_auth", "allow_busy"]);
        }
        names
    }

    /// The categories that `COMMAND INFO` names, in its order.
    pub(super) fn categories(self) -> Vec<&'static str> {
        const BEFORE: [(Flags, &[&str]); 7] = [
            (Flags::KEYSPACE, &["@keyspace"]),
            (Flags::READONLY, &["@read"]),
            (Flags::WRITE, &["@write"]),
            (Flags::STRING, &["@string"]),
            (Flags::PUBSUB, &["@pubsub"]),
            (Flags::ADMIN, &["@admin"]),
            (Flags::FAST, &["@fast"]),
        ];
        let mut names: Vec<_> = self.named(&BEFORE);
        if !self.contains(Flags::FAST) {
            names.push("@slow");
        }
        if self.contains(Flags::ADMIN) || self.contains(Flags::DANGEROUS) {
            names.push("@dangerous");
        }
        if self.contains(Flags::CONNECTION) {
            names.push("@connection");
        }
        names
    }

    fn named(self, names: &[(Flags, &[&'static str])]) -> Vec<&'static str> {
        let set = names.iter().filter(|(flag, _)| self.contains(*flag));
        set.flat_map(|(_, names)| *names).copied().collect()
    }
}

impl Command {
    pub(super) const fn new(name: &'static str, arity: i32, handler: Handler) -> Self {
        Command {
            name,
            arity,
            flags: Flags::NONE,
            keys: Keys {
                first: 0,
                last: 0,
                step: 0,
                access: &[],
            },
            group: "server",
            since: "1.0.0",
            complexity: "O(1)",
            summary: "",
            handler,
            subcommands: &[],
        }
    }

    pub(super) const fn flags(mut self, flags: &[Flags]) -> Self {
        let mut at = 0;
        while at < flags.len() {
            self.flags = self.flags.and(flags[at]);
            at += 1;
        }
        self
    }

    pub(super) const fn keys(
        mut self,
        (first, last, step): (i32, i32, i32),
        access: &'static [&'static str],
    ) -> Self {
        self.keys = Keys {
            first,
            last,
            step,
            access,
        };
        self
    }

    pub(super) const fn doc(
        mut self,
        group: &'static str,
        since: &'static str,
        complexity: &'static str,
        summary: &'static str,
    ) -> Self {
        self.group = group;
        self.since = since;
        self.complexity = complexity;
        self.summary = summary;
        self
    }

    pub(super) const fn subcommands(mut self, subcommands: &'static [Command]) -> Self {
        self.subcommands = subcommands;
        self
    }

    pub(super) fn arity(&self) -> i32 {
        self.arity
    }

    fn accepts(&self, arguments: usize) -> bool {
        let wanted = self.arity.unsigned_abs() as usize;
        if self.arity < 0 {
            arguments >= wanted
        } else {
            arguments == wanted
        }
    }
}

/// A command with its place in the table.
pub(super) struct Entry {
    pub(super) command: &'static Command,
    /// `get`, `client|id`.
    full_name: String,
    /// The subcommands' indices.
    subcommands: Vec<usize>,
}

pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
    by_name: HashMap<&'static [u8], usize, RandomState>,
}

/// Longer names belong to no command; it bounds the copy that is made to fold the case.
const MAX_NAME: usize = 32;

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let families = [
        super::connection::COMMANDS,
        super::client::COMMANDS,
        super::introspection::COMMANDS,
        super::config::COMMANDS,
        super::info::COMMANDS,
        super::admin::COMMANDS,
        super::strings::COMMANDS,
        super::set::COMMANDS,
        super::set_many::COMMANDS,
        super::ranges::COMMANDS,
        super::arithmetic::COMMANDS,
        super::keys::COMMANDS,
        super::rename::COMMANDS,
        super::expire::COMMANDS,
        super::object::COMMANDS,
        super::scan::COMMANDS,
        super::pubsub::COMMANDS,
        #[cfg(test)]
        super::tests::COMMANDS,
    ];
    let mut table = Table {
        entries: Vec::new(),
        by_name: HashMap::default(),
    };
    for command in families.into_iter().flatten() {
        let index = table.entries.len();
        table.by_name.insert(command.name.as_bytes(), index);
        table.entries.push(Entry {
            command,
            full_name: command.name.to_owned(),
            subcommands: (index + 1..=index + command.subcommands.len()).collect(),
        });
        for subcommand in command.subcommands {
            table.entries.push(Entry {
                command: subcommand,
                full_name: format!("{}|{}", command.name, subcommand.name),
                subcommands: Vec::new(),
            });
        }
    }
    table
});

impl Table {
    /// The commands without their subcommands.
    pub(super) fn commands(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.iter();
        entries.filter(|entry| !entry.full_name.contains('|'))
    }

    /// Looks a command up by its name, or a subcommand by `command|subcommand`.
    pub(super) fn find(&self, name: &[u8]) -> Option<&Entry> {
        let mut parts = name.splitn(2, |byte| *byte == b'|');
        let index = self.by_folded_name(parts.next()?)?;
        match parts.next() {
            None => self.entries.get(index),
            Some(subcommand) => self.entries.get(self.subcommand(index, subcommand)?),
        }
    }

    fn by_folded_name(&self, name: &[u8]) -> Option<usize> {
        let mut folded = [0; MAX_NAME];
        let folded = folded.get_mut(..name.len())?;
        folded.copy_from_slice(name);
        folded.make_ascii_lowercase();
        self.by_name.get(&*folded).copied()
    }

    fn subcommand(&self, index: usize, name: &[u8]) -> Option<usize> {
        let subcommands = self.entries[index].subcommands.iter().copied();
        subcommands
            .into_iter()
            .find(|at| name.eq_ignore_ascii_case(self.entries[*at].command.name.as_bytes()))
    }
}

impl Entry {
    pub(super) fn full_name(&self) -> &str {
        &self.full_name
    }

    pub(super) fn subcommands<'t>(
        &self,
        table: &'t Table,
    ) -> impl ExactSizeIterator<Item = &'t Entry> {
        let indices = self.subcommands.clone();
        indices.into_iter().map(|index| &table.entries[index])
    }
}

/// The name of the command at an index of the table.
pub(crate) fn full_name(index: usize) -> Option<&'static str> {
    TABLE.entries.get(index).map(Entry::full_name)
}

/// The command that a request names, its number of arguments checked.
pub(super) fn resolve(args: Args<'_>) -> Result<(usize, &'static Command), CommandError> {
    let table = &*TABLE;
    let mut index = table
        .by_folded_name(&args[0])
        .ok_or_else(|| unknown(args))?;
    if !table.entries[index].subcommands.is_empty()
        && let Some(name) = args.get(1)
    {
        let unknown = || CommandError::UnknownSubcommand {
            name: shown(name, 128),
            command: table.entries[index].full_name.to_uppercase(),
        };
        index = table.subcommand(index, name).ok_or_else(unknown)?;
    }
    let entry = &table.entries[index];
    if !entry.command.accepts(args.len()) {
        let name = &entry.full_name;
        return Err(CommandError::WrongArity { name });
    }
    Ok((index, entry.command))
}

fn unknown(args: Args<'_>) -> CommandError {
    if let Some(kind) = other_types::kind(&args[0]) {
        let name = shown(&args[0], MAX_NAME).to_uppercase();
        return CommandError::OtherType { name, kind };
    }
    let mut arguments = String::new();
    for argument in args.iter().skip(1) {
        if arguments.len() >= 128 {
            break;
        }
        let left = 128 - arguments.len();
        arguments.push('\'');
        arguments.push_str(&shown(argument, left));
        arguments.push_str("' ");
    }
    CommandError::Unknown {
        name: shown(&args[0], 128),
        arguments,
    }
}

fn shown(bytes: &[u8], max: usize) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(max)]).into_owned()
}
