// The memory of a request is released after the response.

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, suite, test } from "node:test";
import type { Adapter } from "oidc-provider";
import { loadLibrary } from "../../../src/oauth/provider/library.ts";
import { handlerOf } from "../../../src/oauth/provider/patches/context-release.ts";

suite("the handler of the authorization library", () => {
  const server = createServer();
  const contexts: object[] = [];
  let response: ServerResponse;
  let url: string;

  before(async () => {
    const { Provider } = await loadLibrary();
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const provider = new Provider("http://127.0.0.1", {
      // No path of these tests reaches it.
      adapter: () => ({}) as Adapter,
      clientDefaults: { id_token_signed_response_alg: "ES256" },
      jwks: { keys: [privateKey.export({ format: "jwk" }) as never] },
      features: { devInteractions: { enabled: false } },
    });
    provider.use((context, next) => {
      contexts.push(context);
      return next();
    });
    const handle = handlerOf(provider);
    server.on("request", (request, reply) => {
      response = reply;
      void handle(request, reply);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  /** The members of the request's contexts that remain after the response. */
  async function heldAfter(path: string): Promise<{ status: number; held: unknown[] }> {
    const { status } = await fetch(url + path);
    if (!response.closed) await once(response, "close");
    const context = contexts.at(-1) as { readonly oidc?: object };
    const held = [context, context.oidc ?? {}].flatMap((each) => Object.values(each));
    return { status, held: held.filter((each) => each !== undefined) };
  }

  test("the contexts of a request are released after its response", async () => {
    assert.deepEqual(await heldAfter("/jwks"), { status: 200, held: [] });
  });

  test("they are released after the response to an unknown path", async () => {
    assert.deepEqual(await heldAfter("/nothing"), { status: 404, held: [] });
  });
});
