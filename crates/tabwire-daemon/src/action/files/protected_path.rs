//! Paths that no output may have: files that tools act on because of their names.
//!
//! A page's content under such a name would run, or change what runs, at the next build, test, commit or change of
//! directory.

use std::path::{Component, Path};

use tabwire_api::{ErrorCode, Failure};

use crate::action::files::safe_name::is_unseen;

/// Files that a tool reads, runs or builds from by name. In lower case, sorted.
const FILES: &[&str] = &[
    "__init__.py",
    "__main__.py",
    "agents.md",
    "androidmanifest.xml",
    "angular.json",
    "ant.xml",
    "app.json",
    "appveyor.yml",
    "authorized_keys",
    "autogen.sh",
    "azure-pipelines.yml",
    "biome.json",
    "biome.jsonc",
    "brewfile",
    "bsdmakefile",
    "build",
    "build.bazel",
    "build.gradle",
    "build.gradle.kts",
    "build.ninja",
    "build.rs",
    "build.sbt",
    "build.xml",
    "build.zig",
    "build.zig.zon",
    "bun.lock",
    "bun.lockb",
    "bunfig.toml",
    "capfile",
    "cargo.lock",
    "cargo.toml",
    "claude.local.md",
    "claude.md",
    "claude_desktop_config.json",
    "clippy.toml",
    "cmakelists.txt",
    "cmakepresets.json",
    "cmakeuserpresets.json",
    "codeowners",
    "compose.yaml",
    "compose.yml",
    "composer.json",
    "composer.lock",
    "configure",
    "configure.ac",
    "conftest.py",
    "constraints.txt",
    "containerfile",
    "crontab",
    "cypress.json",
    "default.nix",
    "deno.json",
    "deno.jsonc",
    "deno.lock",
    "devcontainer.json",
    "docker-compose.override.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
    "dockerfile",
    "earthfile",
    "fabfile.py",
    "fastfile",
    "flake.lock",
    "flake.nix",
    "gemfile",
    "gemfile.lock",
    "gemini.md",
    "gnumakefile",
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "gradle.properties",
    "gradlew",
    "gradlew.bat",
    "gruntfile.js",
    "guardfile",
    "gulpfile.js",
    "init.gradle",
    "jenkinsfile",
    "jsconfig.json",
    "justfile",
    "known_hosts",
    "launch.json",
    "lefthook.yaml",
    "lefthook.yml",
    "lerna.json",
    "makefile",
    "makefile.am",
    "makefile.pl",
    "manage.py",
    "mcp.json",
    "mcp_config.json",
    "meson.build",
    "meson_options.txt",
    "mix.exs",
    "mix.lock",
    "module.bazel",
    "mvnw",
    "mvnw.cmd",
    "netlify.toml",
    "nodemon.json",
    "noxfile.py",
    "npm-shrinkwrap.json",
    "nuget.config",
    "nx.json",
    "opencode.json",
    "package-lock.json",
    "package.json",
    "package.swift",
    "package.yaml",
    "pdm.lock",
    "phpunit.xml",
    "pipfile",
    "pipfile.lock",
    "pixi.toml",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "podfile",
    "poetry.lock",
    "policy.toml",
    "pom.xml",
    "procfile",
    "project.clj",
    "project.json",
    "pubspec.yaml",
    "pyproject.toml",
    "pytest.ini",
    "pyvenv.cfg",
    "rakefile",
    "rebar.config",
    "requirements.txt",
    "rush.json",
    "rust-toolchain",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "sconstruct",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.cfg",
    "setup.py",
    "shell.nix",
    "sitecustomize.py",
    "skaffold.yaml",
    "skill.md",
    "stack.yaml",
    "sudoers",
    "tabwire.toml",
    "taskfile.yaml",
    "taskfile.yml",
    "tasks.json",
    "tasks.py",
    "tiltfile",
    "tox.ini",
    "tsconfig.json",
    "turbo.json",
    "usercustomize.py",
    "uv.lock",
    "uv.toml",
    "vagrantfile",
    "vcpkg.json",
    "vercel.json",
    "workspace",
    "workspace.bazel",
    "wrangler.jsonc",
    "wrangler.toml",
    "wscript",
    "yarn.lock",
];

/// Hooks of version control, which run wherever the directory of hooks is configured to be. Sorted.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Directories whose files are run or loaded by name. Sorted.
const DIRECTORIES: &[&str] =
    &["__pycache__", "dist-packages", "nativemessaginghosts", "node_modules", "site-packages"];

/// Endings of files that a tool reads wherever they are.
const ENDINGS: &[&str] =
    &[".code-workspace", ".mk", ".pth", ".sublime-project", ".csproj", ".vcxproj", ".sln"];

