//! Code without types: nothing panics, and what is left has the same lines, and characters at the same places.

use tabwire_script::typescript::{FUNCTION_START, Form, Purpose, prepare};

/// Prepares the input as a snippet and as a file.
pub(crate) fn check(data: &[u8]) {
    let code = String::from_utf8_lossy(data);
    for purpose in [Purpose::Snippet, Purpose::File] {
        match prepare(&code, purpose) {
            Ok(prepared) => check_places(&code, &prepared.code, prepared.form),
            Err(error) => {
                let lines = code.split('\n').count();
                assert!(error.line >= 1 && error.line <= lines && error.column >= 1, "{error:?} in {code:?}");
                assert!(!error.message.is_empty());
            }
        }
    }
}

/// Every line is still there. In a file, every byte is the same or a blank.
fn check_places(before: &str, after: &str, form: Form) {
    let after = match form {
        Form::Function => after.strip_prefix(FUNCTION_START).expect("the start of the function"),
        Form::Script | Form::Module => after,
    };
    let count = |text: &str| text.matches('\n').count();
    let added = usize::from(form == Form::Function);
    assert_eq!(count(after), count(before) + added, "lines stay: {before:?}");
    if form == Form::Module {
        assert_eq!(after.len(), before.len(), "places stay: {before:?}");
    }
}
