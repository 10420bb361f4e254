// The last part: makes the agent reachable for Rust under one name of the isolated world.

globalThis.tabwire = agent;
