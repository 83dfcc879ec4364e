// Whose public resources requests without a credential read, and how many they may send.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { app } from "../../../src/declare/app.ts";
import { text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { OperatorError } from "../../../src/errors.ts";
import { expectAnswer, makeTenant, runCommand } from "../../support/scenario.ts";
import {
  type Environment,
  makeWorkspace,
  onEachDatabase,
  Portico,
  type RequestOptions,
  type Workspace,
} from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/magazine");
const secret = "0123456789abcdef0123456789abcdef";

onEachDatabase("the tenant of requests without a credential", (database) => {
  let workspace: Workspace;
  let server: Portico | undefined;
  let other: string;

  /** Sandboxes fill an empty database, so the rows of the first tenant are there for live servers too. */
  before(async () => {
    workspace = await makeWorkspace(database);
    server = await Portico.start(workspace, { cwd });
    expectAnswer(await server.request("/articles", { body: { title: "First", status: "published" } }), {
      status: 201,
    });
    const { id, key } = await makeTenant(workspace, "articles:read,articles:write", { cwd });
    other = id;
    const body = { title: "Other", status: "published" };
    expectAnswer(await server.request("/articles", { key, body }), { status: 201 });
  });
  const stop = async (): Promise<void> => {
    await server?.stop();
    server = undefined;
  };
  afterEach(stop);
  after(() => workspace.remove());

  const titles = async (env: Environment): Promise<unknown> => {
    await stop();
    server = await Portico.start(workspace, { cwd, env });
    const { status, body } = await server.request("/articles", { key: null });
    return status === 200 ? body.data.map(({ title }: { title: string }) => title) : body.error.code;
  };

  test("is the first one in a sandbox, and nobody in live mode", async () => {
    const live = { PORTICO_MODE: "live", PORTICO_SECRET: secret };
    assert.equal(await titles(live), "authentication_required");
    expectAnswer(await server!.request("/v1/me", { key: null }), { status: 401 });
    assert.deepEqual(await titles({}), ["First"]);
    assert.deepEqual(await titles({ ...live, PORTICO_PUBLIC_TENANT: other }), ["Other"]);
    assert.equal(await titles({ PORTICO_PUBLIC_TENANT: "none" }), "authentication_required");
  });

  test("must exist", async () => {
    for (const PORTICO_PUBLIC_TENANT of ["tenant_00000000000000000000000000", "acme"])
      await assert.rejects(titles({ PORTICO_PUBLIC_TENANT }), (error) => {
        assert.ok(error instanceof OperatorError);
        assert.match(error.message, /^PORTICO_PUBLIC_TENANT: there is no tenant (tenant_0+|acme); /);
        return true;
      });
  });

  test("an app without public resources refuses requests without a credential", async () => {
    const notes = resource("note", { fields: { line: text() } });
    await stop();
    const empty = await makeWorkspace(database);
    server = await Portico.startApp(empty, app({ name: "Private", resources: [notes] }));
    for (const path of ["/notes", "/v1/me", "/graphql?query=%7Bme%7Bkind%7D%7D"]) {
      const { status, body, headers } = await server.request(path, { key: null });
      assert.deepEqual(
        [status, body.error.code, headers.get("vary")],
        [401, "authentication_required", null],
      );
    }
    const body = { name: "Page", type: "publishable", scopes: [] };
    const { key } = (await server.request("/v1/api-keys", { body })).body;
    expectAnswer(await server.request("/notes", { key }), { status: 403, code: "insufficient_scope" });
    const graphql = await server.request("/graphql?query=%7Bme%7Bkind%7D%7D", { key });
    assert.equal(graphql.body.errors[0].extensions.code, "insufficient_scope");
    await stop();
    await empty.remove();
  });

  test("each address has a quota, and each publishable key one for each address", async () => {
    const env = { PORTICO_KEY_QUOTA: "3/3600", PORTICO_TRUSTED_PROXIES: "127.0.0.1" };
    await stop();
    server = await Portico.start(workspace, { cwd, env });
    const words = [
      "--name",
      "Page",
      "--type",
      "publishable",
      "--rate-limit",
      "2",
      "--scopes",
      "articles:read",
    ];
    const { key } = await runCommand(workspace, ["key", "create", ...words], { cwd });
    const from = async (
      address: string,
      options: RequestOptions,
    ): Promise<readonly (number | string | null)[]> => {
      const headers = { "x-forwarded-for": address };
      const answer = await server!.request("/articles", { headers, ...options });
      return [answer.status, answer.headers.get("ratelimit")?.split(";")[1] ?? null];
    };
    const one = "192.0.2.1";
    for (const left of ["r=2", "r=1", "r=0"]) assert.deepEqual(await from(one, { key: null }), [200, left]);
    assert.deepEqual(await from(one, { key: null }), [429, "r=0"]);
    assert.deepEqual(await from("192.0.2.2", { key: null }), [200, "r=2"]);
    // 64 bits of an IPv6 address belong to one client.
    assert.deepEqual(await from("2001:db8::1", { key: null }), [200, "r=2"]);
    assert.deepEqual(await from("2001:db8::2", { key: null }), [200, "r=1"]);
    for (const left of ["r=1", "r=0"]) assert.deepEqual(await from(one, { key }), [200, left]);
    assert.deepEqual(await from(one, { key }), [429, "r=0"]);
    assert.deepEqual(await from("192.0.2.2", { key }), [200, "r=1"]);
  });
});
