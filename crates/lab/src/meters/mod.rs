//! Meters. To be written.
