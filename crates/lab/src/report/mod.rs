//! Printing results. To be written.
