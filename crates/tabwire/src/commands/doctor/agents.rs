//! Lists the agents that chats can run. None is needed, so nothing here is wrong.

use tabwire_daemon::find_agents;

use super::CheckInputs;
use super::finding::{Finding, run};

const CODE: &str = "agents";

pub(super) fn check(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let agents = find_agents(inputs.context.environment.path.as_deref());
    let installed = agents.iter().filter_map(|agent| match (&agent.program, &agent.own_program) {
        (Some(program), _) => {
            Some(Finding::ok(CODE, format!("{} can chat: {}.", agent.name, program.display())))
        }
        (None, Some(own)) => {
            let sentence =
                format!("{} is installed ({}), but its adapter for chats is not.", agent.name, own.display());
            let remedy = format!("Run `{}` to chat with it.", agent.install);
            Some(Finding::ok(CODE, sentence).with_remedy(remedy))
        }
        (None, None) => None,
    });
    let mut findings: Vec<Finding> = installed.collect();
    if findings.is_empty() {
        let remedy = run("Run {} to see how to install one.", "tabwire chat agents");
        findings.push(Finding::ok(CODE, "No agent for chats is installed.").with_remedy(remedy));
    }
    findings
}
