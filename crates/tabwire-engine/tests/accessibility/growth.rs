//! Naming a page takes time in proportion to its size.

use crate::stage::{Stage, Tab};

/// The shortest time it takes to name this many fields with labels, in milliseconds.
async fn naming(tab: &mut Tab, fields: usize) -> f64 {
    let field = |n: usize| {
        format!("<p><label for=f{n}>Field {n}</label> <input id=f{n}> <button>Clear {n}</button></p>")
    };
    let html: String = (0..fields).map(field).collect();
    tab.show(&html).await;
    let mut shortest = f64::MAX;
    for _ in 0..5 {
        let taken = tab.eval_in_agent("probe.naming('input, button')").await;
        shortest = shortest.min(taken.as_f64().expect("milliseconds"));
    }
    shortest
}

#[tokio::test]
async fn naming_grows_with_the_number_of_fields_and_not_with_its_square() {
    let stage = Stage::start().await;
    let mut tab = stage.tab().await;
    let few = naming(&mut tab, 500).await;
    let many = naming(&mut tab, 4000).await;
    // By its square it would be sixty-four times as long, in proportion eight times; a busy machine is in between.
    assert!(many < few * 8.0 * 5.0, "500 fields in {few} ms, 4000 in {many} ms");
}
