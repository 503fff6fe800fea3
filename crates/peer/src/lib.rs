//! One connection: correlation, deadlines, cancellation, sessions, era probe.
