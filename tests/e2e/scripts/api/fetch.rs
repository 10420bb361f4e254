//! Requests of scripts with the cookies of the browser.

use crate::scripts::check_lines;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn scripts_send_requests_with_the_browsers_cookies() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = format!("const site = '{}'; await page.goto(site + '/plain');", site.page(""));
    check_lines(
        &world,
        &start,
        &[
            (
                "{ const r = await page.request.get('/api/echo', { params: { value: 'x' } }); return [r.status(), r.ok(), await r.text(), r.headers()['content-type'], new URL(r.url()).search] }",
                r#"[200,true,"echo x","text/plain; charset=utf-8","?value=x"]"#,
            ),
            (
                "{ await page.request.get('/cookie/set?name=a&value=b'); return [await (await context.request.get('/cookie/show')).text(), await page.evaluate(() => document.cookie)] }",
                r#"["a=b","a=b"]"#,
            ),
            (
                "{ await page.evaluate(() => { document.cookie = 'c=d' }); return (await (await page.request.get('/cookie/show')).text()).includes('c=d') }",
                "true",
            ),
            (
                "{ const r = await (await page.request.post('/echo', { data: { a: 1 }, headers: { 'X-A': 'b' } })).json(); return [r.method, r.body, JSON.stringify(r).toLowerCase().includes('application/json'), JSON.stringify(r).toLowerCase().includes('x-a')] }",
                r#"["POST","{\"a\":1}",true,true]"#,
            ),
            (
                "{ const r = await (await page.request.put('/echo', { form: { a: '1 2', b: '3' } })).json(); return [r.method, r.body] }",
                r#"["PUT","a=1+2&b=3"]"#,
            ),
            (
                "{ const r = await (await page.request.post('/upload?as=json', { multipart: { f: { name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('hi') }, k: 'v' } })).json(); return r.map((p) => [p.field, p.file, p.size, p.text]) }",
                r#"[["f","x.txt",2,null],["k",null,1,"v"]]"#,
            ),
            (
                "{ const r = await Promise.all(['patch', 'delete'].map(async (m) => (await (await page.request[m]('/echo')).json()).method)); return [r, (await page.request.head('/plain')).status()] }",
                r#"[["PATCH","DELETE"],200]"#,
            ),
            (
                "{ const r = await page.request.get('/redirect'); const stay = await page.request.get('/redirect', { maxRedirects: 0 }); return [new URL(r.url()).pathname, stay.status()] }",
                r#"["/plain",302]"#,
            ),
            (
                "page.request.get('/redirect/loop', { maxRedirects: 2 })",
                "FAILED apiRequestContext.get: Max redirect count exceeded: 2",
            ),
            (
                "page.request.get('/status?code=503', { failOnStatusCode: true })",
                "FAILED apiRequestContext.get: 503 Service Unavailable",
            ),
            (
                "page.request.get('file:///etc/passwd')",
                "FAILED apiRequestContext.get: The URL is not a whole http or https URL.",
            ),
            (
                "{ const r = await fetch(site + '/echo', { method: 'POST', body: 'text' }); return [r.ok, r.headers.has('content-type'), (await r.json()).body] }",
                r#"[true,true,"text"]"#,
            ),
            ("[context.pages().length, page.url().endsWith('/plain')]", "[1,true]"),
        ],
    );
}
