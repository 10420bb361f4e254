//! Actions on real pages: each does what it says, refuses bad input, and fails well at the wrong moment.

#![expect(clippy::disallowed_methods, reason = "tests look at the files that actions made")]

mod choosing;
mod click;
mod discretion;
mod fault;
mod clipboard;
mod cookies;
mod counting_link;
mod downloads;
mod drag;
mod facts;
mod fill_form;
mod keys;
mod moving;
mod network_har;
mod network_requests;
mod network_routes;
mod network_settings;
mod pictures;
mod pointing;
mod reading;
mod round_trips;
mod scroll;
mod settling;
mod emulate;
mod init_script;
mod stage;
mod state;
mod storage;
mod test_files;
mod trace;
mod upload;
mod vitals;
mod waiting;
