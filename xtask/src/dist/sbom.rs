//! The bill of materials in CycloneDX's JSON.

use serde_json::json;

use super::licences::{LinkedCrate, linked_crates};
use super::{Product, Release};
use crate::error::Error;

pub(super) fn pack(release: &Release<'_>) -> Result<Vec<Product>, Error> {
    let version = &release.version;
    let components: Vec<_> = linked_crates(release.repository)?.iter().map(component).collect();
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": format!("tabwire@{version}"), "name": "tabwire", "version": version,
            "licenses": [{"expression": "MIT OR Apache-2.0"}],
            "purl": format!("pkg:cargo/tabwire@{version}"),
        }},
        "components": components,
    });
    let text = format!("{document:#}\n");
    Ok(vec![Product::new(format!("tabwire-{version}.cdx.json"), text.into_bytes())])
}

fn component(linked: &LinkedCrate) -> serde_json::Value {
    let LinkedCrate { name, version, licence, .. } = linked;
    let address = format!("pkg:cargo/{name}@{version}");
    json!({
        "type": "library", "bom-ref": address, "name": name, "version": version, "purl": address,
        "licenses": [{"expression": licence}],
    })
}
