//! Tests of the keeper with fake browsers and with a real Chromium.

mod chromium;
mod fake_browser;
mod support;
