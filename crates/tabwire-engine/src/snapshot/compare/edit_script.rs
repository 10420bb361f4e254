//! Shortest edit script between two sequences (Myers).

/// One step from the old sequence to the new one, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// In both.
    Keep { old: usize, new: usize },
    /// Only in the old one.
    Remove { old: usize },
    /// Only in the new one.
    Add { new: usize },
}

/// Finds a shortest edit script; none when it has more than `limit` removals and additions.
pub(crate) fn steps<T: PartialEq>(old: &[T], new: &[T], limit: usize) -> Option<Vec<Step>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let middle = search(&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail], limit)?;
    let mut steps: Vec<Step> = (0..head).map(|at| Step::Keep { old: at, new: at }).collect();
    steps.extend(middle.into_iter().map(|step| match step {
        Step::Keep { old, new } => Step::Keep { old: old + head, new: new + head },
        Step::Remove { old } => Step::Remove { old: old + head },
        Step::Add { new } => Step::Add { new: new + head },
    }));
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    steps.extend((0..tail).map(|at| Step::Keep { old: old_end + at, new: new_end + at }));
    Some(steps)
}

/// The furthest position on each diagonal, with room on both sides.
#[derive(Clone)]
struct Reach {
    values: Vec<usize>,
    offset: usize,
}

impl Reach {
    fn at(&self, diagonal: isize) -> usize {
        self.offset.checked_add_signed(diagonal).and_then(|at| self.values.get(at)).copied().unwrap_or(0)
    }

    fn set(&mut self, diagonal: isize, value: usize) {
        if let Some(slot) = self.offset.checked_add_signed(diagonal).and_then(|at| self.values.get_mut(at)) {
            *slot = value;
        }
    }

    /// Whether the best step onto a diagonal is an addition.
    fn is_addition(&self, diagonal: isize, distance: isize) -> bool {
        diagonal == -distance || (diagonal != distance && self.at(diagonal - 1) < self.at(diagonal + 1))
    }
}

fn search<T: PartialEq>(old: &[T], new: &[T], limit: usize) -> Option<Vec<Step>> {
    let most = limit.min(old.len() + new.len());
    let mut trace: Vec<Reach> = Vec::new();
    let mut reach = Reach { values: vec![0; 2 * most + 3], offset: most + 1 };
    for distance in 0..=isize::try_from(most).ok()? {
        trace.push(Reach { values: window(&reach, distance), offset: usize::try_from(distance).ok()? + 1 });
        let mut diagonal = -distance;
        while diagonal <= distance {
            let down = reach.is_addition(diagonal, distance);
            let mut x = if down { reach.at(diagonal + 1) } else { reach.at(diagonal - 1) + 1 };
            let mut y = x.checked_add_signed(-diagonal).unwrap_or(usize::MAX);
            while x < old.len() && y < new.len() && old[x] == new[y] {
                x += 1;
                y += 1;
            }
            reach.set(diagonal, x);
            if x >= old.len() && y >= new.len() {
                return Some(backtrack(&trace, old.len(), new.len(), distance));
            }
            diagonal += 2;
        }
    }
    None
}

/// The part of a row that backtracking needs.
fn window(reach: &Reach, distance: isize) -> Vec<usize> {
    (-distance - 1..=distance + 1).map(|diagonal| reach.at(diagonal)).collect()
}

fn backtrack(trace: &[Reach], old: usize, new: usize, distance: isize) -> Vec<Step> {
    let (mut x, mut y) = (old, new);
    let mut steps = Vec::new();
    for distance in (1..=distance).rev() {
        let Some(reach) = usize::try_from(distance).ok().and_then(|at| trace.get(at)) else { break };
        let diagonal = x.cast_signed() - y.cast_signed();
        let down = reach.is_addition(diagonal, distance);
        let (before, start) = if down {
            (diagonal + 1, reach.at(diagonal + 1))
        } else {
            (diagonal - 1, reach.at(diagonal - 1))
        };
        let start_y = start.checked_add_signed(-before).unwrap_or(0);
        let (after_x, after_y) = if down { (start, start_y + 1) } else { (start + 1, start_y) };
        while x > after_x && y > after_y {
            (x, y) = (x - 1, y - 1);
            steps.push(Step::Keep { old: x, new: y });
        }
        steps.push(if down { Step::Add { new: start_y } } else { Step::Remove { old: start } });
        (x, y) = (start, start_y);
    }
    while x > 0 && y > 0 {
        (x, y) = (x - 1, y - 1);
        steps.push(Step::Keep { old: x, new: y });
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(old: &str, new: &str) -> String {
        let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let steps = steps(&old, &new, 100).expect("within the limit");
        steps
            .into_iter()
            .map(|step| match step {
                Step::Keep { old: at, .. } => format!(" {}", old[at]),
                Step::Remove { old: at } => format!("-{}", old[at]),
                Step::Add { new: at } => format!("+{}", new[at]),
            })
            .collect()
    }

    #[test]
    fn scripts_are_shortest() {
        assert_eq!(show("", ""), "");
        assert_eq!(show("abc", "abc"), " a b c");
        assert_eq!(show("abc", "axc"), " a-b+x c");
        assert_eq!(show("abc", ""), "-a-b-c");
        assert_eq!(show("", "ab"), "+a+b");
        assert_eq!(show("abcabba", "cbabac").matches(['-', '+']).count(), 5);
    }

    #[test]
    fn no_script_beyond_the_limit() {
        assert_eq!(steps(&[1, 2, 3], &[4, 5, 6], 5), None);
        assert!(steps(&[1, 2, 3], &[4, 5, 6], 6).is_some());
    }

    proptest! {
        #[test]
        fn steps_turn_old_into_new(
            old in proptest::collection::vec(0_u8..6, 0..40),
            new in proptest::collection::vec(0_u8..6, 0..40),
        ) {
            let steps = steps(&old, &new, 80).expect("never longer than both");
            let mut from = Vec::new();
            let mut to = Vec::new();
            for step in steps {
                match step {
                    Step::Keep { old: at, new: other } => {
                        prop_assert_eq!(old[at], new[other]);
                        from.push(old[at]);
                        to.push(new[other]);
                    }
                    Step::Remove { old: at } => from.push(old[at]),
                    Step::Add { new: at } => to.push(new[at]),
                }
            }
            prop_assert_eq!(from, old);
            prop_assert_eq!(to, new);
        }
    }
}
