//! The value that is read: the default one, its measures, its revisions, and a user's own file.

pub mod config;
mod revision;
mod shape;
pub mod source;

pub use revision::{revision_of, with_revision};
pub use shape::{Shape, shape};
