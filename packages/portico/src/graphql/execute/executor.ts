// From a request to the text of its response. Each stage is one line.

import type { ChargeResponse, SetQuotaHeaders, TakeTokens } from "../../api/route-options.ts";
import type { Caller } from "../../declare/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RecordedWrites } from "../../engine/recorded-writes.ts";
import { Problem } from "../../errors.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import { tokensOf } from "../../query/answer-size.ts";
import type { UrlOfFile } from "../../query/shown-files.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import type { GraphqlLimits } from "../document/graphql-limits.ts";
import { requireWithin } from "../document/operation-limits.ts";
import { DocumentParser, type ParsedDocument } from "../document/parsed-document.ts";
import { PersistedDocuments } from "../document/persisted-documents.ts";
import { dropUnused, type GraphqlRequest } from "../document/request.ts";
import { missingScopes, requireAnyScope } from "../document/scopes.ts";
import type { Api } from "../schema/schema.ts";
import { type Failure, failureOf, withoutSuggestions } from "./failure.ts";
import { Introspection } from "./introspection.ts";
import { type CompiledOperation, OperationCompiler } from "./operation-compiler.ts";
import type { ExecutionOutcome } from "./outcome.ts";
import { runOperation } from "./run-operation.ts";

export interface GraphqlResponse {
  readonly text: string;
  /** Whether the operation ran. If not, the response has no `data`, and the HTTP status depends on the errors. */
  readonly hasData: boolean;
  readonly failures: readonly Failure[];
  /** Whether every field failed because the database is unavailable. */
  readonly isUnavailable: boolean;
  /** Maximum number of rows in the result; 0 if the operation was rejected before this was known. */
  readonly cost: number;
}

export interface ExecutorDependencies {
  readonly api: Api;
  readonly engine: Engine;
  readonly eventLog: Pick<EventLog, "list" | "get">;
  readonly limits: GraphqlLimits;
  readonly takeTokens: TakeTokens;
  readonly chargeResponse: ChargeResponse;
  /** The address of a file. */
  readonly fileUrl: UrlOfFile;
}

/**
 * Runs mutations once for each Idempotency-Key.
 * @param run runs them with the writes of a transaction
 * @param isJoint whether they are several
 */
export type RunOnce = (
  run: (writes: RecordedWrites) => Promise<GraphqlResponse>,
  isJoint: boolean,
) => Promise<GraphqlResponse>;

/** Rows that cost one token. */
export const rowsPerToken = 100;

/** A valid operation that the caller is allowed to run. */
export interface PreparedOperation {
  /** The document. */
  readonly text: string;
  readonly parsed: ParsedDocument;
  readonly compiled: CompiledOperation;
}

export class Executor {
  readonly #dependencies: ExecutorDependencies;
  readonly #documents: DocumentParser;
  readonly #compiler: OperationCompiler;
  readonly #persisted = new PersistedDocuments();
  readonly #introspection: Introspection;

  constructor(dependencies: ExecutorDependencies) {
    this.#dependencies = dependencies;
    this.#compiler = new OperationCompiler(dependencies.api);
    this.#documents = new DocumentParser(dependencies.api.schema, dependencies.limits);
    this.#introspection = new Introspection(dependencies.api.schema);
  }

  /** The address of a file. */
  get fileUrl(): UrlOfFile {
    return this.#dependencies.fileUrl;
  }

  /** @param isReadOnly whether the HTTP method forbids mutations */
  async execute(
    request: GraphqlRequest,
    caller: Caller,
    isReadOnly: boolean,
    setQuotaHeaders: SetQuotaHeaders,
    runOnce?: RunOnce,
  ): Promise<GraphqlResponse> {
    const prepared = this.prepare(request, caller, isReadOnly);
    if (areFailures(prepared)) return failedResponse(prepared);
    const { operation, mutations } = prepared.compiled;
    if (operation.operation === "subscription") throw streamRequired();
    if (!runOnce || operation.operation !== "mutation")
      return this.run(prepared, request, caller, setQuotaHeaders);
    const run = (writes: RecordedWrites) => this.run(prepared, request, caller, setQuotaHeaders, writes);
    return runOnce(run, mutations > 1);
  }

  /** Whether the operation is a subscription. False if the document is invalid. */
  isSubscription(request: GraphqlRequest): boolean {
    const parsed = this.#documents.parse(this.#persisted.textOf(request));
    return (
      !areFailures(parsed) && selectOperation(parsed, request.operationName).operation === "subscription"
    );
  }

