//! The Playwright-like API of scripts: each name, its options, and its declarations.

mod assertions;
mod contexts;
mod coverage;
mod declarations;
mod events;
mod fetch;
mod frames;
mod globals;
mod locators;
mod names;
mod navigation;
mod options;
mod routes;
