//! The Kubernetes manifests, by a strict parser of the fields that they use: an unknown field, a selector without its pods
//! or a port without its name fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use self::Node::{List, Map, Text};

/// Fields by the path of their parents without list marks, and the form of their values. `*` is any name.
const FIELDS: &[(&str, &str)] = &[
    ("", "apiVersion kind metadata spec"),
    ("metadata", "name namespace labels"),
    ("metadata.labels", "*"),
    (
        "spec",
        "replicas selector template serviceName volumeClaimTemplates ports podSelector policyTypes ingress egress",
    ),
    ("spec.selector", "matchLabels app"),
    ("spec.selector.matchLabels", "*"),
    ("spec.template", "metadata spec"),
    ("spec.template.metadata", "labels"),
    ("spec.template.metadata.labels", "*"),
    (
        "spec.template.spec",
        "automountServiceAccountToken terminationGracePeriodSeconds securityContext containers volumes",
    ),
    ("spec.template.spec.securityContext", "runAsNonRoot runAsUser runAsGroup fsGroup seccompProfile"),
    ("spec.template.spec.securityContext.seccompProfile", "type"),
    (
        "spec.template.spec.containers",
        "name image args env ports readinessProbe livenessProbe resources securityContext volumeMounts",
    ),
    ("spec.template.spec.containers.env", "name value"),
    ("spec.template.spec.containers.ports", "name containerPort"),
    ("spec.template.spec.containers.readinessProbe", "httpGet"),
    ("spec.template.spec.containers.readinessProbe.httpGet", "path port"),
    ("spec.template.spec.containers.livenessProbe", "exec initialDelaySeconds periodSeconds"),
    ("spec.template.spec.containers.livenessProbe.exec", "command"),
    ("spec.template.spec.containers.resources", "requests limits"),
    ("spec.template.spec.containers.resources.requests", "cpu memory"),
    ("spec.template.spec.containers.resources.limits", "cpu memory"),
    (
        "spec.template.spec.containers.securityContext",
        "allowPrivilegeEscalation readOnlyRootFilesystem capabilities",
    ),
    ("spec.template.spec.containers.securityContext.capabilities", "drop"),
    ("spec.template.spec.containers.volumeMounts", "name mountPath"),
    ("spec.template.spec.volumes", "name emptyDir"),
    ("spec.template.spec.volumes.emptyDir", "medium sizeLimit"),
    ("spec.volumeClaimTemplates", "metadata spec"),
    ("spec.volumeClaimTemplates.metadata", "name"),
    ("spec.volumeClaimTemplates.spec", "accessModes resources"),
    ("spec.volumeClaimTemplates.spec.resources", "requests"),
    ("spec.volumeClaimTemplates.spec.resources.requests", "storage"),
    ("spec.ports", "name port targetPort"),
    ("spec.podSelector", "matchLabels"),
    ("spec.podSelector.matchLabels", "*"),
    ("spec.ingress", "from ports"),
    ("spec.egress", "to ports"),
    ("spec.ingress.from", "podSelector namespaceSelector"),
    ("spec.egress.to", "podSelector namespaceSelector ipBlock"),
    ("spec.ingress.from.podSelector", "matchLabels"),
    ("spec.egress.to.podSelector", "matchLabels"),
    ("spec.egress.to.namespaceSelector", "matchLabels"),
    ("spec.ingress.from.podSelector.matchLabels", "*"),
    ("spec.egress.to.podSelector.matchLabels", "*"),
    ("spec.egress.to.namespaceSelector.matchLabels", "*"),
    ("spec.egress.to.ipBlock", "cidr except"),
    ("spec.ingress.ports", "protocol port"),
    ("spec.egress.ports", "protocol port"),
];

/// Kinds with their versions.
const KINDS: &[(&str, &str)] = &[
    ("Namespace", "v1"),
    ("Service", "v1"),
    ("Deployment", "apps/v1"),
    ("StatefulSet", "apps/v1"),
    ("NetworkPolicy", "networking.k8s.io/v1"),
];

/// A value of the part of YAML that the manifests use.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    List(Vec<Node>),
    Map(BTreeMap<String, Node>),
}