  /** Everything before an operation runs: parses, validates, compiles, and checks limits and scopes. */
  prepare(
    request: GraphqlRequest,
    caller: Caller,
    isReadOnly: boolean,
  ): PreparedOperation | readonly Failure[] {
    const { limits } = this.#dependencies;
    const text = this.#persisted.textOf(request);
    const parsed = this.#documents.parse(text);
    const isAnonymous = caller.kind === "anonymous";
    if (areFailures(parsed)) return isAnonymous ? parsed.map(withoutSuggestions) : parsed;
    const operation = selectOperation(parsed, request.operationName);
    if (isReadOnly && operation.operation === "mutation") throw mutationOverGet();
    dropUnused(request, new Set(operation.variableDefinitions?.map(({ variable }) => variable.name.value)));
    const compiled = this.#compiler.compile(parsed, operation, request.variables);
    if (areFailures(compiled)) return isAnonymous ? compiled.map(withoutSuggestions) : compiled;
    // The schema shows more than what is public.
    if (isAnonymous && compiled.hasIntrospection) requireAnyScope(caller);
    requireWithin("cost", compiled.cost, limits);
    requireWithin("mutations", compiled.mutations, limits);
    requireWithin("size", compiled.size, limits);
    requireWithin("names", compiled.names, limits);
    const missing = missingScopes(caller, compiled.accesses);
    if (missing.length > 0) return missing.map(({ problem, path }) => failureOf(problem, { path }));
    return { text, parsed, compiled };
  }

  /** @param ownWrites of the transaction in which the operation runs; by default it has its own */
  async run(
    { compiled }: PreparedOperation,
    { extensions }: GraphqlRequest,
    caller: Caller,
    setQuotaHeaders: SetQuotaHeaders = () => {},
    ownWrites?: RecordedWrites,
  ): Promise<GraphqlResponse> {
    const { engine, eventLog, takeTokens, chargeResponse, fileUrl } = this.#dependencies;
    if (
      compiled.mutations > 0 &&
      !ownWrites &&
      compiled.fields.some(({ field }) => field.mapping.requiresIdempotencyKey)
    )
      throw new Problem("idempotency_key_required");
    const tokens = tokensOfOperation(compiled);
    if (tokens > 0) await takeTokens(caller, tokens, setQuotaHeaders);
    const introspected = compiled.hasIntrospection
      ? await this.#introspection.textsOf(compiled.fields.map(({ field }) => field))
      : nothingIntrospected;
    const { returnedOnce, ...outcome } = await runOperation(compiled, {
      ...{ engine, eventLog, caller, introspected, ownWrites, fileUrl },
    });
    const tokensOfSize = tokensOf(outcome.data);
    if (tokensOfSize > 0) await chargeResponse(caller, tokensOfSize, setQuotaHeaders);
    const responseExtensions = {
      ...(extensions.cost === true && { cost: compiled.cost }),
      ...(Object.keys(returnedOnce).length > 0 && { returnedOnce }),
    };
    return {
      text: responseText(outcome, responseExtensions),
      hasData: true,
      failures: outcome.failures,
      isUnavailable: outcome.hasOnlyFailures && isOutage(outcome.failures),
      cost: compiled.cost,
    };
  }
}

/** What an operation costs on top of the token of its request: its rows, and each mutation after the first. */
function tokensOfOperation({ cost, mutations }: CompiledOperation): number {
  return Math.floor(cost / rowsPerToken) + Math.max(mutations - 1, 0);
}

const nothingIntrospected: ReadonlyMap<CollectedField, string> = new Map();

export function areFailures<T extends object>(result: T | readonly Failure[]): result is readonly Failure[] {
  return Array.isArray(result);
}

/** The response to an operation that did not run. It has no `data`. */
export function failedResponse(failures: readonly Failure[]): GraphqlResponse {
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

function responseText(
  { data, failures }: Pick<ExecutionOutcome, "data" | "failures">,
  extensions: Readonly<Record<string, unknown>>,
): string {
  const errors =
    failures.length === 0 ? "" : `"errors":${JSON.stringify(failures.map(({ formatted }) => formatted))},`;
  const members = JSON.stringify(extensions);
  return `{${errors}"data":${data}${members === "{}" ? "" : `,"extensions":${members}`}}`;
}

function selectOperation({ operations }: ParsedDocument, name: string | undefined) {
  const [first] = operations;
  if (name === undefined && operations.length === 1) return first!;
  if (name === undefined)
    throw new Problem(
      "malformed_request",
      operations.length === 0
        ? "The document has no operation."
        : "The document has several operations. Select one with `operationName`.",
    );
  const named = operations.find((operation) => operation.name?.value === name);
  if (named) return named;
  throw new Problem("malformed_request", `Unknown operation named "${name.slice(0, 100)}".`);
}

function streamRequired(): Problem {
  return new Problem(
    "not_acceptable",
    "Subscriptions require a WebSocket (graphql-transport-ws) or `Accept: text/event-stream`.",
  );
}

function mutationOverGet(): Problem {
  return new Problem("method_not_allowed", "GET can run queries only. Send mutations with POST.", [], {
    Allow: "POST",
  });
}
