//! Policy decisions: a corpus of URLs, the file, the grants, and properties.

mod decisions;
mod grant_list;
mod policy_file;
mod property;
mod url_corpus;
