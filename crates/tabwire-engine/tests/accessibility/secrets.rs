//! No name, value or description contains the value of a secret field.

use crate::accessibility::probe;
use crate::accessibility::stage::Stage;

const PAGE: &str = r#"
    <label>Password <input type="password" value="hunter2"></label>
    <label>Code <input autocomplete="one-time-code" value="hunter2"></label>
    <label>Card <input autocomplete="section-pay cc-csc" value="hunter2"></label>
    <label>New <input autocomplete="new-password" value="hunter2"></label>
    <h2 id="a">Your <input type="password" value="hunter2"> here</h2>
    <button aria-labelledby="a">x</button>
    <input type="password" id="self" value="hunter2" aria-labelledby="self">
    <button aria-describedby="a self">y</button>
    <label for="c">Repeat <input type="password" value="hunter2"></label><input type="checkbox" id="c">
    <input type="password" aria-label="Empty">
"#;

#[tokio::test]
async fn secrets_are_masked_in_values_names_and_descriptions() {
    let stage = Stage::start().await;
    let mut tab = stage.tab().await;
    tab.show(PAGE).await;
    let elements = probe::elements(&tab).await;
    let text = format!("{elements:?}");
    assert!(!text.contains("hunter2"), "{text}");
    let values: Vec<_> = elements.iter().filter_map(|element| element.states.get("value")).collect();
    assert_eq!(values.iter().filter(|value| **value == "•••").count(), 7, "{values:?}");
    assert_eq!(
        values.last().and_then(|value| value.as_str()),
        Some(""),
        "an empty secret field may be reported as empty"
    );
}
