//! Code safety (MGP 7).
