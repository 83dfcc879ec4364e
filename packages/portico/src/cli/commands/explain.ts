// portico explain

import { systemCaller } from "../../auth/system-caller.ts";
import { findTenant } from "../../auth/tenants/tenant.ts";
import type { Caller } from "../../declare/caller.ts";
import { Engine } from "../../engine/engine.ts";
import { PolicyError } from "../../engine/policy.ts";
import { OperatorError } from "../../errors.ts";
import type { RouteModel } from "../../model/route.ts";
import { CursorCodec } from "../../query/cursor.ts";
import { assemble } from "../../runtime/compose.ts";
import { existingSecrets } from "../../runtime/secrets.ts";
import { type ExplainedStatement, explainRead } from "../../store/explain/explained-read.ts";
import { type ExplainingStore, openForPlans } from "../../store/explain/open.ts";
import { isList } from "../../store/explain/recorded-reads.ts";
import type { Store } from "../../store/store.ts";
import type { Arguments, Command, CommandOutput } from "../command.ts";
import {
  accessLines,
  callerNamed,
  type ExplainedAccess,
  explainAccess,
  policyLines,
} from "../explained-access.ts";
import { refusalOfRoute, routeAt, routeLine } from "../explained-route.ts";
import { writeOf } from "../explained-write.ts";
import { RefusedRequest, requestGraphql, requestRest } from "../recorded-request.ts";
import { tenantOption } from "../tenant-work.ts";

const explain: Command = {
  name: "explain",
  summary:
    "Show the SQL statements of a GET and their plans; with --as, what refuses a request or hides a row.",
  options: {
    graphql: { help: "PATH is a GraphQL query: '{ posts { title } }'" },
    analyze: { help: "run the statements, so that the plans have times" },
    as: {
      value: "WHO",
      help: "the id or address of a user, the id of an API key, or anonymous (default: the server itself)",
    },
    method: { value: "METHOD", help: "with --as: POST, PUT, PATCH or DELETE (default: GET)" },
    tenant: tenantOption,
  },
  positionals: ["PATH"],
  async run(args) {
    const assembly = await assemble(args.project);
    const { model, settings } = assembly;
    const [request = ""] = args.positionals;
    const opened = await openForPlans(settings.databaseUrl, { slowReadMs: 1000 * settings.slowReadSeconds });
    const { store, database, recorder } = opened;
    try {
      const secrets = existingSecrets(settings);
      const engine = new Engine(model, store, secrets && new CursorCodec(secrets));
      const tenant = await findTenant(store, args.text("tenant"));
      const who = args.text("as");
      const method = args.text("method")?.toUpperCase() ?? "GET";
      if (who === undefined && method !== "GET") throw new OperatorError("--method needs --as");
      const caller =
        who === undefined
          ? systemCaller(model, tenant.id)
          : await callerNamed(store, model, settings, tenant.id, who);
      const route = args.isSet("graphql") ? undefined : routeAt(model, method, request);
      if (route) return explainRoute(store, route, { request, caller, isNamed: who !== undefined });
      let refusal: RefusedRequest | undefined;
      const write = method === "GET" ? undefined : writeOf(model, method, request);
      if (!write) {
        try {
          if (args.isSet("graphql")) await requestGraphql(engine, settings, caller, request);
          else await requestRest(engine, caller, request);
        } catch (error) {
          // Without --as nothing is refused but an invalid request.
          if (who === undefined || !(error instanceof RefusedRequest) || !error.isAboutCaller) throw error;
          refusal = error;
        }
        if (recorder.reads.length === 0 && !refusal)
          throw new OperatorError("the request reads no rows; name a list or a row, such as /v1/posts");
      }
      const statements = refusal ? [] : await statementsOf(opened, args);
      if (who === undefined) return { json: { request, statements }, lines: statementLinesOf(statements) };
      const reads = recorder.reads.map(({ input }) => input.read);
      const access: ExplainedAccess = await explainAccess(store, caller, { reads, write, refusal });
      return {
        json: { request, ...access, statements },
        lines: [
          ...accessLines(access),
          ...policyLines(access),
          ...(statements.length > 0 ? [""] : []),
          ...statementLinesOf(statements),
        ],
      };
    } catch (error) {
      throw error instanceof PolicyError ? new OperatorError(error.message, { cause: error }) : error;
    } finally {
      await database.close();
    }
  },
};

/** @param options.isNamed whether `--as` names the caller */
async function explainRoute(
  store: Store,
  route: RouteModel,
  options: { readonly request: string; readonly caller: Caller; readonly isNamed: boolean },
): Promise<CommandOutput> {
  const { request, caller, isNamed } = options;
  const described = { name: route.name, scope: route.scope, isPublic: route.isPublic };
  const statements: readonly ExplainedStatement[] = [];
  if (!isNamed) return { json: { request, route: described, statements }, lines: [routeLine(route)] };
  const refusal = refusalOfRoute(route, caller);
  const access = await explainAccess(store, caller, { reads: [], write: undefined, refusal });
  return {
    json: { request, route: described, ...access, statements },
    lines: [routeLine(route), ...accessLines(access)],
  };
}

async function statementsOf(
  { database, recorder }: ExplainingStore,
  args: Arguments,
): Promise<readonly ExplainedStatement[]> {
  const statements: ExplainedStatement[] = [];
  for (const [index, read] of recorder.reads.entries()) {
    const previous = recorder.reads[index - 1]?.input.read;
    const follows = !args.isSet("graphql") && previous !== undefined && isList(previous);
    let when = follows ? "the page has no rows" : null;
    if (read.input.read === previous) when = "the statement before finds too few rows";
    statements.push(...(await explainRead(database, read, when, args.isSet("analyze"))));
  }
  return statements;
}

function statementLinesOf(statements: readonly ExplainedStatement[]): string[] {
  return statements.flatMap(statementLines);
}

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
