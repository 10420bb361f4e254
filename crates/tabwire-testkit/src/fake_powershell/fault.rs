//! The faults of the fake PowerShell, from a file: one line per command, such as `die find`.

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Exits immediately.
    Die,
    /// Writes nothing any more.
    Hang,
    /// Writes half a line and exits.
    Half,
    /// Writes an invalid line, then responds.
    Garbage,
    /// Writes so many invalid lines that the response never arrives.
    Flood,
    /// Responds with another id.
    WrongId,
    /// Responds late.
    Slow,
    /// Responds that access is denied.
    Refuse,
    /// Reports an older protocol version.
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
                "stranger" => Some(Self::WrongId),
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
    fn fault_applies_to_its_command() {
        let lines = "slow find\ndie launch\nnonsense stop";
        assert_eq!(Fault::find(lines, "find"), Some(Fault::Slow));
        assert_eq!(Fault::find(lines, "launch"), Some(Fault::Die));
        assert_eq!((Fault::find(lines, "stop"), Fault::find(lines, "port")), (None, None));
    }
}
