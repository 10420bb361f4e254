//! Tests of the fake Grid's state.

use std::time::Duration;

use serde_json::json;

use super::state::State;
use super::{GridFault, GridOptions};

fn grid(nodes: usize, slots: usize) -> State {
    State::new(GridOptions { nodes, slots, ..GridOptions::default() })
}

#[test]
fn requests_get_slots_in_order_and_spread_over_nodes() {
    let mut grid = grid(2, 1);
    let tickets: Vec<u64> =
        (0..3).map(|number| grid.enqueue(json!({"alwaysMatch": {"se:name": number}}))).collect();
    assert!(grid.try_create(tickets[1]).is_none(), "not its turn");
    let first = grid.try_create(tickets[0]).expect("a slot");
    grid.try_create(tickets[1]).expect("a slot of the other node");
    assert!(grid.try_create(tickets[2]).is_none(), "full");
    assert!(grid.delete(&first) && !grid.delete(&first));
    assert!(grid.try_create(tickets[2]).is_some());
    assert_eq!(grid.counts()["peak"], 2);
}

#[test]
fn dead_nodes_and_idle_sessions_lose_their_sessions() {
    let mut grid = State::new(GridOptions { session_timeout: Duration::ZERO, ..GridOptions::default() });
    let ticket = grid.enqueue(json!({}));
    grid.try_create(ticket).expect("a slot");
    grid.end_idle();
    assert_eq!((&grid.counts()["alive"], &grid.counts()["timed_out"]), (&json!(0), &json!(1)));
    let ticket = grid.enqueue(json!({}));
    grid.try_create(ticket).expect("a slot");
    grid.kill_node(0);
    assert_eq!(grid.counts()["alive"], 0);
    assert_eq!(grid.status()["value"]["nodes"][0]["availability"], "DOWN");
}

#[test]
fn a_fault_applies_as_often_as_requested() {
    let mut grid = grid(1, 1);
    grid.add_fault(GridFault::Refuse, 2);
    let is_refusal = |fault: &GridFault| *fault == GridFault::Refuse;
    assert!(grid.take_fault(|fault| *fault == GridFault::NoCdp).is_none());
    assert!(grid.take_fault(is_refusal).is_some() && grid.take_fault(is_refusal).is_some());
    assert!(grid.take_fault(is_refusal).is_none());
}
