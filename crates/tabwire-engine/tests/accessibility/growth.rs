//! Naming a page takes time in proportion to its size.

use crate::accessibility::stage::{Stage, Tab};

const FEW: usize = 500;
const MANY: usize = 4000;

/// Shows a page with this many fields, each with a label and a button.
async fn show(tab: &mut Tab, fields: usize) {
    let field = |n: usize| {
        format!("<p><label for=f{n}>Field {n}</label> <input id=f{n}> <button>Clear {n}</button></p>")
    };
    tab.show(&(0..fields).map(field).collect::<String>()).await;
}

/// How long it takes to name the fields of the page this often, in milliseconds.
async fn naming(tab: &mut Tab, times: usize) -> f64 {
    let taken = tab.eval_in_agent(&format!("probe.naming('input, button', {times})")).await;
    taken.as_f64().expect("milliseconds")
}

#[tokio::test]
async fn naming_takes_linear_time() {
    let stage = Stage::start().await;
    let (mut small, mut large) = (stage.tab().await, stage.tab().await);
    show(&mut small, FEW).await;
    show(&mut large, MANY).await;
    // The same number of names takes equally long on the small and on the large page, or an eighth on the small one if
    // the time grew quadratically. A busy machine may delay either, so one good comparison of many is enough.
    let mut seen = Vec::new();
    for _ in 0..20 {
        let few = naming(&mut small, MANY / FEW).await;
        let many = naming(&mut large, 1).await;
        if many < few * 3.0 {
            return;
        }
        seen.push((few, many));
    }
    panic!("{MANY} names in ms, {FEW} at a time and all at once: {seen:?}");
}
