//! The table of settings, and the layers that set them.
//!
//! Layers, lowest first: default, user file, project file, environment, flags.

mod configuration;
mod file_edit;
mod layer;
mod origin;
mod project_rule;
mod reference;
mod session_defaults;
mod setting;
mod settings;
mod value;

pub(crate) use configuration::{Configuration, FileRole, user_file};
pub(crate) use file_edit::{set_in_file, unset_in_file};
pub(crate) use layer::{read_text, unknown_hint};
pub(crate) use origin::{Origin, ValueWithOrigin};
pub use reference::{configuration_page, configuration_schema};
pub(crate) use setting::{Key, Setting, find_setting};
pub(crate) use settings::SETTINGS;
pub(crate) use value::Value;
