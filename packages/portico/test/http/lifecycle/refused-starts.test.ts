// Starts that are refused because of an invalid setting, database or project, each with one line that names it.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../support/free-port.ts";
import { type Environment, makeWorkspace, porticoProcess, whyNoPostgres } from "../../support/server.ts";
import { expectRefusal, expectRefusalOfProcess } from "./refused-start.ts";

const secret = "s".repeat(32);

test("the line names an invalid setting and its valid values", async () => {
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
    [{ REDIS_URL: "cache.example.com" }, /REDIS_URL must be redis:\/\//],
    [{ REDIS_URL: "https://cache.example.com" }, /REDIS_URL must be redis:\/\//],
    [{ REDIS_URL: "redis:" }, /REDIS_URL must be redis:\/\//],
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
    await expectRefusalOfProcess(workspace, ...wrong[0]!);
    for (const each of wrong) await refused(each);
  } finally {
    await workspace.remove();
  }
});

test("an error about the database URL does not show its password", async () => {
  const workspace = { databaseUrl: `postgres://user:hidden-word@127.0.0.1:${await freePort()}/x` };
  const { stderr } = await porticoProcess(workspace, ["serve"]);
  assert.doesNotMatch(stderr, /hidden-word/);
});

test("a database that rejects the credentials is named", {
  skip: whyNoPostgres(),
}, async () => {
  const server = new URL(process.env.PORTICO_TEST_POSTGRES!);
  server.password = "wrong";
  server.pathname = "/postgres";
  const workspace = await makeWorkspace("sqlite");
  await expectRefusalOfProcess(workspace, { DATABASE_URL: server.href }, /cannot be reached.*password/);
  server.password = "portico";
  server.pathname = "/no_such_database";
  await expectRefusal(workspace, { DATABASE_URL: server.href }, /no_such_database/);
  await workspace.remove();
});

test("a file that is not a database is refused and left unchanged", async () => {
  const workspace = await makeWorkspace("sqlite");
  const file = join(workspace.folder, "notes.txt");
  await writeFile(file, "These are notes, not a database. ".repeat(100));
  await expectRefusal(workspace, { DATABASE_URL: `file:${file}` }, /notes\.txt/);
  await workspace.remove();
});

test("a folder without portico.config.ts, or with an invalid one, is refused", async () => {
  const workspace = await makeWorkspace("sqlite");
  const refuseProject = async (config: string | undefined, line: RegExp): Promise<void> => {
    const folder = await mkdtemp(join(tmpdir(), "portico-config-"));
    try {
      if (config !== undefined) await writeFile(join(folder, "portico.config.ts"), config);
      await expectRefusal(workspace, {}, line, folder);
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  try {
    await refuseProject(undefined, /there is no portico\.config\.ts in .*portico-config/);
    for (const [text, line] of [
      ["export const app = 1;", /default export of portico\.config\.ts is not an app/],
      ["export default null;", /default export of portico\.config\.ts is not an app/],
      ["export default {", /portico\.config\.ts/],
      ["import './nowhere.ts'; export default {};", /portico\.config\.ts.*nowhere/],
      ["throw new Error('on purpose');", /portico\.config\.ts.*on purpose/],
      [
        "export default { name: 'x', version: 'v1', settings: {}, resources: [{}] };",
        /portico\.config\.ts|resource/,
      ],
    ] as const)
      await refuseProject(text, line);
  } finally {
    await workspace.remove();
  }
});
