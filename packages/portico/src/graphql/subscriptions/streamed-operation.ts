// Operations whose results go to a stream: subscriptions, and queries and mutations that are sent the same way.

import type { GraphQLFormattedError } from "graphql";
import type { Caller } from "../../declare/caller.ts";
import { LoggedProblem, type Problem, validationError } from "../../errors.ts";
import { yieldToEventLoop } from "../../lib/time-slice.ts";
import { valueKey } from "../../lib/value-key.ts";
import type { Message } from "../../subscriptions/group.ts";
import type { SubscriptionHub } from "../../subscriptions/hub.ts";
import type { Subscription, SubscriptionSink } from "../../subscriptions/subscription.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { areFailures, type Executor, type PreparedOperation } from "../execute/executor.ts";
import { type Failure, failureOfField } from "../execute/failure.ts";
import { planSubscription } from "./subscription-plan.ts";

/** The stream of one operation. After anything but `send`, nothing more comes. */
export interface ResultSink {
  /** Bytes that were sent and did not leave the process yet. */
  readonly pendingBytes: number;
  /** Does the work of an operation with one result once there is room for it. */
  inTurn(work: () => Promise<void>): Promise<void>;
  send(messages: readonly Message[]): void;
  /** The only result. */
  sendResult(text: string): void;
  refuse(errors: readonly GraphQLFormattedError[]): void;
  /** The credential may not go on. */
  forbid(problem: Problem): void;
  endTooSlow(): void;
}

export interface StreamDependencies {
  readonly executor: Executor;
  readonly hub: SubscriptionHub;
  readonly onInternalError: (error: unknown) => void;
}

export class StreamedOperation implements SubscriptionSink {
  readonly #dependencies: StreamDependencies;
  readonly #sink: ResultSink;
  #caller: Caller;
  #subscription: Subscription | undefined;
  /** The field of the answer. */
  #fieldName: string | undefined;
  #isEnded = false;

  constructor(dependencies: StreamDependencies, caller: Caller, sink: ResultSink) {
    this.#dependencies = dependencies;
    this.#caller = caller;
    this.#sink = sink;
  }

  /** Runs it to its end, or until it waits for events; not at all where it was ended before. */
  async run(request: GraphqlRequest, isReadOnly: boolean): Promise<void> {
    const { executor } = this.#dependencies;
    try {
      if (request.isLong) await yieldToEventLoop();
      if (this.#isEnded) return;
      const prepared = executor.prepare(request, this.#caller, isReadOnly);
      if (areFailures(prepared)) return this.#refuse(prepared);
      if (prepared.compiled.operation.operation === "subscription")
        return await this.#subscribe(prepared, request);
      await this.#sink.inTurn(() => this.#answer(prepared, request));
    } catch (error) {
      this.fail(error);
    }
  }

  async #answer(prepared: PreparedOperation, request: GraphqlRequest): Promise<void> {
    if (this.#isEnded) return;
    const { text, failures } = await this.#dependencies.executor.run(prepared, request, this.#caller);
    this.#reportInternal(failures);
    if (!this.#isEnded) this.#sink.sendResult(text);
  }

  async #subscribe(prepared: PreparedOperation, request: GraphqlRequest): Promise<void> {
    const after = parseLastEventId(request.extensions.lastEventId);
    const plan = planSubscription(prepared);
    const { operationName, variables } = request;
    const identity = valueKey([prepared.text, operationName, variables]);
    this.#fieldName = plan.name;
    this.#subscription = this.#dependencies.hub.open(plan, identity, this.#caller, this);
    await this.#subscription.start(after);
  }

  get pendingBytes(): number {
    return this.#sink.pendingBytes;
  }

  send(messages: readonly Message[]): void {
    this.#sink.send(messages);
  }

  fail(error: unknown): void {
    if (this.#isEnded) return;
    const name = this.#fieldName;
    this.#refuse([failureOfField(error, name === undefined ? {} : { path: [name] })]);
  }

  forbid(problem: Problem): void {
    this.end();
    this.#sink.forbid(problem);
  }

  endTooSlow(): void {
    this.end();
    this.#sink.endTooSlow();
  }

  /** Takes what the credential may do by now. */
  update(caller: Caller): void {
    this.#caller = { ...caller, address: this.#caller.address };
    this.#subscription?.update(this.#caller);
  }

  /** Nothing is sent any more. */
  end(): void {
    this.#isEnded = true;
    this.#subscription?.end();
  }

  #refuse(failures: readonly Failure[]): void {
    this.#reportInternal(failures);
    if (this.#isEnded) return;
    this.end();
    this.#sink.refuse(failures.map(({ formatted }) => formatted));
  }

  #reportInternal(failures: readonly Failure[]): void {
    for (const { problem } of failures)
      if (problem.status >= 500 && !(problem instanceof LoggedProblem))
        this.#dependencies.onInternalError(problem.cause ?? problem);
  }
}

/** @throws Problem `validation_error` */
function parseLastEventId(lastEventId: unknown): number | undefined {
  if (lastEventId === undefined || lastEventId === null || lastEventId === "") return undefined;
  if (typeof lastEventId !== "string" && typeof lastEventId !== "number")
    throw validationError("lastEventId", "type", "lastEventId must be the id of an event, as text.");
  if (/^\d{1,15}$/.test(String(lastEventId))) return Number(lastEventId);
  throw validationError("lastEventId", "format", "lastEventId is none of the ids that events came with.");
}
