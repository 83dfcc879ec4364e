// Starting and stopping: what is wrong stops the start with one line; SIGTERM finishes what is under way.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../support/free-port.ts";
import { exchange, parseAnswer, runCommand } from "../../support/scenario.ts";
import {
  type DatabaseName,
  type Environment,
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  porticoProcess,
  portico as run,
  type Workspace,
} from "../../support/server.ts";

const secret = "s".repeat(32);

/** Starts the server, which must refuse: one line on standard error that says why, nothing else, exit 1. */
async function expectRefusal(
  workspace: Workspace,
  env: Environment,
  line: RegExp,
  cwd?: string,
): Promise<void> {
  const { code, stdout, stderr } = await porticoProcess(workspace, ["serve"], {
    env: { PORT: "0", ...env },
    ...(cwd !== undefined && { cwd }),
  });
  assert.match(stderr, /^portico: [^\n]+\n$/);
  assert.match(stderr, line);
  assert.equal(stdout, "");
  assert.equal(code, 1);
}

function placed(database: DatabaseName): () => Workspace {
  let workspace: Workspace;
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(() => workspace?.remove());
  return () => workspace;
}

onEachDatabase("starting", (database) => {
  const workspace = placed(database);

  test("a port that is taken is named", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    try {
      const { port } = taken.address() as { port: number };
      await expectRefusal(workspace(), { PORT: String(port) }, new RegExp(`port ${port} .*taken.*PORT`));
    } finally {
      taken.close();
    }
  });

  test("a start that failed has not used up the first key: the next one shows it", async () => {
    const served = await PorticoProcess.start(workspace());
    assert.match(served.key, /^sk_test_/);
    await served.stop();
  });

  test("of two first starts on one database one makes the tenant and the key", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const servers = await Promise.all([PorticoProcess.start(fresh), PorticoProcess.start(fresh)]);
      // Whoever comes second may have asked for the tenant before it was there.
      await Promise.all(servers.map((server) => server.stop()));
      const keys = servers.map(({ output }) => /sk_test_[\w-]{43}\n/.exec(output)).filter(Boolean);
      assert.equal(keys.length, 1);
      const { keys: listed } = await runCommand(fresh, ["key", "list"]);
      assert.equal(listed.length, 1);
    } finally {
      await fresh.remove();
    }
  });

  test("live mode without a secret is refused", async () => {
    await expectRefusal(workspace(), { PORTICO_MODE: "live" }, /PORTICO_SECRET is missing/);
  });

  test("live mode migrates nothing by itself, and says what to run", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const live = { PORTICO_MODE: "live", PORTICO_SECRET: secret };
      await expectRefusal(fresh, live, /portico migrate --dry-run.*portico migrate/);
      const early = await run(fresh, ["key", "list"], { env: live });
      assert.equal(early.code, 1);
      assert.match(
        early.stderr,
        /^portico: the database lacks what [^\n]*tenants[^\n]*; run portico migrate\n$/,
      );
      await runCommand(fresh, ["migrate"], { env: live });
      const served = await PorticoProcess.start(fresh, { env: live });
      try {
        // In live mode nothing is made: no tenant, no key.
        const { code, stderr } = await run(fresh, ["key", "list"], { env: live });
        assert.deepEqual([code, stderr.includes("there is no tenant yet")], [1, true]);
        assert.doesNotMatch(served.output, /sk_/);
        const { tenant } = await runCommand(fresh, ["tenant", "create", "--name", "First"], { env: live });
        const words = ["key", "create", "--name", "K", "--scopes", "posts:read", "--tenant", tenant.id];
        const { key } = await runCommand(fresh, words, { env: live });
        assert.match(key, /^sk_live_/);
        assert.equal((await served.request("/posts", { key })).status, 200);
        const sandboxKey = `sk_test_${key.slice(8)}`;
        const refused = await served.request("/posts", { key: sandboxKey });
        assert.equal(refused.status, 401);
        assert.equal(refused.body.error.code, "wrong_environment");
        assert.match(refused.body.error.message, /live/);
      } finally {
        await served.stop();
      }
    } finally {
      await fresh.remove();
    }
  });

  test("a second start keeps the rows and shows no key again", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const first = await PorticoProcess.start(fresh);
      const { body } = await first.request("/posts", { body: { title: "Kept" } });
      assert.equal(await first.stop(), 0);
      const second = await PorticoProcess.start(fresh, { key: first.key });
      assert.equal((await second.request(`/posts/${body.id}`)).status, 200);
      assert.doesNotMatch(second.output, /sk_test_/);
      assert.equal(await second.stop(), 0);
    } finally {
      await fresh.remove();
    }
  });

  test("two processes that start at once on an empty database both serve it", async () => {
    const fresh = await makeWorkspace(database);
    try {
      const both = await Promise.all([PorticoProcess.start(fresh), PorticoProcess.start(fresh)]);
      const key = both.map((each) => each.key).find((each) => each !== "")!;
      for (const each of both) assert.equal((await each.request("/posts", { key })).status, 200);
      for (const each of both) assert.equal(await each.stop(), 0);
      const { keys } = await runCommand(fresh, ["key", "list"]);
      assert.equal(keys.length, 1);
    } finally {
      await fresh.remove();
    }
  });

  test("links and Location carry the folder of PUBLIC_URL", async () => {
    const fresh = await makeWorkspace(database);
    const served = await PorticoProcess.start(fresh, { env: { PUBLIC_URL: "https://example.com/api/" } });
    try {
      const created = await served.request("/posts", { body: { title: "Below" } });
      assert.equal(created.headers.get("location"), `/api/posts/${created.body.id}`);
      const listed = await served.request("/posts?limit=1");
      assert.match(listed.headers.get("link") ?? "", /^<\/api\/posts\?limit=1&cursor=/);
    } finally {
      await served.stop();
      await fresh.remove();
    }
  });
});

