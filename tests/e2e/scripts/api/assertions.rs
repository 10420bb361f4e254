//! `expect`: assertions that wait, and their errors.

use crate::scripts::{execute, on_page};
use crate::support::world::World;

#[test]
fn assertions_wait_until_they_hold() {
    let world = World::new();
    let code = on_page(
        "await expect(page.getByText('Late')).toBeVisible();\n\
         await expect(page.locator('#gone')).toBeHidden();\n\
         await expect(page.locator('#gone')).not.toBeVisible();\n\
         await expect(page.locator('li')).toHaveCount(2);\n\
         await expect(page.locator('li')).toHaveText(['Apple Buy', /Pear/]);\n\
         await expect(page.locator('li')).toContainText(['Pear']);\n\
         await expect(page.locator('h1')).toContainText('item', { ignoreCase: true });\n\
         await expect(page.locator('#name')).toHaveValue('');\n\
         await expect(page.locator('#name')).toBeEditable();\n\
         await expect(page.locator('#name')).toHaveAttribute('placeholder', /name/);\n\
         await expect(page.locator('#name')).toHaveAttribute('id');\n\
         await expect(page.locator('li').first()).toHaveClass('item');\n\
         await expect(page.locator('#agree')).not.toBeChecked();\n\
         await expect(page.getByRole('link')).toHaveAccessibleName('Next');\n\
         await expect(page.locator('h1')).toHaveCSS('display', 'block');\n\
         await expect(page.locator('#none')).not.toBeAttached();\n\
         await expect(page).toHaveTitle(/sh/i); await expect(page).toHaveURL(/^data:/);\n\
         await expect.poll(() => page.locator('li').count()).toBe(2);\n\
         await expect(async () => { expect(await page.title()).toBe('Shop') }).toPass({ timeout: 1000 });\n\
         expect({ a: [1, 2] }).toEqual({ a: [1, expect.any(Number)] }); expect('abc').toMatch(/b/);\n\
         expect([1]).not.toContain(2); expect(() => { throw new Error('x') }).toThrow('x'); 'all held'",
    );
    assert_eq!(execute(&world, &code), "all held");
}

#[test]
fn a_failed_assertion_shows_both_values() {
    let world = World::new();
    let outcome = world.run(&[
        "execute",
        &on_page("await expect(page.locator('h1')).toHaveText('Nothing', { timeout: 100 })"),
    ]);
    assert_eq!(outcome.code, 1);
    for part in [
        "expect(locator).toHaveText(expected) failed",
        "Locator:  locator('h1')",
        "Expected: \"Nothing\"",
        "Received: \"Items\"",
        "Timeout:  100ms",
    ] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    let outcome = world.run(&["execute", "await page.locator('li').click()"]);
    assert!(
        outcome.stderr.contains("strict mode violation: locator('li') resolved to 2 elements:\n    1) <li"),
        "{}",
        outcome.stderr
    );
}
