//! Actions on real pages: each does what it says, refuses bad input, and fails well at the wrong moment.

mod click;
mod moving;
mod cookies;
mod stage;
mod storage;
mod test_files;
mod waiting;
