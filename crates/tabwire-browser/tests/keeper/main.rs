//! The keeper around fake browsers and around a real Chromium.

mod chromium;
mod fake_browser;
mod support;
