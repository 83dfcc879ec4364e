// From the parameters of a request to the text of its answer. Each stage is one line.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { Problem } from "../errors.ts";
import { tokensOf } from "../plan/answer-size.ts";
import type { CursorCodec } from "../plan/cursor.ts";
import type { GraphqlLimits } from "./bounds.ts";
import { type Failure, failureOf } from "./failure.ts";
import { Introspection } from "./introspection.ts";
import { requireWithin } from "./limits.ts";
import { DocumentParser, type ParsedDocument } from "./parsed-document.ts";
import { PersistedDocuments } from "./persisted-documents.ts";
import { type Compiled, Preparer } from "./prepare.ts";
import { dropUnused, type GraphqlRequest } from "./request.ts";
import { type Outcome, run } from "./run.ts";
import type { Api } from "./schema.ts";
import { missingScopes } from "./scopes.ts";
import type { Selected } from "./selected.ts";

export interface GraphqlAnswer {
  readonly text: string;
  /** Whether the operation ran at all; without `data` the status tells why. */
  readonly hasData: boolean;
  readonly failures: readonly Failure[];
  /** Whether nothing was answered or done, because the database cannot be used. */
  readonly isUnavailable: boolean;
  /** Rows that the operation could have answered with; 0 where it was refused before that was known. */
  readonly cost: number;
}

export interface AnswererParts {
  readonly api: Api;
  readonly engine: Engine;
  readonly cursors: CursorCodec;
  readonly limits: GraphqlLimits;
  readonly takeTokens: TakeTokens;
  readonly chargeAnswer: ChargeAnswer;
}

/** Takes tokens of a caller's quota for the size of an answer, though fewer may be left. */
export type ChargeAnswer = (caller: Caller, tokens: number, tell: TellLeft) => Promise<void>;

/** Takes tokens of a caller's quota, beside the one that every request takes. @throws Problem `rate_limited` */
export type TakeTokens = (caller: Caller, tokens: number, tell: TellLeft) => Promise<void>;

/** Takes headers that say what is left of a caller's quota. */
export type TellLeft = (headers: Readonly<Record<string, string>>) => void;

/** Rows that cost one token. */
export const rowsOfToken = 100;

/** An operation that nothing is wrong with. */
export interface Examined {
  /** Its document. */
  readonly text: string;
  readonly parsed: ParsedDocument;
  readonly prepared: Compiled;
}

export class Answerer {
  readonly #parts: AnswererParts;
  readonly #documents: DocumentParser;
  readonly #preparer: Preparer;
  readonly #persisted = new PersistedDocuments();
  readonly #introspection: Introspection;

  constructor(parts: AnswererParts) {
    this.#parts = parts;
    this.#preparer = new Preparer(parts.api);
    this.#documents = new DocumentParser(parts.api.schema, parts.limits);
    this.#introspection = new Introspection(parts.api.schema);
  }

  /** @param isReadOnly whether the method of the request forbids mutations */
  async answer(
    request: GraphqlRequest,
    caller: Caller,
    isReadOnly: boolean,
    tellLeft: TellLeft,
  ): Promise<GraphqlAnswer> {
    const examined = this.examine(request, caller, isReadOnly);
    if (isFailed(examined)) return refused(examined);
    if (examined.prepared.operation.operation === "subscription") throw notStreamed();
    return this.run(examined, request, caller, tellLeft);
  }

  /** Whether the operation is a subscription, as far as its document can be read. */
  isSubscription(request: GraphqlRequest): boolean {
    const parsed = this.#documents.parse(this.#persisted.textOf(request));
    return !isFailed(parsed) && operationOf(parsed, request.operationName).operation === "subscription";
  }

  /** All that comes before an operation runs: what is wrong with it, or what is to run. */
  examine(request: GraphqlRequest, caller: Caller, isReadOnly: boolean): Examined | readonly Failure[] {
    const { limits } = this.#parts;
    const text = this.#persisted.textOf(request);
    const parsed = this.#documents.parse(text);
    if (isFailed(parsed)) return parsed;
    const operation = operationOf(parsed, request.operationName);
    if (isReadOnly && operation.operation === "mutation") throw mutationByGet();
    dropUnused(request, new Set(operation.variableDefinitions?.map(({ variable }) => variable.name.value)));
    const prepared = this.#preparer.prepare(parsed, operation, request.variables);
    if (isFailed(prepared)) return prepared;
    requireWithin("cost", prepared.cost, limits);
    requireWithin("size", prepared.size, limits);
    requireWithin("names", prepared.names, limits);
    const missing = missingScopes(caller, prepared.scopes);
    if (missing.length > 0) return missing.map(({ problem, path }) => failureOf(problem, { path }));
    return { text, parsed, prepared };
  }

  async run(
    { prepared }: Examined,
    { extensions }: GraphqlRequest,
    caller: Caller,
    tellLeft: TellLeft = () => {},
  ): Promise<GraphqlAnswer> {
    const { engine, cursors, takeTokens, chargeAnswer } = this.#parts;
    const tokens = Math.floor(prepared.cost / rowsOfToken);
    if (tokens > 0) await takeTokens(caller, tokens, tellLeft);
    const introspected = prepared.hasIntrospection
      ? await this.#introspection.textsOf(prepared.fields.map(({ selected }) => selected))
      : nothingIntrospected;
    const revealed: Record<string, unknown> = {};
    const reveal = (name: string, members: unknown): void => {
      revealed[name] = members;
    };
    const outcome = await run(prepared, { engine, cursors, caller, reveal, introspected });
    const tokensOfSize = tokensOf(outcome.data);
    if (tokensOfSize > 0) await chargeAnswer(caller, tokensOfSize, tellLeft);
    const shown = {
      ...(extensions.cost === true && { cost: prepared.cost }),
      ...(Object.keys(revealed).length > 0 && { revealed }),
    };
    return {
      text: textOf(outcome, shown),
      hasData: true,
      failures: outcome.failures,
      isUnavailable: outcome.isEmpty && isOutage(outcome.failures),
      cost: prepared.cost,
    };
  }
}

const nothingIntrospected: ReadonlyMap<Selected, string> = new Map();

export function isFailed<T extends object>(found: T | readonly Failure[]): found is readonly Failure[] {
  return Array.isArray(found);
}

/** Refused before anything ran: there is no `data`. */
export function refused(failures: readonly Failure[]): GraphqlAnswer {
  const errors = failures.map(({ formatted }) => formatted);
  return {
    text: JSON.stringify({ errors }),
    hasData: false,
    failures,
    isUnavailable: isOutage(failures),
    cost: 0,
  };
}

function isOutage(failures: readonly Failure[]): boolean {
  return failures.length > 0 && failures.every(({ problem }) => problem.code === "unavailable");
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

function notStreamed(): Problem {
  return new Problem(
    "not_acceptable",
    "Subscribe over WebSocket (graphql-transport-ws), or with Accept: text/event-stream.",
  );
}

function mutationByGet(): Problem {
  return new Problem("method_not_allowed", "GET is for queries; send mutations with POST.", [], {
    Allow: "POST",
  });
}
