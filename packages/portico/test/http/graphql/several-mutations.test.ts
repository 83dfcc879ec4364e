// Several mutations of one operation run in one transaction: all of them or none.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { runCommand, serve, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/club");
const unknownId = `club_${"0".repeat(26)}`;

interface Failing {
  readonly mutation: string;
  readonly code: string;
  readonly issue?: string;
}

interface Fixtures {
  readonly clubId: string;
  readonly otherUserId: string;
  readonly keptPassId: string;
}

/** Mutations that fail, by what is wrong with them. */
const failing: Readonly<Record<string, (fixtures: Fixtures) => Failing>> = {
  "an invalid value": () => ({
    mutation: 'createPass(input: { holder: "" }) { id }',
    code: "validation_error",
    issue: "min",
  }),
  "a reference to a row that does not exist": () => ({
    mutation: `createPass(input: { holder: "Ada", clubId: "${unknownId}" }) { id }`,
    code: "validation_error",
    issue: "reference",
  }),
  "an invalid value and such a reference": () => ({
    mutation: `createPass(input: { holder: "", clubId: "${unknownId}" }) { id }`,
    code: "validation_error",
    issue: "min",
  }),
  "a value that another row has": () => ({
    mutation: 'createUser(input: { name: "Second", email: "other@example.com" }) { id }',
    code: "conflict",
    issue: "duplicate",
  }),
  "a policy": ({ clubId, otherUserId }) => ({
    mutation: `createLocker(input: { name: "1", clubId: "${clubId}", ownerId: "${otherUserId}" }) { id }`,
    code: "forbidden",
  }),
  "a row that does not exist": () => ({
    mutation: `updateClub(id: "${unknownId}", input: { name: "Lost" }) { id }`,
    code: "not_found",
  }),
  "a hook that refuses": ({ keptPassId }) => ({
    mutation: `deletePass(id: "${keptPassId}") { id }`,
    code: "conflict",
  }),
};

