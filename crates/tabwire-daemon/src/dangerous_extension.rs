//! Extensions of files that run, or script, when somebody opens them. A table.

use crate::safe_name::extension_of;

/// What is put behind a dangerous name, so that opening it does nothing.
const HARMLESS: &str = ".download";

/// Extensions that some system runs, installs, mounts or scripts on a double click. Sorted.
const DANGEROUS: &[&str] = &[
    "accde", "action", "ade", "adp", "air", "apk", "app", "appimage", "application", "appref-ms", "appx", "appxbundle",
    "asp", "aspx", "bash", "bat", "bin", "cab", "cgi", "chm", "class", "cmd", "com", "command", "cpl", "crx", "csh",
    "deb", "desktop", "diagcab", "dll", "dmg", "docm", "dotm", "dylib", "elf", "exe", "fish", "gadget", "hta", "htm",
    "html", "img", "inf", "ins", "inx", "ipa", "iqy", "iso", "isp", "isu", "jar", "jnlp", "job", "js", "jse", "ksh",
    "library-ms", "lnk", "local", "mad", "maf", "mag", "mam", "manifest", "mdb", "mde", "mht", "mhtml", "mjs",
    "mobileconfig", "msc", "msh", "msi", "msix", "msp", "mst", "ocx", "oxt", "paf", "php", "pif", "pkg", "pl", "plugin",
    "potm", "ppam", "ppsm", "pptm", "prf", "prg", "ps1", "ps1xml", "psc1", "psd1", "psm1", "py", "pyc", "pyw", "pyz",
    "rb", "reg", "rgs", "rpm", "run", "scf", "scpt", "scptd", "scr", "sct", "search-ms", "service", "settingcontent-ms",
    "sh", "shb", "shs", "shtml", "sldm", "slk", "so", "svg", "svgz", "swf", "sys", "term", "terminal", "tool", "url",
    "vb", "vbe", "vbs", "vhd", "vhdx", "vxd", "webloc", "website", "wflow", "workflow", "ws", "wsc", "wsf", "wsh", "xbap",
    "xht", "xhtml", "xlam", "xlsm", "xltm", "xpi", "xsl", "xslt", "zsh",
];

/// The name if nothing happens when it is opened, else one that does nothing.
pub(crate) fn defused(name: &str) -> String {
    let dangerous = extension_of(name).is_some_and(|extension| DANGEROUS.binary_search(&extension.as_str()).is_ok());
    if dangerous { format!("{name}{HARMLESS}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t31_what_would_run_gets_another_extension() {
        assert!(DANGEROUS.is_sorted());
        for name in ["setup.exe", "a.SH", "x.pdf.bat", "page.html", "a.js", "a.jar", "a.dmg", "link.desktop", "s.xlsm"] {
            assert_eq!(defused(name), format!("{name}.download"));
        }
        for name in ["report.txt", "LICENCE", "archive.tar.gz", "a.pdf", "exe", "a.exe.txt"] {
            assert_eq!(defused(name), name);
        }
    }
}