impl Node {
    /// The value at a path of names.
    fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, name| match node {
            Map(members) => members.get(name),
            _ => None,
        })
    }

    fn text(&self, path: &str) -> &str {
        match self.at(path) {
            Some(Text(text)) => text,
            other => panic!("{path} is no text: {other:?}"),
        }
    }

    fn list(&self, path: &str) -> Vec<Self> {
        match self.at(path) {
            None => Vec::new(),
            Some(List(list)) => list.clone(),
            Some(other) => panic!("{path} is no list: {other:?}"),
        }
    }
}

/// Parses maps, lists and plain or quoted texts; anything else panics.
fn parse(lines: &[(usize, &str)], at: &mut usize) -> Node {
    let indent = lines[*at].0;
    if lines[*at].1.starts_with("- ") {
        let mut list = Vec::new();
        while *at < lines.len() && lines[*at].0 == indent && lines[*at].1.starts_with("- ") {
            let rest = &lines[*at].1[2..];
            if is_member(rest) {
                // The members of the map stand two columns further in.
                let mut own: Vec<(usize, &str)> = vec![(indent + 2, rest)];
                *at += 1;
                while *at < lines.len() && lines[*at].0 > indent {
                    own.push(lines[*at]);
                    *at += 1;
                }
                let mut inner = 0;
                list.push(parse(&own, &mut inner));
                assert_eq!(inner, own.len(), "badly indented: {own:?}");
            } else {
                list.push(Text(unquoted(rest)));
                *at += 1;
            }
        }
        return List(list);
    }
    let mut members = BTreeMap::new();
    while *at < lines.len() && lines[*at].0 == indent && !lines[*at].1.starts_with("- ") {
        let (name, value) =
            lines[*at].1.split_once(':').unwrap_or_else(|| panic!("no member: {:?}", lines[*at]));
        *at += 1;
        let value = if value.is_empty() {
            assert!(*at < lines.len() && lines[*at].0 > indent, "{name} has no value");
            parse(lines, at)
        } else {
            Text(unquoted(value.strip_prefix(' ').expect("a space after the colon")))
        };
        assert!(members.insert(name.to_owned(), value).is_none(), "{name} is there twice");
    }
    Map(members)
}

fn is_member(text: &str) -> bool {
    text.ends_with(':') || text.split_once(": ").is_some_and(|(name, _)| !name.contains('"'))
}

fn unquoted(text: &str) -> String {
    assert!(!text.starts_with(['{', '[', '&', '*', '|', '>', '!', '\'']), "outside of the used YAML: {text}");
    text.strip_prefix('"').map_or(text, |rest| rest.strip_suffix('"').expect("a closing quote")).to_owned()
}

fn documents(file: &Path) -> Vec<Node> {
    let text = fs::read_to_string(file).expect("readable");
    assert!(!text.contains('\t'), "a tab");
    let documents = text.split("\n---\n").map(|document| {
        let lines: Vec<(usize, &str)> = document
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
            .map(|line| (line.len() - line.trim_start().len(), line.trim()))
            .collect();
        let mut at = 0;
        let parsed = parse(&lines, &mut at);
        assert_eq!(at, lines.len(), "badly indented: {:?}", &lines[at..]);
        parsed
    });
    documents.collect()
}

fn check_fields(node: &Node, path: &str) {
    match node {
        Text(_) => {}
        List(list) => list.iter().for_each(|one| check_fields(one, path)),
        Map(members) => {
            let allowed =
                FIELDS.iter().find(|(own, _)| *own == path).unwrap_or_else(|| panic!("unknown: {path}")).1;
            for (name, value) in members {
                let is_known = allowed == "*" || allowed.split(' ').any(|own| own == name);
                assert!(is_known, "{path}.{name} is no known field");
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                if allowed == "*" {
                    assert!(matches!(value, Text(_)), "{below} is no text");
                } else {
                    check_fields(value, &below);
                }
            }
        }
    }
}

fn manifests() -> Vec<(String, Node)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/kubernetes"));
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let all = files.iter().flat_map(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        documents(file).into_iter().map(move |document| (name.clone(), document))
    });
    all.collect()
}

