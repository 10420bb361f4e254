//! Chrome's names of roles, told as ARIA names them. A table.

/// The ARIA role for what Chrome calls a role.
///
/// Roles without an ARIA equivalent are `generic`, or have the name the agent uses for things worth telling that ARIA
/// has no word for (`video`, `canvas`, `iframe`).
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

/// Whether "disabled" says of this role that it cannot be shown, rather than that it cannot be used.
pub(crate) fn is_embedded(chrome: &str) -> bool {
    matches!(chrome, "Audio" | "EmbeddedObject" | "PluginObject" | "Video")
}
