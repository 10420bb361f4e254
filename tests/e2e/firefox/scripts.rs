//! Scripts on Firefox: pages, locators, code, routes, dialogs and downloads work; what is missing says so.

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

const SCRIPT: &str = r#"
const seen = [];
await page.goto(SITE + '/form');
await page.getByLabel('Name').fill('Anna');
await page.locator('#colour').selectOption('Green');
seen.push(await page.evaluate(() => document.forms[0].name.value));
seen.push(await page.locator('#colour').inputValue() !== '');
await page.route('**/plain', (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<title>Given</title>' }));
await page.goto(SITE + '/plain');
seen.push(await page.title());
await page.unroute('**/plain');
await page.goto(SITE + '/dialogs');
page.once('dialog', (dialog) => dialog.accept());
await page.locator('#alert').click();
const download = page.waitForEvent('download');
await page.evaluate((url) => { location.href = url; }, SITE + '/download/report.txt');
seen.push((await download).suggestedFilename());
await page.goto(SITE + '/plain');
await page.evaluate(() => addEventListener('touchstart', () => { document.title = 'Touched'; }));
await page.locator('#count').tap();
seen.push(await page.title());
console.log(JSON.stringify(seen));
"#;

#[test]
fn a_script_drives_firefox() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&["--browser", "firefox", "about:blank"]);
    let script = SCRIPT.replace("SITE", &format!("'{}'", site.page("").trim_end_matches('/')));
    std::fs::write(world.home().join("script.js"), script).expect("written");
    let done = world.run(&["run", "script.js"]).succeeded();
    assert!(done.stdout.contains(r#"["Anna",true,"Given","report.txt","Touched"]"#), "{done:?}");
    world.run(&["close"]).succeeded();
}
