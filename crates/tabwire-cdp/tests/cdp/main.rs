//! The CDP client against a scripted browser and against a real Chromium.

mod chromium;
mod commands;
mod real_chromium;
mod scripted_browser;
mod sessions;
mod transports;
