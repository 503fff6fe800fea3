//! The real binary in folders of its own: what it prints, how it ends, and how it stands servers that misbehave.

mod faults;
mod files;
mod orphans;
mod serve;
mod stdio;
mod support;
mod text;
