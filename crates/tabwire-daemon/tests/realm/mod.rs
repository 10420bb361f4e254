//! Several partitions in one real Chromium: by the house's own hub, and by stock clients.

mod isolation;
mod kept_browser;
mod protocol_table;
mod realm_client;
mod stock_client;
