//! Tests of the keeper with fake browsers and with a real Chromium and a real Firefox.

mod chromium;
mod fake_browser;
mod firefox;
mod support;
