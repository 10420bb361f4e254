//! The gate, tried with every combination of what a request can say. Walks `ROUTES`, so that a new route is
//! tried without being named here. No sockets: `Gate::admit` is pure.

mod attempt;
mod host;
mod matrix;
mod row;
mod secret;
