//! Requests and responses of the fixture site.

pub(super) mod form_fields;
pub(super) mod incoming;
pub(super) mod multipart;
pub(super) mod recorded_head;
pub(super) mod response;