onEachDatabase("stopping", (database) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal} finishes the requests under way, keeps what they wrote, and exits with 0`, async () => {
      const fresh = await makeWorkspace(database);
      const served = await PorticoProcess.start(fresh);
      const { key } = served;
      const created = Array.from({ length: 50 }, (_, number) =>
        served.request("/posts", { body: { title: `Post ${number}` } }).then(
          ({ status, body }) => ({ status, id: body.id as string }),
          // Refused before it was accepted: the server had stopped listening.
          () => undefined,
        ),
      );
      await Promise.race(created);
      const stopped = served.stop(signal);
      const answers = await Promise.all(created);
      assert.equal(await stopped, 0);
      const acknowledged = answers.filter((answer) => answer !== undefined);
      assert.ok(acknowledged.length > 0);
      assert.ok(acknowledged.every(({ status }) => status === 201));

      const again = await PorticoProcess.start(fresh, { key });
      try {
        for (const { id } of acknowledged) assert.equal((await again.request(`/posts/${id}`)).status, 200);
      } finally {
        await again.stop();
        await fresh.remove();
      }
    });
  }

  test("a second signal ends the process at once", async () => {
    const fresh = await makeWorkspace(database);
    const served = await PorticoProcess.start(fresh);
    const { hostname, port } = new URL(served.url);
    const socket = connect({ host: hostname, port: Number(port) });
    // Half a request keeps the process waiting.
    socket.on("error", () => {}).write("GET /posts HTTP/1.1\r\nHost: ");
    await sleep(100);
    const stopped = served.stop("SIGINT");
    await sleep(300);
    process.kill(served.pid, "SIGTERM");
    const began = Date.now();
    assert.equal(await stopped, null);
    assert.ok(Date.now() - began < 1_000);
    await fresh.remove();
  });

  test("a request whose body is still coming when SIGTERM arrives is finished", async () => {
    const fresh = await makeWorkspace(database);
    const served = await PorticoProcess.start(fresh);
    const { hostname, port } = new URL(served.url);
    const body = JSON.stringify({ title: "Slow but whole" });
    const socket = connect({ host: hostname, port: Number(port) });
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk) => (received += chunk));
    socket.write(
      `POST /posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${served.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    await sleep(100);
    const stopped = served.stop();
    await sleep(100);
    const answered = Date.now();
    socket.write(body.slice(5));
    await once(socket, "close");
    assert.match(received, /^HTTP\/1\.1 201 /);
    assert.equal(await stopped, 0);
    assert.ok(Date.now() - answered < 3_000, "the connection is closed once it is answered");
    assert.match(served.output, /stopping/);
    await fresh.remove();
  });

  test("nobody is let in after SIGTERM, and idle connections do not hold the process up", async () => {
    const fresh = await makeWorkspace(database);
    const served = await PorticoProcess.start(fresh);
    const { hostname, port } = new URL(served.url);
    const idle = connect({ host: hostname, port: Number(port) });
    await once(idle, "connect");
    const began = Date.now();
    assert.equal(await served.stop(), 0);
    assert.ok(Date.now() - began < 3_000, `it took ${Date.now() - began} ms`);
    await assert.rejects(fetch(`${served.url}/healthz`));
    assert.match(served.output, /"msg":"stopped"/);
    await fresh.remove();
  });
});

