//! Limits of generated content on the fixture site.

use std::time::Duration;

/// Most rows of `/table` and `/rows`: ten times the largest bench, about 10 MB of page.
pub(super) const GENERATED_ROWS: u32 = 100_000;

/// Rows of `/table` by default.
pub(super) const TABLE_ROWS: u32 = 10_000;

/// Rows of `/rows` by default: the smallest bench.
pub(super) const BENCH_ROWS: u32 = 200;

/// Most items of one `/list/items` response.
pub(super) const LIST_ITEMS: u32 = 1_000;

/// Most resources of one kind on `/resources`.
pub(super) const RESOURCES: u32 = 500;

/// Longest chain of `/redirect/chain`; browsers give up after 20.
pub(super) const REDIRECTS: u32 = 100;

/// Largest generated download.
pub(super) const DOWNLOAD_BYTES: u32 = 256 * 1024 * 1024;

/// Default size of a generated download.
pub(super) const DOWNLOAD_DEFAULT_BYTES: u32 = 100_000;

/// The number of pieces of a slow download.
pub(super) const DOWNLOAD_PIECES: u32 = 20;

/// Longest connection without a response, so that a killed test leaves no connection.
pub(super) const MAX_HANG: Duration = Duration::from_secs(120);

/// Most paths that are counted separately. Further paths share one counter.
pub(super) const COUNTED_PATHS: usize = 4_096;

/// Most parts an upload may have.
pub(super) const UPLOAD_PARTS: usize = 256;

/// Most gates of `/held` on one site.
pub(super) const GATES: usize = 4_096;
