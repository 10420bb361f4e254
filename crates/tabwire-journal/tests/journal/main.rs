//! The journal through its public face: what is kept, for how long, and what no accident takes away.

mod accidents;
mod keeping;
mod reading;
mod sample;
