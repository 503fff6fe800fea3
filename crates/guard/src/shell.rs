//! Shell commands (MGP 4.5, sandbox).
