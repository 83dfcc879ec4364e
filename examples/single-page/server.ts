// Serves the page and its settings: the URLs of Portico, and its client id.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { PORT = "8080", PORTICO_URL = "http://127.0.0.1:3000", CLIENT_ID } = process.env;
const { AUTH_URL = `${PORTICO_URL}/oauth` } = process.env;
if (!CLIENT_ID) throw new Error("CLIENT_ID is missing; see README.md");

const read = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));
const settings = { apiUrl: PORTICO_URL, issuer: AUTH_URL, clientId: CLIENT_ID };

const files = new Map<string, readonly [type: string, body: string | Buffer]>([
  ["/", ["text/html; charset=utf-8", read("index.html")]],
  ["/app.js", ["text/javascript; charset=utf-8", read("app.js")]],
  ["/settings.json", ["application/json", JSON.stringify(settings)]],
]);

/** Allows scripts of this server only, and requests to Portico only. */
const policy = [
  "default-src 'none'; script-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
  `connect-src 'self' ${new URL(PORTICO_URL).origin} ${new URL(AUTH_URL).origin}`,
].join("; ");

const server = createServer(({ url = "" }, response) => {
  const [type, body] = files.get(url.split("?")[0]!) ?? [];
  if (type === undefined) return void response.writeHead(404).end();
  // The URL can contain a code, so it is never sent as a referrer.
  const headers = { "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer" };
  response.writeHead(200, { ...headers, "Content-Type": type, "Cache-Control": "no-cache" }).end(body);
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}/`));
