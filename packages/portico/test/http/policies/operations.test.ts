// Policies that differ between operations, over REST and GraphQL: what cannot be read is not found, and what can be read
// but not written is forbidden.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  app,
  belongsTo,
  boolean,
  createServer,
  integer,
  type Resource,
  resource,
  type Server,
  text,
  users,
} from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const json = { "content-type": "application/json" };
const nobody = { id: "", key: "" };

/** Nobody can read or write it, except hooks. */
const journals = resource("journal", { fields: { line: text({ max: 200 }) }, policy: () => false });

const notes: Resource = resource("note", {
  fields: {
    title: text({ max: 50 }),
    isShared: boolean({ default: false }),
    stamps: integer({ default: 0, readOnly: true }),
    owner: belongsTo(() => users, { default: "caller" }),
    near: belongsTo((): Resource => notes, { optional: true }),
  },
  nestedUnder: ["owner", "tenant"],
  policy: {
    read: ({ caller }) => ({ OR: [{ ownerId: caller.userId }, { isShared: true }] }),
    create: ({ caller }) => ({ ownerId: caller.userId, title: { not: "refused" } }),
    write: ({ caller }) => ({ ownerId: caller.userId, title: { notIn: ["kept", "refused"] } }),
  },
  hooks: {
    after: {
      // Hooks write what their caller could not.
      create: async ({ title }, { rows }) => void (await rows.create(journals, { line: String(title) })),
    },
  },
  actions: {
    stamps: {
      verb: "stamp",
      input: { other: text({ max: 50, optional: true }), isUnrestricted: boolean({ default: false }) },
      run: async ({ current: { id, stamps }, input: { other, isUnrestricted }, rows }) => {
        const allowed = isUnrestricted ? rows.unrestricted : rows;
        const stamped = { stamps: Number(stamps) + 1 };
        if (typeof other === "string") await allowed.update(notes, other, stamped);
        return (await allowed.update(notes, String(id), stamped)) as { id: string };
      },
    },
  },
});
const remarks = resource("remark", { parent: notes, fields: { line: text({ max: 50 }) } });
const marks = resource("mark", {
  parent: notes,
  fields: { line: text({ max: 50 }) },
  policy: { create: () => true, update: ({ caller }) => ({ note: { ownerId: { not: caller.userId } } }) },
});
/** Only the related note decides who may create one. */
const labels = resource("label", {
  fields: { line: text({ max: 50 }), note: belongsTo(() => notes) },
  policy: { create: ({ caller }) => ({ note: { ownerId: caller.userId } }) },
});
const declared = app({ name: "Notes", resources: [journals, notes, remarks, marks, labels] });