onEachDatabase("several mutations of one operation", (database) => {
  let fixtures: Fixtures;
  let reader: DatabaseReader;
  const server = serve(database, {
    cwd,
    prepare: async (at) => {
      const { id: otherUserId } = await at.create("/users", { name: "Other", email: "other@example.com" });
      const { id: clubId } = await at.create("/clubs", { name: "Club" });
      const { id: keptPassId } = await at.create("/passes", { holder: "kept" });
      fixtures = { clubId, otherUserId, keptPassId };
    },
  });
  before(() => {
    reader = openReader(server.workspace.databaseUrl);
  });
  after(() => reader?.close());

  const mutate = (...mutations: readonly string[]): Promise<Answer> =>
    requestGraphql(server, `mutation { ${mutations.join(" ")} }`);
  /** Everything that a mutation of these tests could change. */
  const stored = async (): Promise<unknown> => [
    await reader.rows("select id, name, updated_at from clubs order by id"),
    await reader.rows("select id, holder, cancelled_at from passes order by id"),
    await reader.rows("select count(*) from lockers"),
    await reader.rows("select count(*) from users"),
    await reader.rows("select count(*) from events"),
  ];

  for (const [what, make] of Object.entries(failing))
    test(`${what} fails the operation wherever it occurs, and nothing is written`, async () => {
      const { mutation, code, issue } = make(fixtures);
      const valid = [
        'a: createClub(input: { name: "Never" }) { id }',
        `b: updateClub(id: "${fixtures.clubId}", input: { name: "Never" }) { name }`,
      ];
      const state = await stored();
      for (const position of [0, 1, 2]) {
        const answer = await mutate(...valid.toSpliced(position, 0, `bad: ${mutation}`));
        assert.equal(answer.status, 200);
        assert.equal(answer.body.data, null);
        assert.equal(answer.body.extensions, undefined);
        expectError(answer, { code, path: ["bad"] });
        const [error, ...others] = answer.body.errors;
        assert.equal(error.extensions.details[0]?.issue, issue, answer.text);
        assert.deepEqual(
          others.map(({ path, extensions }: { path: string[]; extensions: object }) => [path, extensions]),
          ["a", "b"].map((name) => [[name], { code: "rolled_back", details: [] }]),
        );
        assert.match(others[0].message, /`bad` failed/);
        assert.deepEqual(await stored(), state);
      }
    });

  test("each mutation returns the row as it wrote it, and sees the earlier ones", async () => {
    const { id } = await server.create("/clubs", { name: "0" });
    const data = await dataOf(
      server,
      `mutation {
        __typename
        a: updateClub(id: "${id}", input: { name: "1" }) { name }
        b: createPass(input: { holder: "Ada", clubId: "${id}" }) { holder club { name } }
        c: updateClub(id: "${id}", input: { name: "2" }) { name }
        d: createPass(input: { holder: "Grace", clubId: "${id}" }) { club { name } }
        e: deleteClub(id: "${id}") { name }
      }`,
    );
    assert.deepEqual(data, {
      __typename: "Mutation",
      a: { name: "1" },
      b: { holder: "Ada", club: { name: "1" } },
      c: { name: "2" },
      d: { club: { name: "2" } },
      e: { name: "2" },
    });
    assert.equal((await server.request(`/clubs/${id}`)).status, 404);
  });

  test("a row that an earlier mutation deleted does not exist for a later one", async () => {
    const { id } = await server.create("/clubs", { name: "Twice" });
    for (const [later, code] of [
      [`deleteClub(id: "${id}") { id }`, "not_found"],
      [`createPass(input: { holder: "Ada", clubId: "${id}" }) { id }`, "validation_error"],
    ]) {
      expectError(await mutate(`a: deleteClub(id: "${id}") { id }`, `b: ${later}`), {
        code: code!,
        path: ["b"],
      });
      assert.equal((await server.request(`/clubs/${id}`)).status, 200);
    }
  });

  test("values that are returned once are those of all mutations, and of none if one fails", async () => {
    const pass = 'createPass(input: { holder: "Ada" }) { id }';
    const { body } = await mutate(`a: ${pass}`, `b: ${pass}`);
    assert.deepEqual(body.extensions.returnedOnce, { a: { pin: "1234" }, b: { pin: "1234" } });
    const failed = await mutate(`a: ${pass}`, `b: deleteClub(id: "${unknownId}") { id }`);
    assert.equal(failed.body.extensions, undefined);
    // Names that objects have already.
    for (const names of [["__proto__"], ["__proto__", "constructor"]]) {
      const { extensions } = (await mutate(...names.map((name) => `${name}: ${pass}`))).body;
      assert.deepEqual(
        Object.entries(extensions.returnedOnce),
        names.map((name) => [name, { pin: "1234" }]),
      );
    }
  });

  test("a generated value that is taken is generated again", async () => {
    const answer = await mutate(
      ...Array.from({ length: 10 }, (_, index) => `t${index}: createTicket { digit }`),
    );
    assert.equal(answer.body.errors, undefined, answer.text);
    const digits = Object.values<{ digit: string }>(answer.body.data).map(({ digit }) => digit);
    assert.deepEqual(digits.sort(), [..."0123456789"]);
  });

  test("a missing scope refuses the operation before anything runs", async () => {
    const words = ["key", "create", "--name", "Clubs", "--scopes", "clubs:write"];
    const { key } = await runCommand(server.workspace, words, { cwd });
    const state = await stored();
    const answer = await requestGraphql(
      server,
      'mutation { a: createClub(input: { name: "Never" }) { id } b: createPass(input: { holder: "x" }) { id } }',
      { key },
    );
    expectError(answer, { code: "insufficient_scope", path: ["b"] });
    assert.deepEqual(await stored(), state);
  });

  test("an operation has at most 100 mutations, and each costs a token", async () => {
    const words = ["key", "create", "--name", "Counted", "--scopes", "*", "--rate-limit", "1000/3600"];
    const { key } = await runCommand(server.workspace, words, { cwd });
    const remaining = ({ headers }: Answer): number =>
      Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
    const create = (count: number): Promise<Answer> => {
      const mutations = Array.from(
        { length: count },
        (_, index) => `c${index}: createClub(input: { name: "Many" }) { id }`,
      );
      return requestGraphql(server, `mutation { ${mutations.join(" ")} }`, { key });
    };
    const first = remaining(await create(1));
    const answer = await create(50);
    assert.equal(Object.keys(answer.body.data).length, 50);
    assert.equal(first - remaining(answer), 50);
    expectError(await create(101), {
      code: "validation_error",
      message: /101 mutations; the limit is 100/,
      details: [{ field: "mutations", issue: "max" }],
    });
  });

  test("a selection that may read many rows is refused, and nothing is written", async () => {
    const { id } = await server.create("/clubs", { name: "Wide" });
    const state = await stored();
    const mutation = `updateClub(id: "${id}", input: { name: "Never" }) { passes(first: 100) { club { passes(first: 100) { id } } } }`;
    expectError(await mutate(`a: createClub(input: { name: "Never" }) { id }`, `b: ${mutation}`), {
      code: "validation_error",
      message: /too many rows/,
      path: ["b"],
    });
    assert.deepEqual(await stored(), state);
    assert.equal((await mutate(mutation)).body.errors, undefined);
  });

  test("operations that write the same rows in opposite orders leave them as one operation wrote them", async () => {
    const ids = await Promise.all(
      ["x", "y"].map(async (name) => (await server.create("/clubs", { name })).id),
    );
    for (let round = 0; round < 4; round += 1) {
      const answers = await Promise.all(
        [ids, ids.toReversed()].map((ordered, index) =>
          mutate(
            ...ordered.map(
              (id, at) => `m${at}: updateClub(id: "${id}", input: { name: "${round}-${index}" }) { name }`,
            ),
          ),
        ),
      );
      for (const { body, text } of answers) assert.equal(body.errors, undefined, text);
      const names = await Promise.all(
        ids.map(async (id) => (await server.request(`/clubs/${id}`)).body.name),
      );
      assert.equal(names[0], names[1]);
    }
  });

  test("many operations that write the same rows in different orders all succeed", async () => {
    const ids = await Promise.all(
      ["p", "q", "r", "s"].map(async (name) => (await server.create("/clubs", { name })).id),
    );
    const orders = [ids, ids.toReversed(), [...ids.slice(2), ...ids.slice(0, 2)]];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        mutate(
          ...orders[index % orders.length]!.map(
            (id, at) => `m${at}: updateClub(id: "${id}", input: { name: "${index}" }) { name }`,
          ),
        ),
      ),
    );
    for (const { body, text } of answers) assert.equal(body.errors, undefined, text);
    const names = await Promise.all(ids.map(async (id) => (await server.request(`/clubs/${id}`)).body.name));
    assert.equal(new Set(names).size, 1, names.join());
  });

  // SQLite has no queue of operations: it writes them in the order in which they arrive.
  if (database === "postgres")
    test("a caller whose operations wait does not keep those of another caller waiting behind them", async () => {
      const otherWords = [
        "key",
        "create",
        "--name",
        "Other",
        "--scopes",
        "*",
        "--user",
        fixtures.otherUserId,
      ];
      const { key } = await runCommand(server.workspace, otherWords, { cwd });
      const { id } = await server.create("/clubs", { name: "Shared" });
      const mutations = (name: string): string => {
        const update = (at: number): string =>
          `u${at}: updateClub(id: "${id}", input: { name: "${name}" }) { id }`;
        return `mutation { ${Array.from({ length: 15 }, (_, at) => update(at)).join(" ")} }`;
      };
      let completed = 0;
      const many = Array.from({ length: 16 }, async () => {
        const answer = await requestGraphql(server, mutations("many"));
        assert.equal(answer.body.errors, undefined, answer.text);
        completed += 1;
      });
      while (completed === 0) await new Promise(setImmediate);
      const answer = await requestGraphql(server, mutations("other"), { key });
      assert.equal(answer.body.errors, undefined, answer.text);
      assert.ok(completed < 10, `${completed} of 16 operations of the first caller came first`);
      await Promise.all(many);
    });

  test("a subscription gets the events of all mutations in order, and none of an operation that failed", async () => {
    const stream = await TestStream.open(server.portico, "subscription { clubCreated { name } }");
    try {
      await subscriptionStarted();
      const create = (names: readonly string[]): string[] =>
        names.map((name) => `${name}: createClub(input: { name: "${name}" }) { id }`);
      await mutate(...create(["a", "b"]), `bad: deleteClub(id: "${unknownId}") { id }`);
      await mutate(...create(["c", "d", "e"]));
      const results = await stream.results(3);
      assert.deepEqual(
        results.map(({ data }) => data.clubCreated.name),
        ["c", "d", "e"],
      );
    } finally {
      stream.close();
    }
  });

  test("random operations do what a plain model does", () => matchModel(server));
});