/// Why a path is protected, as the end of a sentence.
const DOT: &str = "its name, or that of a directory above it, begins with a dot";
const TOOL: &str = "tools read or run files of that name";
const UNSEEN: &str = "its name has invisible characters";

/// What the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A file.
    File,
    /// A directory that files are put in.
    Directory,
}

/// Refuses an output below a root that tools would act on.
///
/// # Errors
/// When a part of the path begins with a dot, or the table lists it.
pub fn refuse_protected(below: &Path, wanted: OutputKind) -> Result<(), Failure> {
    let Some(why) = protection(below, wanted) else { return Ok(()) };
    let message = format!("Nothing is written to {}: {why}.", below.display());
    Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(
        "Choose another name in a directory without a leading dot, or leave the name out; move the file yourself.",
    ))
}

/// Whether tools act on a file of this name in any directory.
pub(crate) fn is_protected_name(name: &str) -> bool {
    protection(Path::new(name), OutputKind::File).is_some()
}

/// Why a path is protected, if it is.
fn protection(below: &Path, wanted: OutputKind) -> Option<&'static str> {
    let parts = below.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let parts: Vec<_> = parts.collect();
    if parts.iter().any(|part| part.chars().any(is_unseen)) {
        return Some(UNSEEN);
    }
    let parts: Vec<String> = parts.iter().map(|part| plain(part)).collect();
    // Windows file systems also accept `GIT~1` for `.git`.
    if parts.iter().any(|part| part.starts_with('.') || part.starts_with("git~")) {
        return Some(DOT);
    }
    let is_listed = |list: &[&str], part: &String| list.binary_search(&part.as_str()).is_ok();
    if parts.iter().any(|part| is_listed(DIRECTORIES, part)) {
        return Some(TOOL);
    }
    let name = parts.last().filter(|_| wanted == OutputKind::File)?;
    let is_tool = is_listed(FILES, name) || is_listed(HOOKS, name) || is_configuration(name);
    is_tool.then_some(TOOL)
}

/// A name as case-insensitive file systems compare it: lower case, without trailing dots and spaces.
fn plain(part: &str) -> String {
    // On NTFS, `name:stream` opens the same file.
    let name = part.split(':').next().unwrap_or(part);
    name.trim_end_matches(['.', ' ']).trim_start_matches(' ').to_lowercase()
}

/// `vite.config.ts`, `tsconfig.build.json`, `Dockerfile.dev` and the like.
fn is_configuration(name: &str) -> bool {
    let is_script = || {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        ["js", "cjs", "mjs", "ts", "cts", "mts", "json", "toml", "yaml", "yml"].contains(&ending)
    };
    let is_config = (name.contains(".config.") || name.contains(".workspace.")) && is_script();
    let is_variant = |stem: &str| name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'));
    let is_variant = ["dockerfile", "tsconfig", "makefile", "requirements"].into_iter().any(is_variant);
    is_config || is_variant || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m5_files_that_tools_act_on_are_protected_in_every_spelling() {
        for list in [FILES, HOOKS, DIRECTORIES] {
            assert!(list.is_sorted(), "{list:?}");
            assert!(list.iter().all(|name| *name == name.to_lowercase()));
        }
        for path in [
            ".mcp.json",
            ".envrc",
            ".git/hooks/pre-commit",
            "sub/.vscode/tasks.json",
            ".claude/settings.json",
            "deep/.hidden/page.png",
            "tabwire.toml",
            "TabWire.TOML",
            "sub/package.json",
            "Makefile",
            "makefile.",
            "Makefile ",
            "package.json::$DATA",
            "GIT~1/hooks/x",
            "hooks/pre-commit",
            "node_modules/a/index.js",
            "lib/site-packages/a.py",
            "playwright.config.ts",
            "vite.config.mjs",
            "tsconfig.build.json",
            "Dockerfile.dev",
            "x.code-workspace",
            "a.pth",
            "\u{200b}.envrc",
            "pack\u{200b}age.json",
        ] {
            let refused = refuse_protected(Path::new(path), OutputKind::File);
            assert_eq!(refused.map_err(|failure| failure.code), Err(ErrorCode::PolicyDenied), "{path:?}");
        }
        for path in [
            "page.png",
            "out/report.pdf",
            "data.json",
            "trace.json",
            "a.b.c.har",
            "config.png",
            "./out/x.png",
            "état.txt",
        ] {
            assert_eq!(protection(Path::new(path), OutputKind::File), None, "{path:?}");
        }
        for (folder, may) in
            [("build", true), ("out/build", true), (".git", false), ("node_modules/.bin", false)]
        {
            assert_eq!(protection(Path::new(folder), OutputKind::Directory).is_none(), may, "{folder}");
        }
    }
}
