//! URLs and addresses (MGP 4.5, network_restricted).
