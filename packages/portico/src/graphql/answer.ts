// From the parameters of a request to the text of its answer. Each stage is one line.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { Problem } from "../errors.ts";
import type { CursorCodec } from "../plan/cursor.ts";
import { type Failure, failureOf } from "./failure.ts";
import { type GraphqlLimits, requireWithin } from "./limits.ts";
import { DocumentParser, type ParsedDocument } from "./parsed-document.ts";
import { PersistedDocuments } from "./persisted-documents.ts";
import { type Compiled, prepare } from "./prepare.ts";
import type { GraphqlRequest } from "./request.ts";
import { type Outcome, run } from "./run.ts";
import type { Api } from "./schema.ts";
import { missingScopes } from "./scopes.ts";

export interface GraphqlAnswer {
  readonly text: string;
  /** Whether the operation ran at all; without `data` the status tells why. */
  readonly hasData: boolean;
  readonly failures: readonly Failure[];
  /** Rows that the operation could have answered with; 0 where it was refused before that was known. */
  readonly cost: number;
}

export interface AnswererParts {
  readonly api: Api;
  readonly engine: Engine;
  readonly cursors: CursorCodec;
  readonly limits: GraphqlLimits;
}

export class Answerer {
  readonly #parts: AnswererParts;
  readonly #documents: DocumentParser;
  readonly #persisted = new PersistedDocuments();

  constructor(parts: AnswererParts) {
    this.#parts = parts;
    this.#documents = new DocumentParser(parts.api.schema, parts.limits);
  }

  /** @param isReadOnly whether the method of the request forbids mutations */
  async answer(request: GraphqlRequest, caller: Caller, isReadOnly: boolean): Promise<GraphqlAnswer> {
    const { api, limits } = this.#parts;
    const parsed = this.#documents.parse(this.#persisted.textOf(request));
    if (isFailed(parsed)) return refused(parsed);
    const operation = operationOf(parsed, request.operationName);
    if (isReadOnly && operation.operation !== "query") throw mutationByGet();
    const prepared = prepare(api, parsed, operation, request.variables);
    if (isFailed(prepared)) return refused(prepared);
    requireWithin("cost", prepared.cost, limits);
    const missing = missingScopes(caller, prepared.scopes);
    if (missing.length > 0) return refused(missing.map(({ problem, path }) => failureOf(problem, { path })));
    return this.#run(parsed, prepared, request, caller);
  }

  async #run(
    parsed: ParsedDocument,
    prepared: Compiled,
    { variables, extensions }: GraphqlRequest,
    caller: Caller,
  ): Promise<GraphqlAnswer> {
    const { api, engine, cursors } = this.#parts;
    const revealed: Record<string, unknown> = {};
    const reveal = (name: string, members: unknown): void => {
      revealed[name] = members;
    };
    const outcome = await run(api, parsed, prepared, variables, { engine, cursors, caller, reveal });
    const shown = {
      ...(extensions.cost === true && { cost: prepared.cost }),
      ...(Object.keys(revealed).length > 0 && { revealed }),
    };
    return {
      text: textOf(outcome, shown),
      hasData: true,
      failures: outcome.failures,
      cost: prepared.cost,
    };
  }
}

function isFailed<T extends object>(found: T | readonly Failure[]): found is readonly Failure[] {
  return Array.isArray(found);
}

/** Refused before anything ran: there is no `data`. */
export function refused(failures: readonly Failure[]): GraphqlAnswer {
  const errors = failures.map(({ formatted }) => formatted);
  return { text: JSON.stringify({ errors }), hasData: false, failures, cost: 0 };
}

function textOf({ data, failures }: Outcome, extensions: Readonly<Record<string, unknown>>): string {
  const errors =
    failures.length === 0 ? "" : `"errors":${JSON.stringify(failures.map(({ formatted }) => formatted))},`;
  const more = JSON.stringify(extensions);
  return `{${errors}"data":${data}${more === "{}" ? "" : `,"extensions":${more}`}}`;
}

function operationOf({ operations }: ParsedDocument, name: string | undefined) {
  const [first] = operations;
  if (name === undefined && operations.length === 1) return first!;
  if (name === undefined)
    throw new Problem(
      "malformed_request",
      "The document has no operation, or several; name one in operationName.",
    );
  const found = operations.find((operation) => operation.name?.value === name);
  if (found) return found;
  throw new Problem("malformed_request", `The document has no operation named ${name.slice(0, 100)}.`);
}

function mutationByGet(): Problem {
  return new Problem("method_not_allowed", "GET is for queries; send mutations with POST.", [], {
    Allow: "POST",
  });
}
