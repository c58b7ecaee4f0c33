//! Error replies, in the words of Redis 7, which client libraries look at.

use hotcopy_engine::bytes::StoreError;

use super::glob::MAX_PATTERN_BYTES;
use super::{MAX_NAME_BYTES, MAX_SUBSCRIPTION_BYTES};

/// Why a command was refused. Its text is the whole error reply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("ERR unknown command '{name}', with args beginning with: {arguments}")]
    Unknown { name: String, arguments: String },
    #[error("ERR '{name}' works on {kind}, and only strings are stored here")]
    OtherType { name: String, kind: &'static str },
    #[error("ERR unknown subcommand '{name}'. Try {command} HELP.")]
    UnknownSubcommand { name: String, command: String },
    #[error("ERR wrong number of arguments for '{name}' command")]
    WrongArity { name: &'static str },
    #[error("ERR syntax error")]
    Syntax,
    #[error("ERR value is not an integer or out of range")]
    NotAnInteger,
    #[error("ERR invalid expire time in '{command}' command")]
    InvalidExpire { command: &'static str },
    #[error("ERR invalid cursor")]
    InvalidCursor,
    #[error("ERR pattern is longer than {MAX_PATTERN_BYTES} bytes")]
    PatternTooLong,
    #[error("ERR the keys that match are more than may wait for one client, use SCAN")]
    TooManyKeys,
    #[error("ERR the reply is longer than what may wait for one client")]
    ReplyTooLong,
    #[error("ERR {what} is longer than {MAX_NAME_BYTES} bytes")]
    NameTooLong { what: &'static str },
    #[error("ERR the names of this client's subscriptions exceed {MAX_SUBSCRIPTION_BYTES} bytes")]
    TooManySubscriptions,
    #[error("ERR DB index is out of range")]
    DatabaseOutOfRange,
    #[error("OOM command not allowed when used memory > 'maxmemory'.")]
    OutOfMemory,
    #[error("ERR string exceeds maximum allowed size ({max_item_bytes} bytes, --max-item-size)")]
    ItemTooLong { max_item_bytes: usize },
    #[error("ERR more than {max} pairs cannot be stored as one step")]
    TooManyPairs { max: usize },
    #[error("NOAUTH Authentication required.")]
    NotAuthenticated,
    #[error("WRONGPASS invalid username-password pair or user is disabled.")]
    WrongPassword,
    #[error(
        "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
    )]
    NoPasswordConfigured,
    #[error(
        "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
    )]
    SubscriberOnly { name: &'static str },
    /// A text that a single command uses.
    #[error("{0}")]
    Text(&'static str),
    /// The same with something of the request in it.
    #[error("{0}")]
    Shown(String),
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::TooLarge { .. } => CommandError::OutOfMemory,
            StoreError::ItemTooLong { max_item_bytes, .. } => {
                CommandError::ItemTooLong { max_item_bytes }
            }
        }
    }
}
