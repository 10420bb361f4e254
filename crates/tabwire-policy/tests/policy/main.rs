//! Decisions by example: a corpus of addresses, the file, the ledger, and what must hold of all of them.

mod address_corpus;
mod deciding;
mod keeping;
mod property;
mod reading_file;
