// Operations whose results go to a stream: subscriptions, and queries and mutations that are sent the same way.

import type { GraphQLFormattedError } from "graphql";
import type { Caller } from "../declare/caller.ts";
import { fault, LoggedProblem, type Problem } from "../errors.ts";
import { valueKey } from "../plan/value-key.ts";
import { type Answerer, type Examined, isFailed } from "./answer.ts";
import { type Failure, failureOfField } from "./failure.ts";
import { nextTurn } from "./pause.ts";
import type { GraphqlRequest } from "./request.ts";
import type { Message } from "./subscriber-group.ts";
import type { Subscribers } from "./subscribers.ts";
import type { Receiver, Subscription } from "./subscription.ts";
import { planSubscription } from "./subscription-plan.ts";

/** The stream of one operation. After anything but `send`, nothing more comes. */
export interface Outlet {
  /** Bytes that were sent and did not leave the process yet. */
  readonly waitingBytes: number;
  /** Does the work of an operation with one result once there is room for it. */
  inTurn(work: () => Promise<void>): Promise<void>;
  send(messages: readonly Message[]): void;
  /** The only result. */
  answer(text: string): void;
  refuse(errors: readonly GraphQLFormattedError[]): void;
  /** The credential may not go on. */
  forbid(problem: Problem): void;
  endTooSlow(): void;
}

export interface OperationsParts {
  readonly answerer: Answerer;
  readonly subscribers: Subscribers;
  readonly onInternalError: (error: unknown) => void;
}

export class Operation implements Receiver {
  readonly #parts: OperationsParts;
  readonly #outlet: Outlet;
  #caller: Caller;
  #subscription: Subscription | undefined;
  #isEnded = false;

  constructor(parts: OperationsParts, caller: Caller, outlet: Outlet) {
    this.#parts = parts;
    this.#caller = caller;
    this.#outlet = outlet;
  }

  /** Runs it to its end, or until it waits for events; not at all where it was ended before. */
  async run(request: GraphqlRequest, isReadOnly: boolean): Promise<void> {
    const { answerer } = this.#parts;
    try {
      if (request.isLong) await nextTurn();
      if (this.#isEnded) return;
      const examined = answerer.examine(request, this.#caller, isReadOnly);
      if (isFailed(examined)) return this.#refuse(examined);
      if (examined.prepared.operation.operation === "subscription")
        return await this.#subscribe(examined, request);
      await this.#outlet.inTurn(() => this.#answer(examined, request));
    } catch (error) {
      this.fail(error);
    }
  }

  async #answer(examined: Examined, request: GraphqlRequest): Promise<void> {
    if (this.#isEnded) return;
    const { text, failures } = await this.#parts.answerer.run(examined, request, this.#caller);
    this.#tellInternal(failures);
    if (!this.#isEnded) this.#outlet.answer(text);
  }

  async #subscribe(examined: Examined, request: GraphqlRequest): Promise<void> {
    const after = placeOf(request.extensions.lastEventId);
    const plan = planSubscription(examined);
    const { operationName, variables } = request;
    const question = valueKey([examined.text, operationName, variables]);
    this.#subscription = this.#parts.subscribers.open(plan, question, this.#caller, this);
    await this.#subscription.begin(after);
  }

  get waitingBytes(): number {
    return this.#outlet.waitingBytes;
  }

  send(messages: readonly Message[]): void {
    this.#outlet.send(messages);
  }

  fail(error: unknown): void {
    if (this.#isEnded) return;
    const name = this.#subscription?.plan.name;
    this.#refuse([failureOfField(error, name === undefined ? {} : { path: [name] })]);
  }

  forbid(problem: Problem): void {
    this.end();
    this.#outlet.forbid(problem);
  }

  endTooSlow(): void {
    this.end();
    this.#outlet.endTooSlow();
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
    this.#tellInternal(failures);
    if (this.#isEnded) return;
    this.end();
    this.#outlet.refuse(failures.map(({ formatted }) => formatted));
  }

  #tellInternal(failures: readonly Failure[]): void {
    for (const { problem } of failures)
      if (problem.status >= 500 && !(problem instanceof LoggedProblem))
        this.#parts.onInternalError(problem.cause ?? problem);
  }
}

/** @throws Problem `validation_error` */
function placeOf(lastEventId: unknown): number | undefined {
  if (lastEventId === undefined || lastEventId === null || lastEventId === "") return undefined;
  if (typeof lastEventId !== "string" && typeof lastEventId !== "number")
    throw fault("lastEventId", "type", "lastEventId must be the id of an event, as text.");
  if (/^\d{1,15}$/.test(String(lastEventId))) return Number(lastEventId);
  throw fault("lastEventId", "format", "lastEventId is none of the ids that events came with.");
}