#[test]
fn every_kubernetes_manifest_has_known_fields_only() {
    let all = manifests();
    assert!(all.len() >= 9, "{}", all.len());
    for (file, document) in &all {
        let (kind, version) = (document.text("kind"), document.text("apiVersion"));
        assert!(KINDS.contains(&(kind, version)), "{file}: {kind} {version}");
        check_fields(document, "");
        for number in ["spec.replicas", "spec.template.spec.terminationGracePeriodSeconds"] {
            if let Some(Text(text)) = document.at(number) {
                assert!(text.parse::<u32>().is_ok(), "{file}: {number} is {text}");
            }
        }
    }
}

#[test]
fn every_kubernetes_pod_is_selected_restricted_and_has_its_volumes() {
    let all = manifests();
    let pods: Vec<&Node> =
        all.iter().map(|(_, document)| document).filter(|one| one.at("spec.template").is_some()).collect();
    let app = |pod: &Node| pod.text("spec.template.metadata.labels.app").to_owned();
    for pod in &pods {
        assert_eq!(pod.text("spec.selector.matchLabels.app"), app(pod));
        assert_eq!(pod.text("spec.template.spec.automountServiceAccountToken"), "false", "{}", app(pod));
        let claims = pod.list("spec.volumeClaimTemplates");
        let mut volumes: Vec<String> =
            claims.iter().map(|claim| claim.text("metadata.name").to_owned()).collect();
        volumes.extend(pod.list("spec.template.spec.volumes").iter().map(|one| one.text("name").to_owned()));
        for container in pod.list("spec.template.spec.containers") {
            assert!(container.at("resources.limits.memory").is_some(), "{}", app(pod));
            let tag = container.text("image").rsplit_once(':').expect("a tag").1;
            assert_ne!(tag, "latest", "{}", app(pod));
            for mount in container.list("volumeMounts") {
                assert!(volumes.iter().any(|own| own == mount.text("name")), "{}: {mount:?}", app(pod));
            }
        }
        let restricts = |one: &&(String, Node)| {
            one.1.text("kind") == "NetworkPolicy"
                && one.1.text("spec.podSelector.matchLabels.app") == app(pod)
        };
        assert_eq!(all.iter().filter(restricts).count(), 1, "one network policy for {}", app(pod));
    }
    for (_, service) in all.iter().filter(|(_, one)| one.text("kind") == "Service") {
        let wanted = service.text("spec.selector.app");
        let pod = pods.iter().find(|pod| app(pod) == wanted).expect("its pods");
        let containers = pod.list("spec.template.spec.containers");
        let ports: Vec<Node> = containers.iter().flat_map(|container| container.list("ports")).collect();
        for port in service.list("spec.ports") {
            let named =
                ports.iter().find(|own| own.text("name") == port.text("targetPort")).expect("its port");
            assert_eq!(named.text("containerPort"), port.text("port"));
        }
    }
}

#[test]
fn the_example_of_a_provider_names_the_service_of_the_manifests() {
    let all = manifests();
    let service =
        all.iter().find(|(_, one)| one.text("kind") == "Service" && one.text("metadata.name") == "browsers");
    let service = &service.expect("the service").1;
    let port = service.list("spec.ports")[0].text("port").to_owned();
    let host = format!(
        "{}.{}.svc.cluster.local:{port}",
        service.text("metadata.name"),
        service.text("metadata.namespace")
    );
    let examples = tabwire_browser::rent::recipe::EXAMPLES;
    let example = examples.iter().find(|(name, _)| *name == "kubernetes").expect("the example").1;
    assert!(example.contains(&host), "{host}");
    let tabwire =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/kubernetes/tabwire.yaml"));
    assert!(tabwire.expect("readable").contains("http://grid:4444"));
}

#[test]
fn the_parser_of_manifests_refuses_what_it_does_not_know() {
    let check = |text: &str| {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("x.yaml");
        fs::write(&file, text).expect("written");
        std::panic::catch_unwind(move || documents(&file).iter().for_each(|one| check_fields(one, "")))
    };
    assert!(check("kind: Service\nmetadata:\n  name: x\n").is_ok());
    for bad in
        ["knd: Service\n", "kind: {}\n", "spec:\n  prots:\n    - port: 1\n", "kind: a\nkind: b\n", "spec:\n"]
    {
        assert!(check(bad).is_err(), "{bad}");
    }
}
