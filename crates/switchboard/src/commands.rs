//! The commands that do one thing and end.

pub(crate) mod access;
pub(crate) mod add;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod callbacks;
pub(crate) mod check;
pub(crate) mod connect;
pub(crate) mod doctor;
pub(crate) mod grant;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod kernel;
pub(crate) mod login;
pub(crate) mod manifest;
pub(crate) mod memory;
pub(crate) mod operator_session;
pub(crate) mod pins;
pub(crate) mod registry;
pub(crate) mod restore;
pub(crate) mod revoke;
pub(crate) mod servers;
pub(crate) mod token;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod uninstall;
