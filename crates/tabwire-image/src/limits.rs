//! Limits of images that users can notice.

/// Most pixels of an image that is decoded: 16384 x 4096, 256 MiB in memory.
pub const PIXELS: u64 = 64 * 1024 * 1024;

/// Longest side of an image for a model. Models shrink larger images themselves.
pub const LONGEST_SIDE: u32 = 1_568;
