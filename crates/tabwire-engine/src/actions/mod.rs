//! One file for each action; this one only lists them.

mod back;
mod click;
mod cookies;
mod dialog;
mod eval;
mod fill;
mod find;
mod forward;
mod navigate;
mod reload;
mod snapshot;
mod storage;
mod tab_close;
mod tab_new;
mod tab_select;
mod tabs_list;
mod wait_for;

use crate::action::Definition;

/// Every action, in the order people meet them in the help.
pub(crate) const ALL: &[Definition] = &[
    Definition::of::<snapshot::Snapshot>(),
    Definition::of::<find::Find>(),
    Definition::of::<click::Click>(),
    Definition::of::<fill::Fill>(),
    Definition::of::<dialog::Dialog>(),
    Definition::of::<navigate::Navigate>(),
    Definition::of::<back::Back>(),
    Definition::of::<forward::Forward>(),
    Definition::of::<reload::Reload>(),
    Definition::of::<wait_for::WaitFor>(),
    Definition::of::<tabs_list::TabsList>(),
    Definition::of::<tab_new::TabNew>(),
    Definition::of::<tab_select::TabSelect>(),
    Definition::of::<tab_close::TabClose>(),
    Definition::of::<eval::Eval>(),
    Definition::of::<cookies::Cookies>(),
    Definition::of::<storage::Storage>(),
];

/// Reads `12,34`.
pub(crate) fn parse_position(text: &str) -> Result<(f64, f64), String> {
    let parse = || {
        let (x, y) = text.split_once(',')?;
        let pair: (f64, f64) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
        (pair.0.is_finite() && pair.1.is_finite()).then_some(pair)
    };
    parse().ok_or_else(|| "expected two numbers, e.g. 12,34".to_owned())
}
