//! The faults of the fake PowerShell, from a file: one line per command, such as `die find`.

/// One way to apply_fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Ends at once.
    Die,
    /// Says nothing ever after.
    Hang,
    /// Says half a line and ends.
    Half,
    /// Writes an invalid line, then responds.
    Garbage,
    /// Says so much of it that no response can be waited for.
    Flood,
    /// Responds with another id.
    Stranger,
    /// Takes its time.
    Slow,
    /// Says that it is not allowed.
    Refuse,
    /// Speaks an older protocol.
    Old,
}

impl Fault {
    /// The fault for a command in the lines of a file.
    pub(crate) fn find(lines: &str, what: &str) -> Option<Self> {
        lines.lines().find_map(|line| {
            let (fault, place) = line.split_once(' ')?;
            (place == what).then_some(())?;
            match fault {
                "die" => Some(Self::Die),
                "hang" => Some(Self::Hang),
                "half" => Some(Self::Half),
                "garbage" => Some(Self::Garbage),
                "flood" => Some(Self::Flood),
                "stranger" => Some(Self::Stranger),
                "slow" => Some(Self::Slow),
                "refuse" => Some(Self::Refuse),
                "old" => Some(Self::Old),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn a_fault_holds_for_the_thing_that_it_names() {
        let lines = "slow find\ndie launch\nnonsense stop";
        assert_eq!(Fault::find(lines, "find"), Some(Fault::Slow));
        assert_eq!(Fault::find(lines, "launch"), Some(Fault::Die));
        assert_eq!((Fault::find(lines, "stop"), Fault::find(lines, "port")), (None, None));
    }
}