/** The names of clubs by id. */
type Clubs = Map<string, string>;

async function matchModel(server: TestServer): Promise<void> {
  let model: Clubs = new Map();
  for (let run = 0; run < randomRuns(80, 40); run += 1) {
    const attempt: Clubs = new Map(model);
    const mutations: string[] = [];
    const created: [alias: string, name: string][] = [];
    const expected: Record<string, { name: string }> = {};
    let failed: string | undefined;
    for (let index = 0; index < 1 + Math.floor(Math.random() * 6); index += 1) {
      const alias = `m${index}`;
      const name = Math.random() < 0.1 ? "n".repeat(51) : `${run}-${index}`;
      const [id, current] = randomEntry(model) ?? [unknownId, ""];
      const kind = Math.random();
      if (kind < 0.4) {
        mutations.push(`${alias}: createClub(input: { name: "${name}" }) { name }`);
        if (name.length > 50) failed ??= alias;
        created.push([alias, name]);
        expected[alias] = { name };
      } else if (kind < 0.8) {
        mutations.push(`${alias}: updateClub(id: "${id}", input: { name: "${name}" }) { name }`);
        if (name.length > 50 || !attempt.has(id)) failed ??= alias;
        attempt.set(id, name);
        expected[alias] = { name };
      } else {
        mutations.push(`${alias}: deleteClub(id: "${id}") { name }`);
        if (!attempt.has(id)) failed ??= alias;
        expected[alias] = { name: attempt.get(id) ?? current };
        attempt.delete(id);
      }
    }
    // The ids of new rows are unknown until the operation has succeeded.
    const document = `mutation { ${mutations.join(" ").replaceAll("{ name }", "{ id name }")} }`;
    const { body, text } = await requestGraphql(server, document);
    if (failed !== undefined) {
      assert.equal(body.data, null, text);
      assert.deepEqual(body.errors[0].path, [failed], text);
      assert.equal(body.errors.length, mutations.length, text);
    } else {
      assert.equal(body.errors, undefined, text);
      for (const [alias, name] of created) attempt.set(body.data[alias].id, name);
      for (const [alias, row] of Object.entries(expected))
        assert.equal(body.data[alias].name, row.name, text);
      model = attempt;
    }
    for (const [id, name] of model)
      if (Math.random() < 0.2) assert.equal((await server.request(`/clubs/${id}`)).body.name, name);
  }
}

function randomEntry(clubs: Clubs): [id: string, name: string] | undefined {
  return [...clubs][Math.floor(Math.random() * clubs.size)];
}
