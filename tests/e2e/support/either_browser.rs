//! Runs the same test body in a launched browser and in the user's own browser.

use crate::own_browser::tabs::connected_browser;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// A test body for a world and a site, with any browser.
pub(crate) type TestBody = fn(&World, &FixtureSite);

/// Runs a test body with a launched browser.
pub(crate) fn launched(body: TestBody) {
    body(&World::new(), &FixtureSite::start());
}

/// A world whose sessions use the user's own browser by default, with the same rights as in a launched one.
pub(crate) fn world_of_the_user() -> World {
    World::new().with("TABWIRE_UPSTREAM", "extension").with("TABWIRE_POLICY", "open")
}

/// Runs test bodies one after the other in the user's own browser, each in its own session.
pub(crate) fn in_own_browser(bodies: &[TestBody]) {
    let (world, site) = (world_of_the_user(), FixtureSite::start());
    let mut browser = connected_browser(&world);
    for body in bodies {
        body(&world, &site);
        let status = world.json(&["status"]);
        for session in status["sessions"].as_array().into_iter().flatten() {
            assert_eq!(session["upstream"], "extension", "another browser was used: {status}");
        }
        world.run(&["close"]);
    }
    assert!(browser.is_running(), "the user's browser keeps running");
}
