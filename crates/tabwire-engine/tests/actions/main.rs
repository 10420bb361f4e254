//! Actions on real pages: each does what it says, refuses bad input, and fails well at the wrong moment.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the files that actions made"
)]

mod address_corpus;
mod address_difference;
mod bad_input;
mod capture;
mod choosing;
mod churn;
mod click;
mod clipboard;
mod cookies;
mod counting_link;
mod diff;
mod discretion;
mod downloads;
mod drag;
mod emulate;
mod facts;
mod fault;
mod fill;
mod fill_form;
mod fit_parameters;
mod frame;
mod init_script;
mod keys;
mod listeners;
mod moving;
mod navigating;
mod network_har;
mod network_requests;
mod network_routes;
mod network_settings;
mod parameter_needs;
mod pictures;
mod pointing;
mod reading;
mod record;
mod round_trips;
mod scroll;
mod secrets;
mod settling;
mod signalling_link;
mod stage;
mod state;
mod storage;
mod test_files;
mod test_logins;
mod trace;
mod upload;
mod vitals;
mod waiting;