// No database has a part in this, and it takes as long as the caller is given.
test("a caller who never ends its headers is sent away with 408, and others are served meanwhile", async () => {
  const workspace = await makeWorkspace("sqlite");
  const served = await PorticoProcess.start(workspace);
  try {
    const began = Date.now();
    // The time allowed for headers is 10 s, looked at every 2 s.
    const slow = Promise.all(
      Array.from({ length: 20 }, () => exchange(served.url, "GET /posts HTTP/1.1\r\nX-Slow: ", 15_000)),
    );
    while (Date.now() - began < 1_000) assert.equal((await served.request("/healthz")).status, 200);
    for (const received of await slow) {
      const answer = parseAnswer(received);
      assert.equal(answer.status, 408);
      assert.equal(answer.body.error.code, "request_timeout");
    }
  } finally {
    await served.stop();
    await workspace.remove();
  }
});

test("a setting that is wrong is named with what it may be", async () => {
  const workspace = await makeWorkspace("sqlite");
  const wrong: readonly (readonly [Environment, RegExp])[] = [
    [{ PORT: "http" }, /PORT is 'http'/],
    [{ PORT: "70000" }, /PORT is '70000'/],
    [{ PORT: "-1" }, /PORT is '-1'/],
    [{ HOST: "999.1.1.1" }, /HOST is '999\.1\.1\.1'/],
    [{ PORTICO_MODE: "production" }, /PORTICO_MODE is 'production'.*sandbox, live/],
    [{ PUBLIC_URL: "example.com" }, /PUBLIC_URL is 'example\.com'/],
    [{ PUBLIC_URL: "ftp://example.com" }, /PUBLIC_URL/],
    [{ PUBLIC_URL: "https://example.com/?x=1" }, /PUBLIC_URL/],
    [{ SMTP_URL: "localhost:25" }, /SMTP_URL.*smtp:\/\//],
    [{ SMTP_URL: "http://localhost" }, /SMTP_URL.*smtps:\/\//],
    [{ SMTP_URL: "smtp:" }, /SMTP_URL.*smtp:\/\//],
    [{ MAIL_FROM: "Portico" }, /MAIL_FROM is 'Portico'.*<name@example.com>/],
    [{ MAIL_FROM: "Portico <a@b.c>, <d@e.f>" }, /MAIL_FROM/],
    [{ PORTICO_MAIL_DAYS: "0" }, /PORTICO_MAIL_DAYS is '0'.*days/],
    [{ AUTH_URL: "auth.example.com" }, /AUTH_URL is 'auth\.example\.com'/],
    [{ AUTH_URL: "https://example.com/#x" }, /AUTH_URL/],
    [{ PORTICO_CORS_ORIGINS: "app.example.com" }, /PORTICO_CORS_ORIGINS has 'app\.example\.com'.*https:/],
    [{ PORTICO_CORS_ORIGINS: "https://app.example.com/" }, /PORTICO_CORS_ORIGINS has/],
    [{ PORTICO_CORS_ORIGINS: "https://a.example.com,*" }, /PORTICO_CORS_ORIGINS has '\*'.*alone/],
    [{ PORTICO_SECRET: "short" }, /PORTICO_SECRET.*32/],
    [{ PORTICO_SECRET: `${secret},short` }, /PORTICO_SECRET.*32/],
    [{ PORTICO_SECRET: [secret, secret, secret].join() }, /PORTICO_SECRET.*two/],
    [{ LOG_LEVEL: "loud" }, /LOG_LEVEL is 'loud'/],
    [{ PORTICO_USAGE_DAYS: "0" }, /PORTICO_USAGE_DAYS is '0'.*from 1 to 9999/],
    [{ PORTICO_REQUEST_LOG_DAYS: "week" }, /PORTICO_REQUEST_LOG_DAYS is 'week'.*from 0 to 9999/],
    [{ PORTICO_TIMING: "yes" }, /PORTICO_TIMING is 'yes'/],
    [{ PORTICO_KEY_QUOTA: "1000" }, /PORTICO_KEY_QUOTA is '1000'.*1000\/60/],
    [
      { PORTICO_TRUSTED_PROXIES: "10.0.0.1, proxy" },
      /PORTICO_TRUSTED_PROXIES has 'proxy'.*192\.168\.0\.0\/16/,
    ],
    [{ PORTICO_TRUSTED_PROXIES: "10.0.0.0/33" }, /PORTICO_TRUSTED_PROXIES has '10\.0\.0\.0\/33'/],
    [{ PORTICO_FAILED_AUTH_QUOTA: "0/60" }, /PORTICO_FAILED_AUTH_QUOTA is '0\/60'/],
    [{ DATABASE_URL: "mysql://localhost/x" }, /DATABASE_URL.*file:PATH or postgres:/],
    [{ DATABASE_URL: "portico.db" }, /DATABASE_URL/],
    [{ DATABASE_URL: "file:" }, /DATABASE_URL/],
    [{ DATABASE_URL: "file:/dev/null/portico.db" }, /\/dev\/null\/portico\.db cannot be opened/],
    [{ DATABASE_URL: "file:/proc/none/portico.db" }, /\/proc\/none\/portico\.db cannot be opened/],
    [{ DATABASE_URL: `file:${workspace.folder}` }, /cannot be opened/],
    [{ DATABASE_URL: "postgres://[/x" }, /DATABASE_URL/],
    [{ DATABASE_URL: "postgres://u:hidden@127.0.0.1:PORT/x" }, /127\.0\.0\.1:\d+\/x cannot be reached/],
    [{ DATABASE_URL: "postgres://u:hidden@no-such-host.invalid/x" }, /no-such-host\.invalid/],
  ];
  try {
    const port = String(await freePort());
    const refused = ([env, line]: (typeof wrong)[number]): Promise<void> => {
      const filled = Object.entries(env).map(([name, value]) => [name, value.replace("PORT", port)]);
      return expectRefusal(workspace, Object.fromEntries(filled), line);
    };
    // A machine with two cores starts no more at once in the time that each has.
    for (let next = 0; next < wrong.length; next += 4)
      await Promise.all(wrong.slice(next, next + 4).map(refused));
  } finally {
    await workspace.remove();
  }
});

test("an error of the database's address does not show its password", async () => {
  const workspace = { databaseUrl: `postgres://user:hidden-word@127.0.0.1:${await freePort()}/x` };
  const { stderr } = await porticoProcess(workspace, ["serve"]);
  assert.doesNotMatch(stderr, /hidden-word/);
});

test("a database that is there but lets nobody in is named", {
  skip: !process.env.PORTICO_TEST_POSTGRES,
}, async () => {
  const server = new URL(process.env.PORTICO_TEST_POSTGRES!);
  server.password = "wrong";
  server.pathname = "/postgres";
  const workspace = await makeWorkspace("sqlite");
  await expectRefusal(workspace, { DATABASE_URL: server.href }, /cannot be reached.*password/);
  server.password = "portico";
  server.pathname = "/no_such_database";
  await expectRefusal(workspace, { DATABASE_URL: server.href }, /no_such_database/);
  await workspace.remove();
});

test("a file that is no database is refused and left alone", async () => {
  const workspace = await makeWorkspace("sqlite");
  const file = join(workspace.folder, "notes.txt");
  await writeFile(file, "These are notes, not a database. ".repeat(100));
  await expectRefusal(workspace, { DATABASE_URL: `file:${file}` }, /notes\.txt/);
  await workspace.remove();
});

test("a folder without portico.config.ts, or with a wrong one, is refused", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portico-config-"));
  const workspace = await makeWorkspace("sqlite");
  const config = join(folder, "portico.config.ts");
  try {
    await expectRefusal(workspace, {}, /there is no portico\.config\.ts in .*portico-config/, folder);
    for (const [text, line] of [
      ["export const app = 1;", /default export of portico\.config\.ts is no app/],
      ["export default null;", /default export of portico\.config\.ts is no app/],
      ["export default {", /portico\.config\.ts/],
      ["import './nowhere.ts'; export default {};", /portico\.config\.ts.*nowhere/],
      ["throw new Error('on purpose');", /portico\.config\.ts.*on purpose/],
      [
        "export default { name: 'x', version: 'v1', settings: {}, resources: [{}] };",
        /portico\.config\.ts|resource/,
      ],
    ] as const) {
      await writeFile(config, text);
      await expectRefusal(workspace, {}, line, folder);
    }
  } finally {
    await rm(folder, { recursive: true });
    await workspace.remove();
  }
});
