//! The product as its users meet it: the real binary, a real Chromium, real clients, and real faults.
//!
//! Every test has a world of its own (`world`) and leaves nothing behind, which the world checks.

mod action;
mod attachment;
mod auth;
mod browser_fault;
mod browser_state;
mod cancel;
mod cdp_client;
mod chromium;
mod clients;
mod comfort;
mod command_line;
mod completion;
mod config;
mod daemon_fault;
mod doctor;
mod evaluation;
mod evidence;
mod files;
mod fixture_site;
mod flow;
mod full_disk;
mod hostile;
mod isolation;
mod journal;
mod lease;
mod leftover;
mod link_fault;
mod network;
mod process;
mod profile;
mod reading;
mod recovery;
mod session;
mod session_life;
mod session_memory;
mod storm;
mod suite;
mod survival;
mod terminal;
mod waiting;
mod watchdog;
mod world;
