//! Requests and answers of the daemon's API.
