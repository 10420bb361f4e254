//! Text, values, images, recordings and measurements of a page.

pub(crate) mod capture;
mod changes;
pub(crate) mod diff;
pub(crate) mod facts;
pub(crate) mod listeners;
pub(crate) mod lists;
pub(crate) mod record;
pub(crate) mod screenshots;
pub(crate) mod text;
pub(crate) mod trace;
pub(crate) mod vitals;
