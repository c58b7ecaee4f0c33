//! `CONFIG`: the settings, under the names that Redis has for them.

use std::collections::BTreeMap;

use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::glob;
use super::table::{Command, Flags};
use super::{Context, Handled, reply_help};
use crate::shared::Shared;

const ADMIN: &[Flags] = &[Flags::ADMIN, Flags::NOSCRIPT, Flags::ALWAYS];

pub(super) const COMMANDS: &[Command] = &[Command::new("config", -2, help)
    .doc(
        "server",
        "2.0.0",
        "depends on the subcommand",
        "Commands about settings.",
    )
    .subcommands(SUBCOMMANDS)];

const SUBCOMMANDS: &[Command] = &[
    Command::new("get", -3, get).flags(ADMIN).doc(
        "server",
        "2.0.0",
        "O(N) in the settings",
        "Settings whose names match.",
    ),
    Command::new("set", -4, set).flags(ADMIN).doc(
        "server",
        "2.0.0",
        "O(1)",
        "Refused: settings are given at the start.",
    ),
    Command::new("resetstat", 2, resetstat).flags(ADMIN).doc(
        "server",
        "2.0.0",
        "O(1)",
        "Starts the statistics of INFO again.",
    ),
    Command::new("rewrite", 2, rewrite).flags(ADMIN).doc(
        "server",
        "2.8.0",
        "O(1)",
        "Refused: there is no configuration file.",
    ),
    Command::new("help", 2, help).flags(&[Flags::ALWAYS]).doc(
        "server",
        "5.0.0",
        "O(1)",
        "Lists the subcommands.",
    ),
];

fn help(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    reply_help(context, "CONFIG", SUBCOMMANDS);
    Ok(())
}

/// The policy that holds whenever there is a limit: any key may go, and how often it was read counts.
pub(super) const MAXMEMORY_POLICY: &str = "allkeys-lfu";

/// Settings that clients and tools ask for, as they are in force here.
fn settings(shared: &Shared) -> BTreeMap<&'static str, String> {
    let config = &shared.config;
    let port = shared.tcp_address.map_or(0, |address| address.port());
    let unix = config.unix.as_ref();
    let outputs = format!(
        "normal {} 0 0 slave 0 0 0 pubsub {} 0 0",
        config.client_output_bytes, config.subscriber_output_bytes
    );
    let idle_timeout = config.idle_timeout.unwrap_or_default();
    BTreeMap::from([
        ("appendonly", "no".to_owned()),
        ("bind", config.bind.to_string()),
        ("client-output-buffer-limit", outputs),
        ("cluster-enabled", "no".to_owned()),
        ("databases", config.databases.to_string()),
        ("io-threads", config.threads.to_string()),
        ("maxclients", config.max_clients.to_string()),
        ("maxmemory", config.max_memory.unwrap_or(0).to_string()),
        ("maxmemory-policy", MAXMEMORY_POLICY.to_owned()),
        ("port", port.to_string()),
        ("proto-max-bulk-len", (512_u64 << 20).to_string()),
        (
            "requirepass",
            config
                .password
                .as_ref()
                .map_or(String::new(), |password| password.reveal().to_owned()),
        ),
        ("save", String::new()),
        ("tcp-keepalive", "300".to_owned()),
        ("timeout", idle_timeout.as_secs().to_string()),
        (
            "unixsocket",
            unix.map(|path| path.display().to_string())
                .unwrap_or_default(),
        ),
    ])
}

fn get(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let mut found = BTreeMap::new();
    let settings = settings(context.shared);
    for pattern in args.iter().skip(2) {
        glob::check_len(pattern)?;
        for (name, value) in &settings {
            if glob::matches_ignoring_case(pattern, name.as_bytes()) {
                // A name that was asked for in other letters is answered in those, as in Redis.
                let is_name = pattern.eq_ignore_ascii_case(name.as_bytes());
                let shown = if is_name { pattern } else { name.as_bytes() };
                found.insert(shown.to_vec(), value.as_str());
            }
        }
    }
    let mut reply = context.reply();
    reply.map(found.len());
    for (name, value) in found {
        reply.bulk(&name);
        reply.bulk(value.as_bytes());
    }
    Ok(())
}

fn set(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let name = String::from_utf8_lossy(&args[2]).to_lowercase();
    let text = if settings(context.shared).contains_key(&*name) {
        format!(
            "ERR CONFIG SET failed (possibly related to argument '{name}') - can't set immutable config"
        )
    } else {
        format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'")
    };
    Err(CommandError::Shown(text))
}

fn resetstat(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    context.shared.reset_stats();
    context.reply_ok();
    Ok(())
}

fn rewrite(_: &mut Context<'_>, _: Args<'_>) -> Handled {
    Err(CommandError::Text(
        "ERR The server is running without a config file",
    ))
}
