// The client in a page of another origin, in Chromium.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import service from "../../../../portico.config.ts";
import { inChromium } from "../support/chromium.ts";
import { makeWorkspace, Portico } from "../support/server.ts";
import { clientBundle } from "./client-bundle.ts";

inChromium("client in a page", (chromium) => {
  test("it reads, writes, reports errors and subscribes", async () => {
    const pages = createServer((request, response) => {
      const isScript = request.url === "/client.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8");
      response.end(isScript ? clientBundle() : "<!doctype html><title>Page</title>");
    }).listen(0, "127.0.0.1");
    await once(pages, "listening");
    const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const env = { PORTICO_CORS_ORIGINS: origin };
    const server = await Portico.startApp(await makeWorkspace("sqlite"), service, { env });
    try {
      const seen = await chromium.visit(async (page) => {
        await page.goto(origin);
        return page.evaluate(inPage, { baseUrl: server.url, credential: server.key });
      });
      assert.deepEqual(seen, {
        listed: ["Kept"],
        event: "Told",
        code: "validation_error",
        details: [{ field: "name", issue: "min" }],
        hasRequestId: true,
      });
    } finally {
      pages.close();
      await server.stop();
      await server.workspace.remove();
    }
  });
});

/** Runs in the page. */
async function inPage(options: { readonly baseUrl: string; readonly credential: string }) {
  // A path of the page's own server, which the compiler does not find.
  const path = "/client.js";
  const { createClient }: typeof import("portico/client") = await import(path);
  const client = createClient<typeof service>(options);
  await client.projects.create({ name: "Kept" });
  const listed: string[] = [];
  for await (const { name } of client.projects.all({ q: "Kept", fields: ["name"] })) listed.push(name);
  const onOpen = (): void => void client.projects.create({ name: "Told" });
  const events = client.subscribe("project.created", { onOpen });
  const { value: event } = await events.next();
  await events.return?.(undefined);
  const error = await client.projects.create({ name: "" }).catch((thrown) => thrown);
  const { code, details, requestId } = error;
  return { listed, event: event.data.name, code, details, hasRequestId: typeof requestId === "string" };
}
