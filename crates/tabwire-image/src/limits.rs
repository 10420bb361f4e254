//! Bounds of pictures, each with its reason.

/// Pixels of a picture that is decoded: 16384 x 4096, 256 MiB as bytes; beyond that something is wrong.
pub const PIXELS: u64 = 64 * 1024 * 1024;

/// The longest side a picture for a model needs: larger ones are shrunk by who reads them anyway.
pub const LONGEST_SIDE: u32 = 1_568;

/// Parts that are told in which two pictures differ; beyond this the largest ones.
pub const DIFFERENT_PARTS: usize = 50;
