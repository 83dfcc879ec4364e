// What stays of a request after the library has answered it.

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
      // Neither path below comes to it.
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

  /** What the contexts of the request still hold once its answer is gone. */
  async function heldAfter(path: string): Promise<{ status: number; held: unknown[] }> {
    const { status } = await fetch(url + path);
    if (!response.closed) await once(response, "close");
    const context = contexts.at(-1) as { readonly oidc?: object };
    const held = [context, context.oidc ?? {}].flatMap((each) => Object.values(each));
    return { status, held: held.filter((each) => each !== undefined) };
  }

  test("an answer leaves nothing of its request", async () => {
    assert.deepEqual(await heldAfter("/jwks"), { status: 200, held: [] });
  });

  test("nor does a path at which there is nothing", async () => {
    assert.deepEqual(await heldAfter("/nothing"), { status: 404, held: [] });
  });
});
