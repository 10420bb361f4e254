//! Several partitions in one real Chromium, driven through a hub and by stock clients.

mod isolation;
mod kept_browser;
mod partition_client;
mod protocol_table;
mod stock_client;