onEachDatabase("policies for each operation", (database) => {
  let workspace: Workspace;
  let server: Server;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  type Body = any;
  const people: Record<"ann" | "bob", { id: string; key: string }> = { ann: nobody, bob: nobody };

  async function request(
    path: string,
    { method, body, by = "ann" }: { method?: string; body?: object; by?: "ann" | "bob" | "operator" } = {},
  ): Promise<{ status: number; body: Body }> {
    const response = await fetch(server.url + path, {
      method: method ?? (body ? "POST" : "GET"),
      headers: { authorization: `Bearer ${by === "operator" ? server.sandboxKey : people[by].key}`, ...json },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.text();
    return { status: response.status, body: answer === "" ? undefined : JSON.parse(answer) };
  }
  const note = async (title: string, more: object = {}, by: "ann" | "bob" = "ann"): Promise<string> =>
    (await request("/notes", { body: { title, ...more }, by })).body.id;
  const mutate = async (mutation: string, by: "ann" | "bob"): Promise<string> => {
    const { body } = await request("/graphql", { body: { query: `mutation { ${mutation} }` }, by });
    return body.errors?.[0]?.extensions.code ?? "written";
  };

  before(async () => {
    workspace = await makeWorkspace(database);
    server = await createServer(declared, {
      databaseUrl: workspace.databaseUrl,
      port: 0,
      log: { write: () => {} },
    });
    await server.listen();
    const plural = ["notes", "remarks", "marks", "labels", "journals"];
    const scopes = plural.flatMap((each) => [`${each}:read`, `${each}:write`]);
    for (const name of ["ann", "bob"] as const) {
      const user = await request("/users", { body: { name, email: `${name}@example.com` }, by: "operator" });
      const { id } = user.body;
      const key = await request("/v1/api-keys", { body: { name, scopes, ownerId: id }, by: "operator" });
      people[name] = { id, key: key.body.key };
    }
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  test("a create that related rows refuse does not affect those that arrive with it", async () => {
    const noteId = await note("labelled", { isShared: true });
    const senders = Array.from({ length: 60 }, (_, number) => (number % 6 === 0 ? "bob" : "ann"));
    const answers = await Promise.all(
      senders.map((by, number) => request("/labels", { body: { line: `line ${number}`, noteId }, by })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      senders.map((by) => (by === "bob" ? 403 : 201)),
    );
    const { body } = await request("/labels?limit=100&fields=line");
    assert.equal(body.data.length, 50);
  });

  test("a row that cannot be read is not found, and one that cannot be written is forbidden", async () => {
    const hidden = await note("hidden");
    const shared = await note("shared", { isShared: true });
    const kept = await note("kept");
    const writes = (id: string) =>
      [
        [`/notes/${id}`, { method: "PATCH", body: { title: "x" } }],
        [`/notes/${id}`, { method: "PUT", body: { title: "x" } }],
        [`/notes/${id}`, { method: "DELETE" }],
        [`/notes/${id}/stamps`, { body: {} }],
        [`/notes/${id}/remarks`, { body: { line: "x" } }],
      ] as const;
    const mutations = (id: string) => [
      `updateNote(id: "${id}", input: { title: "x" }) { id near { id } }`,
      `deleteNote(id: "${id}") { id }`,
      `stampNote(id: "${id}") { id }`,
      `createRemark(input: { noteId: "${id}", line: "x" }) { id }`,
    ];
    for (const [id, by, status, code] of [
      [hidden, "bob", 404, "not_found"],
      [shared, "bob", 403, "forbidden"],
      [kept, "ann", 403, "forbidden"],
    ] as const) {
      assert.equal((await request(`/notes/${id}`, { by })).status, status === 404 ? 404 : 200);
      for (const [path, options] of writes(id)) {
        const answer = await request(path, { ...options, by });
        assert.deepEqual([answer.status, answer.body.error?.code], [status, code], `${path} ${by}`);
      }
      for (const mutation of mutations(id)) assert.equal(await mutate(mutation, by), code, mutation);
      const { body } = await request(`/notes/${id}`, { by: id === hidden ? "ann" : by });
      assert.equal(body.stamps, 0);
    }
  });

  test("a result outside a policy is forbidden, and nothing of the write remains", async () => {
    const own = await note("own");
    for (const body of [{ title: "refused" }, { title: "kept" }, { ownerId: people.bob.id }]) {
      const answer = await request(`/notes/${own}`, { method: "PATCH", body });
      assert.deepEqual([answer.status, answer.body.error.code], [403, "forbidden"], JSON.stringify(body));
    }
    for (const body of [{ title: "refused" }, { title: "a", ownerId: people.bob.id }])
      assert.equal((await request("/notes", { body })).status, 403, JSON.stringify(body));
    const together = `a: updateNote(id: "${own}", input: { title: "b" }) { id } b: createNote(input: { title: "refused" }) { id }`;
    assert.equal(await mutate(together, "ann"), "forbidden");
    assert.equal((await request(`/notes/${own}`)).body.title, "own");
  });

  test("a policy of its own replaces the one for updates of the parent", async () => {
    const shared = await note("marked", { isShared: true });
    const [ofAnn, ofBob] = [
      await request(`/notes/${shared}/marks`, { body: { line: "a" } }),
      await request(`/notes/${shared}/marks`, { body: { line: "b" }, by: "bob" }),
    ];
    assert.deepEqual([ofAnn.status, ofBob.status], [201, 201]);
    const patch = (by: "ann" | "bob") =>
      request(`/marks/${ofAnn.body.id}`, { method: "PATCH", body: { line: "c" }, by });
    assert.equal((await patch("ann")).status, 403);
    assert.equal((await patch("bob")).status, 200);
    // Without one for deletions, that of the note decides.
    assert.equal((await request(`/marks/${ofBob.body.id}`, { method: "DELETE", by: "bob" })).status, 403);
    assert.equal((await request(`/marks/${ofBob.body.id}`, { method: "DELETE" })).status, 204);
  });

  test("a reference to a row that cannot be read is answered like one to an unknown row", async () => {
    const hidden = await note("hidden");
    const unknown = `note_${"0".repeat(26)}`;
    const [one, other] = await Promise.all(
      [hidden, unknown].map((nearId) => request("/notes", { body: { title: "near", nearId }, by: "bob" })),
    );
    assert.equal(one!.status, 422);
    assert.deepEqual(one!.body, other!.body);
    const shared = await note("shared", { isShared: true });
    assert.equal(
      (await request("/notes", { body: { title: "near", nearId: shared }, by: "bob" })).status,
      201,
    );
  });

  test("deleting a nested collection deletes what may be deleted", async () => {
    const [kept, gone] = [await note("kept", {}, "bob"), await note("gone", {}, "bob")];
    assert.equal((await request("/users", { by: "operator" })).status, 200);
    const path = `/tenants/${await tenantOf()}/notes`;
    assert.equal((await request(path, { method: "DELETE", by: "bob" })).status, 204);
    assert.equal((await request(`/notes/${kept}`, { by: "bob" })).status, 200);
    assert.equal((await request(`/notes/${gone}`, { by: "bob" })).status, 404);
  });

  test("rows of an action have the policies of the caller, and unrestricted ones have not", async () => {
    const [own, hidden, shared] = [
      await note("own", {}, "bob"),
      await note("hidden"),
      await note("shared", { isShared: true }),
    ];
    const stamp = (other: string, isUnrestricted = false) =>
      request(`/notes/${own}/stamps`, { body: { other, isUnrestricted }, by: "bob" });
    assert.equal((await stamp(hidden)).body.error.code, "not_found");
    assert.equal((await stamp(shared)).body.error.code, "forbidden");
    assert.equal((await request(`/notes/${own}`, { by: "bob" })).body.stamps, 0);
    assert.equal((await stamp(hidden, true)).status, 201);
    assert.equal((await request(`/notes/${hidden}`)).body.stamps, 1);
  });

  test("hooks write without policies, and what they wrote stays hidden", async () => {
    await note("noted");
    assert.deepEqual((await request("/journals")).body.data, []);
    assert.equal((await request("/journals", { body: { line: "x" } })).status, 403);
  });

  async function tenantOf(): Promise<string> {
    return (await request("/v1/me")).body.tenant.id;
  }
});
