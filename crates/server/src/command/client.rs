//! `CLIENT`: what is known about connections, and what a client says about itself.

use std::collections::HashSet;
use std::time::Instant;

use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::numbers::integer;
use super::table::{Command, Flags};
use super::work::{Progress, Step, Unfinished, Work};
use super::{Context, Handled, check_name_len, reply_help};
use crate::clients::Client;
use crate::session::Replies;

const OWN: &[Flags] = &[Flags::NOSCRIPT, Flags::ALWAYS, Flags::CONNECTION];
const ADMIN: &[Flags] = &[
    Flags::ADMIN,
    Flags::NOSCRIPT,
    Flags::ALWAYS,
    Flags::CONNECTION,
];

pub(super) const COMMANDS: &[Command] = &[Command::new("client", -2, help)
    .doc(
        "connection",
        "2.4.0",
        "depends on the subcommand",
        "Commands about connections.",
    )
    .subcommands(SUBCOMMANDS)];

const SUBCOMMANDS: &[Command] = &[
    Command::new("id", 2, id).flags(OWN).doc(
        "connection",
        "5.0.0",
        "O(1)",
        "The connection's number.",
    ),
    Command::new("info", 2, info).flags(OWN).doc(
        "connection",
        "6.2.0",
        "O(1)",
        "The connection's line of the list.",
    ),
    Command::new("list", -2, list).flags(ADMIN).doc(
        "connection",
        "2.4.0",
        "O(N)",
        "All connections, or those of a type or with an ID.",
    ),
    Command::new("setname", 3, setname).flags(OWN).doc(
        "connection",
        "2.6.9",
        "O(1)",
        "Names the connection.",
    ),
    Command::new("getname", 2, getname).flags(OWN).doc(
        "connection",
        "2.6.9",
        "O(1)",
        "The connection's name.",
    ),
    Command::new("setinfo", 4, setinfo).flags(OWN).doc(
        "connection",
        "7.2.0",
        "O(1)",
        "Tells the client library's name or version.",
    ),
    Command::new("reply", 3, reply).flags(OWN).doc(
        "connection",
        "3.2.0",
        "O(1)",
        "Turns replies on or off, or skips the next.",
    ),
    Command::new("no-evict", 3, accept_switch).flags(ADMIN).doc(
        "connection",
        "7.0.0",
        "O(1)",
        "Accepted: connections are never evicted here.",
    ),
    Command::new("no-touch", 3, accept_switch).flags(OWN).doc(
        "connection",
        "7.2.0",
        "O(1)",
        "Accepted without effect.",
    ),
    Command::new("help", 2, help)
        .flags(&[Flags::ALWAYS, Flags::CONNECTION])
        .doc("connection", "5.0.0", "O(1)", "Lists the subcommands."),
];

fn help(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    reply_help(context, "CLIENT", SUBCOMMANDS);
    Ok(())
}

fn id(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let id = context.client.id;
    context.reply().integer(id.cast_signed());
    Ok(())
}

fn info(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let line = context.client.describe(context.instant);
    context.reply().verbatim(b"txt", &format!("{line}\n"));
    Ok(())
}

/// Which connections `CLIENT LIST` shows.
#[derive(Debug)]
enum Selection {
    All,
    Subscribers,
    Others,
    None,
    Ids(HashSet<u64>),
}

impl Selection {
    fn parse(options: Args<'_>) -> Result<Self, CommandError> {
        let Some(option) = options.get(0) else {
            return Ok(Selection::All);
        };
        if option.eq_ignore_ascii_case(b"id") && options.len() > 1 {
            let ids = options.iter().skip(1).map(|argument| {
                let id = integer(argument).ok().filter(|id| *id > 0);
                id.map(i64::cast_unsigned)
                    .ok_or(CommandError::Text("ERR Invalid client ID"))
            });
            return ids.collect::<Result<_, _>>().map(Selection::Ids);
        }
        let (true, Some(kind), 2) = (
            option.eq_ignore_ascii_case(b"type"),
            options.get(1),
            options.len(),
        ) else {
            return Err(CommandError::Syntax);
        };
        match kind.to_ascii_lowercase().as_slice() {
            b"normal" => Ok(Selection::Others),
            b"pubsub" => Ok(Selection::Subscribers),
            b"master" | b"replica" | b"slave" => Ok(Selection::None),
            _ => {
                let kind = String::from_utf8_lossy(kind);
                let text = format!("ERR Unknown client type '{kind}'");
                Err(CommandError::Shown(text))
            }
        }
    }

