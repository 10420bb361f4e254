//! A seeded xorshift generator. Not for secrets.

/// The generator.
pub(super) struct Rng(u64);

impl Rng {
    /// Starts with a seed. Zero becomes one: xorshift maps zero to zero.
    pub(super) fn new(seed: u64) -> Rng {
        Rng(seed.max(1))
    }

    /// A number below `bound`; `bound` is at least 1.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// A random element; `None` for an empty slice.
    pub(super) fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(u64::try_from(items.len()).unwrap_or(u64::MAX).max(1));
        items.get(usize::try_from(at).unwrap_or_default())
    }
}
