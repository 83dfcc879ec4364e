// Opens the reference executor on the database of a running server.

import type { Caller } from "../../src/declare/caller.ts";
import { Engine } from "../../src/engine/engine.ts";
import { Problem } from "../../src/errors.ts";
import { EventLog } from "../../src/event-log/event-log.ts";
import { EventReader } from "../../src/events/event-reader.ts";
import { StoredNames } from "../../src/events/stored-names.ts";
import { standardLimits } from "../../src/graphql/document/graphql-limits.ts";
import type { GraphqlRequest } from "../../src/graphql/document/request.ts";
import { areFailures, Executor } from "../../src/graphql/execute/executor.ts";
import { failureOf, failureOfField } from "../../src/graphql/execute/failure.ts";
import { buildApi } from "../../src/graphql/schema/schema.ts";
import { CursorCodec } from "../../src/query/cursor.ts";
import { PositionCursors } from "../../src/query/position-cursors.ts";
import { assemble } from "../../src/runtime/compose.ts";
import { openStore } from "../../src/store/open.ts";
import { VisibleEvents } from "../../src/subscriptions/visible-events.ts";
import { firstTenant } from "../support/keys.ts";
import type { Answer, Workspace } from "../support/server.ts";
import { executeByReference } from "./reference-executor.ts";

const secret = "the server and the reference sign cursors with this";

/** Settings of the server: both must sign cursors alike. */
export const referenceSettings = { PORTICO_SECRET: secret };

export interface Reference {
  execute(query: string, variables?: Readonly<Record<string, unknown>>): Promise<Answer["body"]>;
  close(): Promise<void>;
}

/**
 * @param folder contains the `portico.config.ts` of the server
 * @param userId the user of the caller, which has all scopes
 */
export async function openReference(
  workspace: Workspace,
  folder: string,
  userId: string,
): Promise<Reference> {
  const { model } = await assemble({ folder, environment: {} });
  const store = await openStore(workspace.databaseUrl);
  const [api, engine] = [buildApi(model), new Engine(model, store, new CursorCodec([secret]))];
  const names = new StoredNames(model.resources);
  const visible = new VisibleEvents(engine, { skip: () => {} });
  const cursors = new PositionCursors([secret], "events");
  const eventLog = new EventLog(new EventReader(store, names), visible, cursors);
  const caller: Caller = {
    tenantId: await firstTenant(workspace),
    kind: "key",
    userId,
    role: "owner",
    credentialId: "reference",
    // As the first key of a sandbox, and as tests start servers.
    scopes: new Set([...model.scopes, "*"]),
    quota: { limit: 10_000_000, windowSeconds: 60 },
  };
  const executor = new Executor({
    api,
    engine,
    eventLog,
    limits: standardLimits,
    takeTokens: async () => {},
    chargeResponse: async () => {},
    fileUrl: (id) => id,
  });

  function prepare(request: GraphqlRequest) {
    try {
      return executor.prepare(request, caller, false);
    } catch (error) {
      if (error instanceof Problem) return [failureOf(error)];
      throw error;
    }
  }

  async function execute(query: string, variables: Readonly<Record<string, unknown>> = {}) {
    const request = { query, variables, operationName: undefined, extensions: {}, isLong: false };
    const prepared = prepare(request);
    if (areFailures(prepared)) return { errors: prepared.map(({ formatted }) => formatted) };
    const { parsed, compiled } = prepared;
    const context = { api, engine, eventLog, caller };
    const { data, errors } = await executeByReference(parsed, compiled.operation, variables, context);
    return { data, errors: errors?.map((error) => failureOfField(error, {}).formatted) };
  }

  return { execute, close: () => store.database.close() };
}
