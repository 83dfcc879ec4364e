// portico explain

import { systemCaller } from "../../auth/system-caller.ts";
import { findTenant } from "../../auth/tenants/tenant.ts";
import { Engine } from "../../engine/engine.ts";
import { OperatorError } from "../../errors.ts";
import { CursorCodec } from "../../query/cursor.ts";
import { assemble } from "../../runtime/compose.ts";
import { existingSecrets } from "../../runtime/secrets.ts";
import { type ExplainedStatement, explainRead } from "../../store/explain/explained-read.ts";
import { openForPlans } from "../../store/explain/open.ts";
import { isList } from "../../store/explain/recorded-reads.ts";
import type { Command } from "../command.ts";
import { requestGraphql, requestRest } from "../recorded-request.ts";
import { tenantOption } from "../tenant-work.ts";

const explain: Command = {
  name: "explain",
  summary: "Show the SQL statements of a GET, their plans, and the index that is missing, if one is.",
  options: {
    graphql: { help: "PATH is a GraphQL query: '{ posts { title } }'" },
    analyze: { help: "run the statements, so that the plans have times" },
    tenant: tenantOption,
  },
  positionals: ["PATH"],
  async run(args) {
    const { model, settings } = await assemble(args.project);
    const [request = ""] = args.positionals;
    const { store, database, recorder } = await openForPlans(settings.databaseUrl, {
      slowReadMs: 1000 * settings.slowReadSeconds,
    });
    try {
      const secrets = existingSecrets(settings);
      const engine = new Engine(model, store, secrets && new CursorCodec(secrets));
      const tenant = await findTenant(store, args.text("tenant"));
      const caller = systemCaller(model, tenant.id);
      if (args.isSet("graphql")) await requestGraphql(engine, settings, caller, request);
      else await requestRest(engine, caller, request);
      if (recorder.reads.length === 0) throw new OperatorError("the request reads no rows");
      const statements: ExplainedStatement[] = [];
      for (const [index, read] of recorder.reads.entries()) {
        const previous = recorder.reads[index - 1]?.input.read;
        const follows = !args.isSet("graphql") && previous !== undefined && isList(previous);
        let when = follows ? "the page has no rows" : null;
        if (read.input.read === previous) when = "the statement before finds too few rows";
        statements.push(...(await explainRead(database, read, when, args.isSet("analyze"))));
      }
      return { json: { request, statements }, lines: statements.flatMap(statementLines) };
    } finally {
      await database.close();
    }
  },
};

function statementLines(statement: ExplainedStatement, index: number): string[] {
  const { resource, when, speed, reason, indexes, declare, sql, parameters, plan } = statement;
  return [
    ...(index > 0 ? [""] : []),
    `${index + 1}. ${resource}, ${speed} read${when === null ? "" : `, if ${when}`}`,
    ...(reason === null ? [] : [`   Slow, because ${reason}.`]),
    ...(declare === null
      ? []
      : [`   To make it a quick read, declare ${declarationOf(declare)} in ${resource}.`]),
    `   Indexes: ${indexes.length > 0 ? indexes.join(", ") : "none"}`,
    `   Parameters: ${parameters.map((meaning, position) => `${position + 1} ${meaning}`).join(", ")}`,
    "",
    ...sql.split("\n").map((line) => `   ${line.trim()}`),
    "",
    ...plan.map((line) => `   ${line}`),
  ];
}

/** As it is written in a declaration. */
function declarationOf(fields: readonly string[]): string {
  return `indexes: [[${fields.map((name) => JSON.stringify(name)).join(", ")}]]`;
}

export const commands: readonly Command[] = [explain];
