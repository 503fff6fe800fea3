//! System calls without a guard: what an attacker has, and the only place with `unsafe` here.

use std::io;

/// Makes a system call. Missing arguments are 0.
pub(super) fn call(number: i64, arguments: &[usize]) -> io::Result<usize> {
    let word = |at: usize| arguments.get(at).copied().unwrap_or_default();
    #[expect(unsafe_code, reason = "an attacker is not bound to safe interfaces, and neither may its double be")]
    // SAFETY: this runs in a program of its own that exists to do harm and ends afterwards. Every caller passes
    // pointers to buffers that live until the call returns, of the size that the call is told.
    let outcome = unsafe { libc::syscall(number, word(0), word(1), word(2), word(3), word(4), word(5)) };
    usize::try_from(outcome).map_err(|_| io::Error::last_os_error())
}

/// The address of a value, for a call that reads it.
pub(super) fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<()>().expose_provenance()
}

/// The address of a value, for a call that writes it.
pub(super) fn place<T: ?Sized>(value: &mut T) -> usize {
    std::ptr::from_mut(value).cast::<()>().expose_provenance()
}
