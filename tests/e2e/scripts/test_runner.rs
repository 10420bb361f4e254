//! The runner of files that import `@playwright/test`.

use std::fs;

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Runs a file, and returns its exit code and output.
fn run(world: &World, code: &str) -> (i32, String, String) {
    fs::write(world.home().join("a.spec.ts"), code).expect("written");
    let outcome = world.run(&["run", "a.spec.ts"]);
    (outcome.code, outcome.stdout, outcome.stderr)
}

/// The lines of tests and of the script, without times.
fn lines(stdout: &str) -> Vec<String> {
    let lines = stdout.lines().map(|line| line.split(" (").next().unwrap_or_default().trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn hooks_and_tests_run_in_order_and_each_test_has_its_own_page() {
    let (world, site) = (World::new(), FixtureSite::start());
    let code = format!(
        "import {{ test, expect }} from '@playwright/test';
const said = (text: string) => async () => console.log(text);
test.beforeAll(said('before all'));
test.afterAll(said('after all'));
test.beforeEach(said('before'));
test.afterEach(said('after'));
test.use({{ baseURL: '{}', viewport: {{ width: 400, height: 300 }} }});
test('first', async ({{ page, context, request }}) => {{
  await page.goto('/plain');
  await page.evaluate(() => {{ document.cookie = 'a=1' }});
  expect(page.viewportSize()).toEqual({{ width: 400, height: 300 }});
  expect(await (await request.get('/api/echo?value=1')).text()).toBe('echo 1');
  expect((await context.cookies()).length).toBe(1);
}});
test.describe('inner', () => {{
  test.afterAll(said('after inner'));
  test('second', async ({{ page, context }}) => {{
    await page.goto('/plain');
    await expect(page).toHaveURL('/plain');
    expect(await context.cookies()).toEqual([]);
  }});
}});",
        site.page("")
    );
    let (code, stdout, stderr) = run(&world, &code);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let expected = [
        "before all",
        "before",
        "after",
        "✓  first",
        "before",
        "after",
        "✓  inner › second",
        "after inner",
        "after all",
        "0 failed, 2 passed",
    ];
    assert_eq!(lines(&stdout), expected);
}

#[test]
fn tests_are_skipped_limited_in_time_and_expected_to_fail() {
    let world = World::new();
    let (code, stdout, stderr) = run(
        &world,
        "import { test, expect } from '@playwright/test';
test('skips itself', async () => { test.skip(true, 'not here'); console.log('NEVER'); });
test.skip('is skipped', async () => console.log('NEVER'));
test.describe('a skipped suite', () => { test.skip(); test('inside', async () => console.log('NEVER')); });
test.describe('by condition', () => { test.skip(({ browserName }) => browserName === 'chromium'); test('inside', async () => console.log('NEVER')); });
test('is late', async ({ page }) => { test.setTimeout(300); await page.waitForSelector('#none'); });
test('goes on', async ({ page }) => { await page.setContent('<b>x</b>'); await expect(page.locator('b')).toHaveText('x'); });
test.fail('fails as said', async () => { expect(1).toBe(2); });
test('is soft', async () => { expect.soft(1).toBe(2); console.log('after soft'); });
test.describe.serial('in a row', () => { test('breaks', async () => { throw new Error('broken'); }); test('is left out', async () => console.log('NEVER')); });
test.describe('again', () => { test.describe.configure({ retries: 1 }); test('works at last', async ({}, info) => { expect(info.retry).toBe(1); }); });
test.afterAll(async () => { throw new Error('in the end'); });",
    );
    assert_eq!(code, 1, "{stdout}{stderr}");
    assert!(!stdout.contains("NEVER"), "{stdout}");
    let expected = [
        "-  skips itself",
        "-  is skipped",
        "-  a skipped suite › inside",
        "-  by condition › inside",
        "✘  is late",
        "✓  goes on",
        "✓  fails as said",
        "after soft",
        "✘  is soft",
        "✘  in a row › breaks",
        "-  in a row › is left out",
        "✘  again › works at last",
        "✓  again › works at last",
        "✘  afterAll hook",
        "4 failed, 3 passed, 5 skipped",
    ];
    assert_eq!(lines(&stdout), expected, "{stderr}");
    assert!(stderr.contains("Test timeout of 300ms exceeded.") && stderr.contains("in the end"), "{stderr}");
}

#[test]
fn fixtures_of_extend_are_made_and_ended() {
    let world = World::new();
    let (code, stdout, stderr) = run(
        &world,
        "import { test as base, expect } from '@playwright/test';
const test = base.extend<{ shop: string; name: string }, { once: number }>({
  name: ['Pear', { option: true }],
  once: [async ({}, use) => { console.log('made once'); await use(7); console.log('ended once'); }, { scope: 'worker' }],
  page: async ({ page }, use) => { await page.setContent('<h1>Own</h1>'); await use(page); },
  shop: async ({ page, name, once }, use, info) => { await use(`${name} ${once} ${await page.locator('h1').textContent()} ${info.title}`); console.log('ended shop'); },
});
test('one', async ({ shop }) => { expect(shop).toBe('Pear 7 Own one'); });
test.describe('with another', () => { test.use({ name: 'Plum' }); test('two', async ({ shop }) => { expect(shop).toBe('Plum 7 Own two'); }); });",
    );
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let expected = [
        "made once",
        "ended shop",
        "✓  one",
        "ended shop",
        "✓  with another › two",
        "ended once",
        "0 failed, 2 passed",
    ];
    assert_eq!(lines(&stdout), expected);
    for (code, message) in [
        ("test.use({ videos: 'on' })", "test.use: there is no option or fixture `videos`."),
        ("test('a', async ({ nothing }) => {})", "test has unknown parameter \"nothing\"."),
        (
            "test.beforeAll(async ({ page }) => {}); test('a', async () => {})",
            "\"page\" fixtures are not supported in \"beforeAll\"",
        ),
        (
            "test.use({ bypassCSP: true }); test('a', async ({ page }) => {})",
            "`bypassCSP` can only be false here",
        ),
    ] {
        let (exit, stdout, stderr) =
            run(&world, &format!("import {{ test }} from '@playwright/test';\n{code}"));
        assert_eq!(exit, 1, "{code}: {stdout}");
        assert!(stderr.contains(message), "{code}: {stderr}");
    }
}

#[test]
fn soft_assertions_outside_of_tests_fail_the_run() {
    let world = World::new();
    let outcome = world
        .run(&["execute", "expect.soft(1).toBe(2);\nexpect.soft('a').toBe('b');\nconsole.log('goes on')"]);
    assert_eq!((outcome.code, outcome.stdout.trim()), (1, "goes on"));
    for part in ["Expected: 2", "Expected: \"b\"", "at execute:1:"] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    assert_eq!(world.run(&["execute", "expect.soft(1).toBe(1); 5"]).succeeded().text(), "5");
}
