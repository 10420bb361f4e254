//! Elements and the input that acts on them: mouse, keyboard, touch, drag.

pub(crate) mod checkbox;
pub(crate) mod drag;
pub(crate) mod element;
pub(crate) mod focus;
pub(crate) mod form;
pub(crate) mod frame_check;
pub(crate) mod hit_target;
pub(crate) mod keyboard;
pub(crate) mod keys;
pub(crate) mod locator;
pub(crate) mod mouse;
pub(crate) mod touch;
pub(crate) mod user_input;
