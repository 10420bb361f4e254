// The script of `tabwire demo`, as an agent would write it: fills the form of the demo page and counts to three.
// The command sets `delay`, in milliseconds: on a terminal a person watches.
await page.getByLabel('Your name').pressSequentially('Ada', { delay });
await page.getByRole('button', { name: 'Greet' }).click({ delay });
for (let pressed = 0; pressed < 3; pressed += 1) {
  await page.getByRole('button', { name: 'Count' }).click({ delay });
}
await expect(page.locator('#greeting')).toHaveText('Hello, Ada!');
await expect(page.locator('#total')).toHaveText('3');
