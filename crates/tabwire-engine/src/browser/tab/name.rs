//! Finds a tab by what a user or an agent calls it: its id, its number, or a part of its title or URL.

use tabwire_api::{ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_cdp::Deadline;

use crate::browser::Browser;
use crate::browser::tab::list::TabInfo;

/// Tabs that an error names.
const NAMED: usize = 5;

impl Browser {
    /// The tab with an id such as `pipe:7f:3`, its number in the session (`3`), or a title. A title matches whole, or a part
    /// of title or URL if only one tab has it; case does not matter. `may_know` decides which tabs the client may find by
    /// title and URL.
    ///
    /// # Errors
    /// When there is no such tab, or several match.
    pub async fn find_tab(
        &self,
        name: &str,
        may_know: impl Fn(&TabInfo) -> bool,
        deadline: Deadline,
    ) -> Result<TabId, Failure> {
        let name = name.trim();
        if let Ok(tab) = name.parse() {
            return Ok(tab);
        }
        let tabs = self.tabs(deadline).await?;
        if let Ok(number) = name.parse::<u32>() {
            let found = tabs.iter().find(|info| info.tab.number == number);
            return found.map(|info| info.tab).ok_or_else(|| none(name));
        }
        find_by_title(name, tabs.iter().filter(|info| may_know(info)))
    }
}

fn find_by_title<'a>(name: &str, tabs: impl Iterator<Item = &'a TabInfo>) -> Result<TabId, Failure> {
    let wanted = name.to_lowercase();
    let tabs: Vec<&TabInfo> = tabs.collect();
    let matching = |is_it: &dyn Fn(&TabInfo) -> bool| {
        tabs.iter().filter(|info| is_it(info)).map(|info| info.tab).collect::<Vec<_>>()
    };
    let whole = matching(&|info| info.title.to_lowercase() == wanted);
    let holds = |text: &str| text.to_lowercase().contains(&wanted);
    let found =
        if whole.is_empty() { matching(&|info| holds(&info.title) || holds(&info.url)) } else { whole };
    match found.as_slice() {
        _ if wanted.is_empty() => Err(none(name)),
        [] => Err(none(name)),
        [one] => Ok(*one),
        several => Err(ambiguous(name, several)),
    }
}

fn none(name: &str) -> Failure {
    Failure::new(ErrorCode::TabNotFound, format!("No tab is called `{name}`."))
        .with_remedy(Remedy::new("The open ones: {}.", [Step::action("tabs_list")]))
}

fn ambiguous(name: &str, several: &[TabId]) -> Failure {
    let ids: Vec<String> = several.iter().take(NAMED).map(ToString::to_string).collect();
    Failure::new(ErrorCode::BadArgs, format!("{} tabs match `{name}`: {}.", several.len(), ids.join(", ")))
        .with_remedy(Remedy::new("Give the id of one: {}.", [Step::action("tabs_list")]))
}

#[cfg(test)]
mod tests {
    use tabwire_api::TargetId;

    use super::*;

    fn tab(number: u32, title: &str) -> TabInfo {
        TabInfo {
            tab: format!("pipe:7f:{number}").parse().expect("a tab"),
            target: TargetId::new("T"),
            title: title.to_owned(),
            url: String::new(),
            current: false,
            shared: false,
            opener: None,
        }
    }

    #[test]
    fn a_title_matches_whole_before_in_part() {
        let tabs = [tab(1, "Inbox"), tab(2, "Inbox (3)"), tab(3, "Calendar")];
        let find = |name: &str| find_by_title(name, tabs.iter());
        assert_eq!(find("inbox").expect("whole").number, 1);
        assert_eq!(find("CALEN").expect("part").number, 3);
        let several = find("box").expect_err("two match");
        assert!(several.code == ErrorCode::BadArgs && several.message.contains("pipe:7f:2"), "{several}");
        assert_eq!(find("mail").expect_err("none").code, ErrorCode::TabNotFound);
        assert_eq!(find("").expect_err("none").code, ErrorCode::TabNotFound);
    }
}