    fn includes(&self, client: &Client) -> bool {
        match self {
            Selection::All => true,
            Selection::Subscribers => client.is_subscriber(),
            Selection::Others => !client.is_subscriber(),
            Selection::None => false,
            Selection::Ids(ids) => ids.contains(&client.id),
        }
    }
}

fn list(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    context.session.unfinished = Some(Unfinished::new(ListClients {
        selection: Selection::parse(args.skip(2))?,
        now: context.instant,
        last_id: 0,
        lines: String::new(),
    }));
    Ok(())
}

/// Clients that are described in one step.
const STEP_CLIENTS: usize = 64;

#[derive(Debug)]
struct ListClients {
    selection: Selection,
    now: Instant,
    last_id: u64,
    lines: String,
}

impl Work for ListClients {
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError> {
        let clients = step.shared.clients.after(self.last_id, STEP_CLIENTS);
        for client in &clients {
            if self.selection.includes(client) {
                self.lines.push_str(&client.describe(self.now));
                self.lines.push('\n');
            }
        }
        if self.lines.len() > step.shared.output_allowance() {
            return Err(CommandError::ReplyTooLong);
        }
        if let Some(last) = clients.last() {
            self.last_id = last.id;
            return Ok(Progress::Unfinished);
        }
        step.reply().verbatim(b"txt", &self.lines);
        Ok(Progress::Done)
    }

    fn request_bytes(&self) -> usize {
        match &self.selection {
            Selection::Ids(ids) => ids.capacity() * size_of::<u64>(),
            _ => 0,
        }
    }

    fn reply_bytes(&self) -> usize {
        self.lines.capacity()
    }
}

/// A name as `CLIENT SETNAME` and `HELLO` accept it.
pub(super) fn checked_name(name: &[u8]) -> Result<String, CommandError> {
    check_name_len(name, "client name")?;
    printable(name).ok_or(CommandError::Text(
        "ERR Client names cannot contain spaces, newlines or special characters.",
    ))
}

/// Text that cannot break the line format of `CLIENT LIST`.
fn printable(text: &[u8]) -> Option<String> {
    let is_printable = text.iter().all(u8::is_ascii_graphic);
    is_printable.then(|| String::from_utf8_lossy(text).into_owned())
}

fn setname(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    context.client.names.lock().name = checked_name(&args[2])?;
    context.reply_ok();
    Ok(())
}

fn getname(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let name = context.client.names.lock().name.clone();
    let mut reply = context.reply();
    if name.is_empty() {
        reply.null();
    } else {
        reply.bulk(name.as_bytes());
    }
    Ok(())
}

fn setinfo(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let attribute = args[2].to_ascii_lowercase();
    check_name_len(&args[3], "client library information")?;
    let value = printable(&args[3]);
    let mut names = context.client.names.lock();
    let (field, refusal) = match &*attribute {
        b"lib-name" => (
            &mut names.library,
            "ERR lib-name cannot contain spaces, newlines or special characters.",
        ),
        b"lib-ver" => (
            &mut names.library_version,
            "ERR lib-ver cannot contain spaces, newlines or special characters.",
        ),
        _ => {
            let attribute = String::from_utf8_lossy(&args[2]);
            let text = format!("ERR Unrecognized option '{attribute}'");
            return Err(CommandError::Shown(text));
        }
    };
    *field = value.ok_or(CommandError::Text(refusal))?;
    drop(names);
    context.reply_ok();
    Ok(())
}

fn reply(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    match args[2].to_ascii_lowercase().as_slice() {
        b"on" => {
            context.session.replies = Replies::On;
            context.reply_ok();
        }
        b"off" => context.session.replies = Replies::Off,
        b"skip" if context.session.replies == Replies::Off => {}
        b"skip" => context.session.replies = Replies::SkipNext,
        _ => return Err(CommandError::Syntax),
    }
    Ok(())
}

fn accept_switch(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    match args[2].to_ascii_lowercase().as_slice() {
        b"on" | b"off" => context.reply_ok(),
        _ => return Err(CommandError::Syntax),
    }
    Ok(())
}
