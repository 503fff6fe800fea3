//! Calls that wait for their client to come back with what it was asked for: how many may wait, for how long, and who takes one
//! up again.
//!
//! Who was told the token of a call, and makes the same request as the same principal, takes it up; a token is good for one
//! use. Nobody who never comes back takes the places of all: each principal has a share of them. Whatever leaves the table is
//! given to the caller, to be ended where no lock is held.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many calls may wait, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParkingLimits {
    /// All principals together.
    pub waiting: usize,
    /// Of one principal.
    pub of_principal: usize,
    /// How long one waits.
    pub resume_timeout: Duration,
}

/// What must be presented to take a call up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkingClaim {
    /// Whose call it is.
    pub principal: Arc<str>,
    /// What makes a request the same one.
    pub fingerprint: [u8; 32],
}

/// Why a call cannot wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    /// Too many calls wait.
    ForAnybody,
    /// Too many calls of its principal do.
    ForPrincipal,
}

#[derive(Debug)]
struct ParkedCall<T> {
    claim: ParkingClaim,
    until: Instant,
    call: T,
}

/// The calls that wait, by the tokens that their clients were told.
#[derive(Debug)]
pub struct Parking<T>(HashMap<String, ParkedCall<T>>);

impl<T> Default for Parking<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Parking<T> {
    /// Lets a call wait under a token that nobody can guess.
    ///
    /// # Errors
    /// There is no place for it; the call again.
    pub fn park(
        &mut self,
        token: String,
        claim: ParkingClaim,
        call: T,
        limits: &ParkingLimits,
        now: Instant,
    ) -> Result<(), (NoPlace, T)> {
        let waiting = || self.0.values().filter(|parked| parked.until > now);
        if waiting().count() >= limits.waiting {
            return Err((NoPlace::ForAnybody, call));
        }
        if waiting().filter(|parked| parked.claim.principal == claim.principal).count() >= limits.of_principal {
            return Err((NoPlace::ForPrincipal, call));
        }
        self.0.insert(token, ParkedCall { claim, until: now + limits.resume_timeout, call });
        Ok(())
    }

    /// The call that would be taken up again; `None` where none waits under this token for this principal and this request.
    #[must_use]
    pub fn peek(&self, token: &str, claim: &ParkingClaim, now: Instant) -> Option<&T> {
        let parked = self.0.get(token).filter(|parked| parked.until > now && parked.claim == *claim);
        parked.map(|parked| &parked.call)
    }

    /// Takes that call up again.
    pub fn resume(&mut self, token: &str, claim: &ParkingClaim, now: Instant) -> Option<T> {
        self.peek(token, claim, now)?;
        self.0.remove(token).map(|parked| parked.call)
    }

    /// Whether a call of this principal waits under this token.
    #[must_use]
    pub fn has(&self, token: &str, principal: &str) -> bool {
        self.0.get(token).is_some_and(|parked| *parked.claim.principal == *principal)
    }

    /// The call that waits under this token.
    pub fn get_mut(&mut self, token: &str) -> Option<&mut T> {
        self.0.get_mut(token).map(|parked| &mut parked.call)
    }

    /// Whether no call waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes out the calls that nobody came back for in time.
    pub fn expire(&mut self, now: Instant) -> Vec<T> {
        self.take_where(|parked| parked.until <= now)
    }

    /// Takes out the calls that may not go on.
    pub fn end_where(&mut self, ends: impl Fn(&T) -> bool) -> Vec<T> {
        self.take_where(|parked| ends(&parked.call))
    }

    fn take_where(&mut self, ends: impl Fn(&ParkedCall<T>) -> bool) -> Vec<T> {
        self.0.extract_if(|_, parked| ends(parked)).map(|(_, parked)| parked.call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ParkingLimits =
        ParkingLimits { waiting: 3, of_principal: 2, resume_timeout: Duration::from_secs(600) };

    fn claim(principal: &str, request: u8) -> ParkingClaim {
        ParkingClaim { principal: principal.into(), fingerprint: [request; 32] }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn a_call_is_taken_up_once_by_who_got_the_token_for_the_same_request_and_in_time() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        for (what, token, who, when, taken_up) in [
            ("the same", "t", claim("ada", 1), at(599), true),
            ("another token", "u", claim("ada", 1), at(0), false),
            ("another principal", "t", claim("eve", 1), at(0), false),
            ("another request", "t", claim("ada", 2), at(0), false),
            ("too late", "t", claim("ada", 1), at(600), false),
        ] {
            let mut parking = Parking::default();
            parking.park("t".to_owned(), claim("ada", 1), "call", &LIMITS, began).unwrap();
            assert_eq!(parking.peek(token, &who, when).is_some(), taken_up, "{what}");
            assert_eq!(parking.resume(token, &who, when).is_some(), taken_up, "{what}");
            assert_eq!(parking.has("t", "ada"), !taken_up, "{what}: it waits unless it was taken up");
            assert_eq!(parking.resume("t", &claim("ada", 1), at(1)).is_some(), !taken_up, "{what}: once");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn nobody_takes_the_places_of_all_and_places_become_free_in_time() {
        let began = Instant::now();
        let mut parking = Parking::default();
        for (token, principal, seconds, expected) in [
            ("1", "ada", 0, Ok(())),
            ("2", "ada", 0, Ok(())),
            ("3", "ada", 1, Err(NoPlace::ForPrincipal)),
            ("4", "bob", 1, Ok(())),
            ("5", "eve", 1, Err(NoPlace::ForAnybody)),
            // Those that came too late do not count, taken out or not.
            ("6", "ada", 600, Ok(())),
            ("7", "eve", 600, Ok(())),
        ] {
            let now = began + Duration::from_secs(seconds);
            let parked = parking.park(token.to_owned(), claim(principal, 0), token, &LIMITS, now);
            assert_eq!(parked.map_err(|(why, _)| why), expected, "{token}");
        }
        let mut late = parking.expire(began + Duration::from_secs(600));
        late.sort_unstable();
        assert_eq!(late, ["1", "2"]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn what_may_not_go_on_is_taken_out() {
        let began = Instant::now();
        let mut parking = Parking::default();
        for token in ["a", "b"] {
            parking.park(token.to_owned(), claim("ada", 0), token, &LIMITS, began).unwrap();
        }
        assert_eq!(parking.end_where(|call| *call == "a"), ["a"]);
        assert!(parking.get_mut("a").is_none() && parking.get_mut("b").is_some() && !parking.is_empty());
        assert_eq!(parking.end_where(|_| true), ["b"]);
        assert!(parking.is_empty());
    }
}
