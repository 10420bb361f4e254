//! The size of long tests: short by default, full with `cargo xtask test --full`.

/// The variable that `cargo xtask test --full` sets to `full`.
const VARIABLE: &str = "TABWIRE_TEST_SIZE";

/// Chooses between a count for every run and a larger one for full runs.
#[must_use]
pub fn by_size<T>(short: T, full: T) -> T {
    if std::env::var_os(VARIABLE).is_some_and(|size| size == "full") { full } else { short }
}
