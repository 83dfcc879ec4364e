// An operation whose results are streamed: a subscription, or a query or mutation over the same transport.

import type { Caller } from "../../declare/caller.ts";
import { LoggedProblem, type Problem, validationError } from "../../errors.ts";
import { Position } from "../../events/position.ts";
import { yieldToEventLoop } from "../../lib/time-slice.ts";
import type { SubscriptionHub } from "../../subscriptions/hub.ts";
import type { EndCause } from "../../subscriptions/result-sink.ts";
import type { Subscription } from "../../subscriptions/subscription.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { areFailures, type Executor, type PreparedOperation } from "../execute/executor.ts";
import { type Failure, failureOfField } from "../execute/failure.ts";
import type { CredentialListener } from "./credential-watcher.ts";
import type { OperationSink } from "./operation-sink.ts";
import { planSubscription } from "./plan-subscription.ts";

export interface StreamDependencies {
  readonly executor: Executor;
  readonly hub: SubscriptionHub;
  readonly onInternalError: (error: unknown) => void;
}

export class StreamedOperation implements CredentialListener {
  readonly #dependencies: StreamDependencies;
  readonly #sink: OperationSink;
  #caller: Caller;
  #subscription: Subscription | undefined;
  /** The response name of the subscription's field: the path of its errors. */
  #fieldName: string | undefined;
  #isStarted = false;
  #isEnded = false;

  constructor(dependencies: StreamDependencies, caller: Caller, sink: OperationSink) {
    this.#dependencies = dependencies;
    this.#caller = caller;
    this.#sink = sink;
  }

  /** The position from which a subscription that has sent nothing yet can be resumed; undefined before it has started. */
  get position(): Position | undefined {
    return this.#isStarted ? this.#subscription?.position : undefined;
  }

  /** Runs the operation. Resolves after the only result, or once a subscription has started. */
  async run(request: GraphqlRequest, isReadOnly: boolean): Promise<void> {
    const { executor } = this.#dependencies;
    try {
      if (request.isLong) await yieldToEventLoop();
      if (this.#isEnded) return;
      const prepared = executor.prepare(request, this.#caller, isReadOnly);
      if (areFailures(prepared)) return this.#sendFailures(prepared);
      if (prepared.compiled.operation.operation === "subscription")
        return await this.#subscribe(prepared, request);
      await this.#sink.inTurn(() => this.#sendResult(prepared, request));
    } catch (error) {
      this.fail(error);
    }
  }

  async #sendResult(prepared: PreparedOperation, request: GraphqlRequest): Promise<void> {
    if (this.#isEnded) return;
    const { text, failures } = await this.#dependencies.executor.run(prepared, request, this.#caller);
    this.#reportInternal(failures);
    if (!this.#isEnded) this.#sink.sendResult(text);
  }

  async #subscribe(prepared: PreparedOperation, request: GraphqlRequest): Promise<void> {
    const after = parseLastEventId(request.extensions.lastEventId);
    const plan = planSubscription(prepared, request, this.#dependencies.executor.fileUrl);
    this.#fieldName = plan.fieldName;
    this.#subscription = this.#dependencies.hub.open({
      plan,
      caller: this.#caller,
      sink: this.#sink,
      onEnd: (cause) => this.#onSubscriptionEnd(cause),
    });
    await this.#subscription.start(after);
    this.#isStarted = true;
  }

  #onSubscriptionEnd(cause: EndCause): void {
    switch (cause.kind) {
      case "failed":
        this.fail(cause.error);
        break;
      case "forbidden":
        this.revoke(cause.problem);
        break;
      case "tooSlow":
        this.end();
        this.#sink.endTooSlow();
    }
  }

  /** Ends the operation with an error. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    const path = this.#fieldName === undefined ? {} : { path: [this.#fieldName] };
    this.#sendFailures([failureOfField(error, path)]);
  }

  /** Ends the operation because the credential is no longer allowed to run it. */
  revoke(problem: Problem): void {
    this.end();
    this.#sink.revoke(problem);
  }

  /** Applies the current scopes and policies of the caller. */
  update(caller: Caller): void {
    this.#caller = { ...caller, address: this.#caller.address };
    this.#subscription?.update(this.#caller);
  }

  /** Ends the operation without a message. */
  end(): void {
    this.#isEnded = true;
    this.#subscription?.end();
  }

  #sendFailures(failures: readonly Failure[]): void {
    this.#reportInternal(failures);
    if (this.#isEnded) return;
    this.end();
    this.#sink.sendErrors(failures.map(({ formatted }) => formatted));
  }

  #reportInternal(failures: readonly Failure[]): void {
    for (const { problem } of failures)
      if (problem.status >= 500 && !(problem instanceof LoggedProblem))
        this.#dependencies.onInternalError(problem.cause ?? problem);
  }
}

/** @throws Problem `validation_error` */
function parseLastEventId(lastEventId: unknown): Position | undefined {
  if (lastEventId === undefined || lastEventId === null || lastEventId === "") return undefined;
  if (typeof lastEventId !== "string" && typeof lastEventId !== "number")
    throw validationError("lastEventId", "type", "lastEventId must be an event id, as a string.");
  const position = Position.parse(String(lastEventId));
  if (position) return position;
  throw validationError("lastEventId", "format", "lastEventId is not a valid event id.");
}
