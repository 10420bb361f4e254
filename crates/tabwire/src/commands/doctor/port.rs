//! Whether the loopback port is ours.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use super::Visit;
use super::daemon::Pulse;
use super::finding::Finding;
use crate::config::Key;

const CODE: &str = "port";

pub(super) fn check(visit: &Visit<'_>) -> Finding {
    let set = visit.context.configuration.port(Key::Port);
    let wanted = set.map_or(tabwire_daemon::limits::DEFAULT_PORT, |set| set.value);
    let remedy = "End that program, or choose another port with `tabwire config set port NUMBER`; then run `tabwire daemon stop`.";
    match &visit.pulse {
        Pulse::Running(status) if wanted == 0 || wanted == status.port => {
            Finding::ok(CODE, format!("The daemon has port {} of the loopback address.", status.port))
        }
        Pulse::Running(status) => {
            let sentence = format!("Port {wanted} was taken by another program; {} is used.", status.port);
            Finding::warning(CODE, sentence, remedy)
        }
        Pulse::Older | Pulse::Failing(_) => Finding::ok(CODE, "The daemon did not say which port it has."),
        Pulse::Absent if wanted == 0 => Finding::ok(CODE, "Any free port will be taken."),
        Pulse::Absent => match TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let sentence =
                    format!("Port {wanted} is taken by another program; the daemon will take another one.");
                Finding::warning(CODE, sentence, remedy)
            }
            Err(error) => Finding::warning(CODE, format!("Port {wanted} cannot be used: {error}."), remedy),
            Ok(_) => Finding::ok(CODE, format!("Port {wanted} is free.")),
        },
    }
}
