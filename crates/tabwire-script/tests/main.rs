//! Tests of the process of a script: real processes, driven by messages.

mod child;
