//! Small numbers that are the same for the same seed (xorshift). No secret is made of them.

/// A source of chance.
pub(super) struct Chance(u64);

impl Chance {
    /// Begins with a seed; zero would give nothing but zeros.
    pub(super) fn new(seed: u64) -> Chance {
        Chance(seed.max(1))
    }

    /// A number below `bound`, which is not zero.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// One of several.
    pub(super) fn choose<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        let at = self.below(u64::try_from(among.len()).unwrap_or(u64::MAX).max(1));
        among.get(usize::try_from(at).unwrap_or_default())
    }
}
