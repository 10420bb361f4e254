// A TLS server in front of a browser's debugging port, as hosted browsers have: it wants a token in the query and a
// header in every request, and forwards the rest of the connection. Arguments: key file, certificate file, port.
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createServer } from "node:tls";

const [, , key, cert, upstreamPort] = process.argv;
const REFUSAL = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, client => {
  let head = Buffer.alloc(0);
  client.on("error", () => client.destroy());
  client.on("data", function receive(data) {
    head = Buffer.concat([head, data]);
    if (!head.includes("\r\n\r\n")) return;
    client.off("data", receive);
    const text = head.toString("latin1");
    const [first] = text.split("\r\n", 1);
    console.log(first);
    const isAllowed = first.includes("?token=letmein ") && /\r\nX-Test-Key: one\r\n/iu.test(text);
    if (!isAllowed) {
      client.end(REFUSAL);
      return;
    }
    const browser = connect(Number(upstreamPort), "127.0.0.1");
    browser.on("error", () => client.destroy());
    browser.write(Buffer.from(text.replace("/fleet/", "/").replace("?token=letmein ", " "), "latin1"));
    browser.pipe(client).pipe(browser);
  });
});

server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
