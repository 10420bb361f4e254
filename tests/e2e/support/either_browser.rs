//! Runs the same test body in a launched browser and in the user's own browser.

use crate::own_browser::tabs::connected_browser;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// What is told of a world and a site, whatever browser the world has.
pub(crate) type Story = fn(&World, &FixtureSite);

/// Tells a story where browsers are launched.
pub(crate) fn launched(story: Story) {
    story(&World::new(), &FixtureSite::start());
}

/// A world whose sessions are in the user's own browser unless they say otherwise, and may do there what they may do in
/// a launched one.
pub(crate) fn world_of_the_user() -> World {
    World::new().with("TABWIRE_UPSTREAM", "extension").with("TABWIRE_POLICY", "open")
}

/// Tells stories one after the other in the user's own browser, each in a session of its own.
pub(crate) fn in_own_browser(stories: &[Story]) {
    let (world, site) = (world_of_the_user(), FixtureSite::start());
    let mut browser = connected_browser(&world);
    for story in stories {
        story(&world, &site);
        let status = world.json(&["status"]);
        for session in status["sessions"].as_array().into_iter().flatten() {
            assert_eq!(session["upstream"], "extension", "no other browser took its place: {status}");
        }
        world.run(&["close"]);
    }
    assert!(browser.is_running(), "the user's browser goes on");
}
