//! The gate with every combination of headers. The tests iterate over `ROUTES`, so they cover new routes too. They use
//! no sockets: `Gate::admit` is pure.

mod attempt;
mod dashboard;
mod host;
mod matrix;
mod row;
mod secret;
