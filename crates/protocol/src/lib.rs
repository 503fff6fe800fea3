//! The protocol vocabularies as typed views over raw JSON, and the Fault type.
