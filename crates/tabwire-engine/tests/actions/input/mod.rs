//! Mouse, keyboard, touch and forms.

pub(crate) mod choosing;
pub(crate) mod click;
pub(crate) mod drag;
pub(crate) mod echo;
pub(crate) mod fill;
pub(crate) mod fill_form;
pub(crate) mod keys;
pub(crate) mod pointer;
pub(crate) mod scroll;
pub(crate) mod upload;
