//! Table: the directories in which coding agents look for skills, in a project and in the home directory.

use std::path::{Path, PathBuf};

/// A coding agent that reads skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum SkillTool {
    /// Claude Code: .claude/skills.
    ClaudeCode,
    /// Codex: .agents/skills.
    Codex,
    /// Cursor: .cursor/skills.
    Cursor,
    /// Gemini CLI: .gemini/skills.
    Gemini,
    /// Windsurf: .windsurf/skills, in the home directory .codeium/windsurf/skills.
    Windsurf,
    /// GitHub Copilot: .github/skills, in the home directory .copilot/skills.
    Copilot,
    /// Open Code: .opencode/skills, in the home directory .config/opencode/skills.
    Opencode,
    /// Any other agent that follows the open standard: .agents/skills.
    Agents,
}

/// Which skills are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkillScope {
    /// Those of a project.
    Project,
    /// Those of the user, in every project.
    User,
}

/// The directories of one agent.
struct SkillPlace {
    tool: SkillTool,
    /// Below a project.
    project: &'static str,
    /// Below the home directory.
    user: &'static str,
    /// Directories that exist when the agent is used, in a project and in a home directory.
    traces: (&'static str, &'static str),
}

const fn place(
    tool: SkillTool,
    project: &'static str,
    user: &'static str,
    traces: (&'static str, &'static str),
) -> SkillPlace {
    SkillPlace { tool, project, user, traces }
}

static PLACES: &[SkillPlace] = &[
    place(SkillTool::ClaudeCode, ".claude/skills", ".claude/skills", (".claude", ".claude")),
    place(SkillTool::Codex, ".agents/skills", ".agents/skills", (".codex", ".codex")),
    place(SkillTool::Cursor, ".cursor/skills", ".cursor/skills", (".cursor", ".cursor")),
    place(SkillTool::Gemini, ".gemini/skills", ".gemini/skills", (".gemini", ".gemini")),
    place(
        SkillTool::Windsurf,
        ".windsurf/skills",
        ".codeium/windsurf/skills",
        (".windsurf", ".codeium/windsurf"),
    ),
    place(
        SkillTool::Copilot,
        ".github/skills",
        ".copilot/skills",
        (".github/copilot-instructions.md", ".copilot"),
    ),
    place(
        SkillTool::Opencode,
        ".opencode/skills",
        ".config/opencode/skills",
        (".opencode", ".config/opencode"),
    ),
    place(SkillTool::Agents, ".agents/skills", ".agents/skills", (".agents", ".agents")),
];

impl SkillTool {
    /// The agents whose directories exist below a directory; the open standard when there are none.
    pub(crate) fn detect(base: &Path, scope: SkillScope) -> Vec<Self> {
        let is_used = |place: &&SkillPlace| {
            let trace = if scope == SkillScope::Project { place.traces.0 } else { place.traces.1 };
            base.join(trace).exists()
        };
        let found: Vec<Self> = PLACES.iter().filter(is_used).map(|place| place.tool).collect();
        if found.is_empty() { vec![Self::Agents] } else { found }
    }

    /// The file that the agent reads, below a project or a home directory.
    pub(crate) fn file(self, base: &Path, scope: SkillScope) -> Option<PathBuf> {
        let place = PLACES.iter().find(|place| place.tool == self)?;
        let folder = if scope == SkillScope::Project { place.project } else { place.user };
        Some(base.join(folder).join("tabwire/SKILL.md"))
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_agent_has_a_directory() {
        for tool in SkillTool::value_variants() {
            for scope in [SkillScope::Project, SkillScope::User] {
                let file = tool.file(Path::new("/base"), scope).expect("a place");
                assert!(file.ends_with("skills/tabwire/SKILL.md"), "{}", file.display());
            }
        }
    }
}
