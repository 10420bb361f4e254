//! The fake browser, the stage with its clients, and the model of generated stories.

pub(crate) mod fake_browser;
pub(crate) mod fake_page;
pub(crate) mod model;
pub(crate) mod stage;
pub(crate) mod step;
