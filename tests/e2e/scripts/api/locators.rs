//! Locators, input and pages of the Playwright-like API.

use crate::scripts::{execute, on_page};
use crate::support::world::World;

/// Runs lines of code on the page; each must print what follows `=>`.
fn check(lines: &[(&str, &str)]) {
    let world = World::new();
    let code: Vec<String> =
        lines.iter().map(|(code, _)| format!("console.log(await (async () => {code})());")).collect();
    let printed = execute(&world, &on_page(&code.join("\n")));
    let printed: Vec<&str> = printed.lines().collect();
    for (at, (code, expected)) in lines.iter().enumerate() {
        assert_eq!(printed.get(at), Some(expected), "{code}: {printed:#?}");
    }
}

#[test]
fn locators_find_as_in_playwright() {
    check(&[
        ("page.getByRole('listitem').count()", "2"),
        ("page.locator('li.item').allTextContents()", "[ 'Apple Buy', 'Pear Buy' ]"),
        ("page.getByRole('button', { name: /^buy$/i }).count()", "2"),
        ("page.getByRole('listitem').filter({ hasText: 'Pear' }).textContent()", "Pear Buy"),
        ("page.getByText('Apple').evaluate((e) => e.localName)", "li"),
        ("page.getByText('Items', { exact: true }).evaluate((e) => e.localName)", "h1"),
        ("page.getByLabel('Name').getAttribute('id')", "name"),
        ("page.getByPlaceholder('your name').getAttribute('id')", "name"),
        ("page.getByAltText('cat').count()", "1"),
        ("page.getByTitle('Go on').textContent()", "Next"),
        ("page.getByTestId('next').getAttribute('href')", "/next"),
        ("page.locator('li').first().locator('button').innerText()", "Buy"),
        ("page.locator('li').last().innerText()", "Pear Buy"),
        ("page.locator('li >> nth=1 >> text=Buy').count()", "1"),
        ("page.locator('li:has-text(\"Apple\") button').count()", "1"),
        ("page.locator('p:visible').count()", "0"),
        ("page.locator('xpath=//h1').textContent()", "Items"),
        ("page.locator('li').filter({ has: page.getByRole('button') }).count()", "2"),
        ("page.locator('button').and(page.getByText('Ask')).getAttribute('id')", "ask"),
        ("page.locator('#ask').or(page.locator('#open')).count()", "2"),
        ("page.locator('#gone').isVisible()", "false"),
        ("page.locator('#missing').isHidden()", "true"),
        ("(await page.locator('li').all()).length", "2"),
        (
            "String(page.getByRole('button', { name: 'Buy' }).first())",
            "getByRole('button', { name: 'Buy' }).first()",
        ),
    ]);
}

#[test]
fn input_works_as_in_playwright() {
    check(&[
        (
            "{ await page.getByRole('listitem').filter({ hasText: 'Apple' }).getByRole('button').click(); return page.locator('li').first().innerText() }",
            "Apple Bought",
        ),
        ("{ await page.getByLabel('Name').fill('Ann'); return page.locator('#name').inputValue() }", "Ann"),
        (
            "{ await page.locator('#name').press('End'); await page.keyboard.type('a'); return page.inputValue('#name') }",
            "Anna",
        ),
        ("{ await page.locator('#name').clear(); return (await page.inputValue('#name')) === '' }", "true"),
        ("{ await page.getByLabel('Agree').check(); return page.isChecked('#agree') }", "true"),
        ("{ await page.getByLabel('Agree').setChecked(false); return page.isChecked('#agree') }", "false"),
        ("page.locator('#size').selectOption('l')", "[ 'l' ]"),
        ("page.locator('#size').selectOption({ label: 'Small' })", "[ 's' ]"),
        (
            "{ await page.frameLocator('iframe').getByRole('button').click(); return page.frameLocator('iframe').locator('button').textContent() }",
            "2",
        ),
        (
            "{ await page.locator('#ask').dispatchEvent('focus'); await page.hover('#ask'); return 'hovered' }",
            "hovered",
        ),
        ("page.inputValue('#secret')", "•••"),
    ]);
}

#[test]
fn evaluate_carries_values_both_ways() {
    check(&[
        ("page.evaluate(([a, b]) => a + b, [1, 2])", "3"),
        (
            "page.evaluate(() => ({ a: undefined, d: new Date(0), n: NaN, r: /x/g, m: [1n] }))",
            "{ a: undefined, d: 1970-01-01T00:00:00.000Z, n: NaN, r: /x/g, m: [ 1n ] }",
        ),
        ("page.evaluate((x) => x.d.getTime() + x.l.length, { d: new Date(5), l: [1, 2] })", "7"),
        ("page.evaluate('1 + 1')", "2"),
        ("page.locator('li').evaluateAll((list, more) => list.length + more, 10)", "12"),
        ("page.$eval('h1', (e) => e.textContent)", "Items"),
        ("page.$$eval('li', (l) => l.length)", "2"),
        ("(await page.$('h1')).textContent()", "Items"),
        ("page.evaluate(() => { throw new Error('oops') }).catch((e) => e.message.includes('oops'))", "true"),
    ]);
}

#[test]
fn dialogs_popups_and_navigation() {
    let world = World::new();
    let code = on_page(
        "page.once('dialog', (dialog) => { console.log(dialog.type(), dialog.message()); return dialog.accept() });\n\
         await page.click('#ask'); await expect(page).toHaveTitle('yes');\n\
         await page.click('#ask'); await expect(page).toHaveTitle('no');\n\
         const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#open')]);\n\
         console.log(popup.url(), context.pages().length); await popup.close();\n\
         await page.goto('data:text/html,<title>Two</title>'); console.log(await page.title());\n\
         await page.goBack(); console.log(await page.title());\n\
         const other = await context.newPage(); await other.goto('data:text/html,<title>Other</title>');\n\
         console.log(await other.title(), await page.title()); state.other = other; void 0",
    );
    assert_eq!(execute(&world, &code), "confirm Sure?\nabout:blank 2\nTwo\nShop\nOther Shop");
    assert_eq!(execute(&world, "await state.other.title()"), "Other");
}

#[test]
fn helpers_and_actions_are_there() {
    let world = World::new();
    let code = on_page("console.log(await snapshot({ interactive: true }));");
    let printed = execute(&world, &code);
    assert!(printed.contains("button \"Ask\"") && !printed.contains("<page "), "{printed}");
    let reference =
        printed.lines().find(|line| line.contains("\"Ask\"")).and_then(|line| line.split(['[', ']']).nth(1));
    let reference = reference.expect("a ref");
    let found = execute(&world, &format!("await refToLocator('{reference}').getAttribute('id')"));
    assert_eq!(found, "ask");
    assert_eq!(
        execute(&world, &format!("await page.locator('aria-ref={reference}').getAttribute('id')")),
        "ask"
    );
    assert_eq!(execute(&world, "(await tabwire.get({ what: 'title' })).value"), "Shop");
    assert!(execute(&world, "help()").contains("locators"));
}
