//! Table: Chrome's role names and their ARIA roles.

/// The ARIA role for a role name of Chrome.
///
/// Roles without an ARIA equivalent are `generic`, or have the agent's own name for elements without an ARIA role
/// (`video`, `canvas`, `iframe`).
pub(crate) fn aria_role(chrome: &str) -> &str {
    match chrome {
        "Abbr"
        | "DescriptionList"
        | "EmbeddedObject"
        | "Figcaption"
        | "IframePresentational"
        | "LabelText"
        | "LayoutTable"
        | "LayoutTableCell"
        | "LayoutTableRow"
        | "Legend"
        | "LineBreak"
        | "MenuListPopup"
        | "PluginObject"
        | "Ruby"
        | "RubyAnnotation"
        | "none" => "generic",
        "Audio" => "audio",
        "Canvas" => "canvas",
        "ColorWell" | "Date" | "DateTime" | "InputTime" => "textbox",
        "DisclosureTriangle" | "DisclosureTriangleGrouped" => "button",
        "Iframe" => "iframe",
        "MathMLMath" => "math",
        "SvgRoot" | "image" => "img",
        "Video" => "video",
        other if other.starts_with("MathML") => "generic",
        other => other,
    }
}

/// Whether the role's name is a description of its place, not a name: cells of layout tables and line breaks.
pub(crate) fn has_no_name_of_its_own(chrome: &str) -> bool {
    matches!(chrome, "LayoutTableCell" | "LineBreak")
}

/// Whether "disabled" means for this role that the content is not shown, not that it cannot be used.
pub(crate) fn is_embedded(chrome: &str) -> bool {
    matches!(chrome, "Audio" | "EmbeddedObject" | "PluginObject" | "Video")
}
