import { equal, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createServer, type Server } from "portico";
import { type Client, createClient } from "portico/client";
import app from "../portico.config.ts";

const folder = mkdtempSync(join(tmpdir(), "tracker-"));
let server: Server;
/** Has a key with every scope. */
let owner: Client<typeof app>;
/** Has no credential. */
let visitor: Client<typeof app>;

before(async () => {
  server = await createServer(app, { databaseUrl: `file:${join(folder, "test.db")}` });
  await server.start();
  owner = clientWith(server.sandboxKey);
  visitor = clientWith();
});

after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Its requests need no port. */
function clientWith(credential?: string): Client<typeof app> {
  const { url: baseUrl } = server;
  return createClient<typeof app>({ baseUrl, credential, fetch: (input, init) => server.fetch(input, init) });
}

test("a project counts its open issues", async () => {
  const project = await owner.projects.create({ name: "Difference Engine" });
  await owner.projects(project.id).issues.create({ title: "Cast the wheels" });
  equal((await owner.projects.get(project.id)).openIssues, 1);
});

test("only public projects are read without a credential", async () => {
  const hidden = await owner.projects.create({ name: "Analytical Engine" });
  const shown = await owner.projects.create({ name: "Loom", isPublic: true });
  await rejects(visitor.projects.get(hidden.id), { code: "not_found" });
  equal((await visitor.projects.get(shown.id)).name, "Loom");
});

test("an issue cannot belong to a milestone of another project", async () => {
  const one = await owner.projects.create({ name: "One" });
  const other = await owner.projects.create({ name: "Other" });
  const milestone = await owner.projects(other.id).milestones.create({ name: "First wheels" });
  await rejects(
    owner.projects(one.id).issues.create({ title: "Print the tables", milestoneId: milestone.id }),
    { code: "validation_error", details: [{ field: "milestoneId", issue: "reference" }] },
  );
});
