//! Packages: installed from local files into an empty prefix, used without Rust on PATH, and removed.

mod agents;
mod image;
mod older_debian;
mod pack;
mod packages;
mod place;
mod reproducible;
mod site;
mod upgrade;
mod validators;
