//! Pages whose size depends on the URL: tables, rows, lists, resources.

use serde_json::{Value, json};

use super::static_pages;
use crate::site::http::incoming::Incoming;
use crate::site::http::response::Response;
use crate::site::limits;

const CITIES: [&str; 5] = ["Berne", "Lima", "Oslo", "Quito", "Turin"];
const GIVEN_NAMES: [&str; 7] = ["Ada", "Boris", "Clara", "David", "Elena", "Farid", "Greta"];

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    Some(match incoming.path() {
        "/table" => table(incoming.number("rows", limits::TABLE_ROWS, limits::GENERATED_ROWS)),
        "/rows" => rows(incoming.number("count", limits::BENCH_ROWS, limits::GENERATED_ROWS)),
        "/list/items" => items(incoming),
        "/resources" => resources(incoming),
        path => resource(path.strip_prefix("/resources/")?, incoming.port)?,
    })
}

/// A table with a caption and a header row; each row has a link and a button.
fn table(rows: u32) -> Response {
    let mut body = format!(
        "<h1>Table of {rows} rows</h1>\n<output id=\"output\"></output>\n<table id=\"table\">\n<caption>People</caption>\n\
         <thead><tr><th scope=\"col\">Number</th><th scope=\"col\">Name</th><th scope=\"col\">City</th>\
         <th scope=\"col\">Amount</th><th scope=\"col\">Action</th></tr></thead>\n<tbody>\n"
    );
    for row in 1..=rows {
        let (name, city, amount) = (pick(&GIVEN_NAMES, row), pick(&CITIES, row), u64::from(row) * 37 % 1_000);
        body.push_str(&format!(
            "<tr id=\"row-{row}\"><td>{row}</td><td><a href=\"/plain?person={row}\">{name} {row}</a></td><td>{city}</td>\
             <td>{amount}</td><td><button onclick=\"say({row})\">Open {row}</button></td></tr>\n"
        ));
    }
    body.push_str("</tbody>\n</table>\n<p id=\"end\">End of the table</p>\n");
    body.push_str(&say("opened"));
    Response::page("Table", &body)
}

/// The page of the snapshot bench: a heading, a link and a button in each row.
fn rows(count: u32) -> Response {
    let mut body = format!("<h1>{count} rows</h1>\n<output id=\"output\"></output>\n<main id=\"rows\">\n");
    for row in 1..=count {
        body.push_str(&format!(
            "<section id=\"row-{row}\"><h2>Row {row}</h2><a href=\"/plain?row={row}\">Read about row {row}</a>\
             <button id=\"button-{row}\" onclick=\"say({row})\">Press {row}</button></section>\n"
        ));
    }
    body.push_str("</main>\n");
    body.push_str(&say("pressed"));
    Response::page("Rows", &body)
}

/// A script with which buttons show that they were pressed.
fn say(done: &str) -> String {
    format!(
        "<script>const say = (number) => {{ document.getElementById('output').textContent = `{done} ${{number}}`; }};</script>"
    )
}

fn pick<'name>(names: &[&'name str], row: u32) -> &'name str {
    names.get(row as usize % names.len()).copied().unwrap_or_default()
}

/// `?from=N&count=N`: items for lists that load more.
fn items(incoming: Incoming<'_>) -> Response {
    let from = incoming.number("from", 1, u32::MAX - limits::LIST_ITEMS);
    let count = incoming.number("count", 20, limits::LIST_ITEMS);
    let items: Vec<Value> = (from..from + count)
        .map(|number| json!({"number": number, "name": format!("Item {number}")}))
        .collect();
    Response::json(&Value::from(items))
}

/// `?images=N&styles=N&scripts=N&fetches=N`: a page with many small files. One of them is missing.
fn resources(incoming: Incoming<'_>) -> Response {
    let count = |name: &str, otherwise: u32| incoming.number(name, otherwise, limits::RESOURCES);
    let (images, styles, scripts, fetches) =
        (count("images", 10), count("styles", 3), count("scripts", 3), count("fetches", 2));
    let mut body = String::from("<h1>Resources</h1>\n");
    for number in 1..=styles {
        body.push_str(&format!("<link rel=\"stylesheet\" href=\"/resources/style-{number}.css\">\n"));
    }
    for number in 1..=images {
        body.push_str(&format!(
            "<img src=\"/resources/image-{number}.svg\" alt=\"Image {number}\" width=\"16\">\n"
        ));
    }
    for number in 1..=scripts {
        body.push_str(&format!("<script src=\"/resources/script-{number}.js\"></script>\n"));
    }
    body.push_str(&format!(
        "<img src=\"/resources/missing.png\" alt=\"Missing\">\n<output id=\"output\">loading</output>\n<script>\n\
         const read = async (number) => (await fetch(`/resources/data-${{number}}.json`)).json();\n\
         Promise.all(Array.from({{ length: {fetches} }}, (_, index) => read(index + 1))).then((all) => {{\n\
         const text = `fetched ${{all.length}}, scripts ${{window.scripts ?? 0}}`;\n\
         document.getElementById('output').textContent = text;\n}});\n\
         </script>\n"
    ));
    Response::page("Resources", &body)
}

/// One small file. Its number only makes its name unique.
fn resource(name: &str, port: u16) -> Option<Response> {
    let (stem, extension) = name.rsplit_once('.')?;
    let (kind, number) = stem.split_once('-')?;
    let number: u32 = number.parse().ok()?;
    Some(match (kind, extension) {
        ("image", "svg") => static_pages::find("/image.svg", port)?,
        ("style", "css") => Response::new("text/css", format!(".style-{number} {{ color: teal; }}\n")),
        ("script", "js") => Response::new("text/javascript", "window.scripts = (window.scripts ?? 0) + 1;\n"),
        ("data", "json") => Response::json(&json!({"number": number})),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::route::tests::get;

    #[tokio::test]
    async fn table_has_the_requested_number_of_rows() {
        let (_, page) = get("/rows?count=2000").await;
        for tag in ["<h2>", "<a ", "<button"] {
            assert_eq!(page.matches(tag).count(), 2_000, "{tag}");
        }
        let (_, page) = get("/table").await;
        assert_eq!(page.matches("<tr id=").count(), 10_000);
        assert_eq!(get("/rows?count=0").await.1.matches("<section").count(), 0);
    }

    #[tokio::test]
    async fn list_items_start_at_the_requested_index() {
        let items: Value = serde_json::from_str(&get("/list/items?from=41&count=2").await.1).expect("JSON");
        assert_eq!(items, json!([{"number": 41, "name": "Item 41"}, {"number": 42, "name": "Item 42"}]));
    }

    #[tokio::test]
    async fn all_resources_of_the_page_exist_except_one() {
        let (_, page) = get("/resources?images=2&styles=1&scripts=1&fetches=1").await;
        for name in ["style-1.css", "image-2.svg", "script-1.js"] {
            let address = format!("/resources/{name}");
            assert!(page.contains(&address), "{address}");
            assert!(get(&address).await.0.starts_with("HTTP/1.1 200"), "{address}");
        }
        assert!(get("/resources/data-1.json").await.0.starts_with("HTTP/1.1 200"));
        assert!(get("/resources/missing.png").await.0.starts_with("HTTP/1.1 404"));
    }
}
