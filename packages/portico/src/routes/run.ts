// Runs the handler of a route: GET without a transaction, the other methods in one.

import { inspect } from "node:util";
import type { Caller } from "../declare/caller.ts";
import type { Rows } from "../declare/rows.ts";
import type { Engine } from "../engine/engine.ts";
import type { RecordedWrites } from "../engine/recorded-writes.ts";
import { Problem } from "../errors.ts";
import { AwaitedResults } from "../lib/awaited-results.ts";
import { explainedFailure } from "../model/explained-failures.ts";
import type { RouteModel } from "../model/route.ts";
import { maxAnswerBytes } from "../query/answer-size.ts";
import type { RouteValues } from "./request.ts";

/** How long a handler that reads may take. A transaction has the same limit. */
const readTimeoutMs = 10_000;

interface RunContext extends RouteValues {
  readonly caller: Caller;
  readonly now: string;
}

export class RouteRun {
  readonly #engine: Engine;
  readonly #route: RouteModel;
  readonly #context: RunContext;
  readonly #readTimeoutMs: number;

  constructor(engine: Engine, route: RouteModel, context: RunContext, timeoutMs = readTimeoutMs) {
    this.#readTimeoutMs = timeoutMs;
    this.#engine = engine;
    this.#route = route;
    this.#context = context;
  }

  /** Checks the references in the request. @throws InvalidInput for those to rows that the caller does not see */
  async prepare(): Promise<void> {
    const { caller, ...values } = this.#context;
    for (const part of ["parameters", "query", "input"] as const)
      await this.#engine.requireReferences(caller, this.#route[part], values[part]);
  }

  /** @returns the answer as JSON text; empty if the route has none */
  async run(): Promise<string> {
    await this.prepare();
    if (this.#route.method === "GET") return this.#read();
    return this.#engine.writeAtomically(this.#context.caller, (writes) => this.write(writes));
  }

  /** Runs it in a transaction that has begun. */
  write(writes: RecordedWrites): Promise<string> {
    const { caller, now } = this.#context;
    return writes.runCode(caller, now, (rows) => this.#answer(rows));
  }

  async #read(): Promise<string> {
    let hasEnded = false;
    const results = new AwaitedResults();
    const requireOpen = (): void => {
      if (hasEnded) throw new Error("a route used its rows after it had ended; await every operation");
    };
    const { caller } = this.#context;
    const rows = this.#engine.readRows(caller, requireOpen, (operation) => results.add(operation));
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => timeout.reject(new Problem("unavailable", "The request took too long.")),
      this.#readTimeoutMs,
    );
    try {
      const answer = await Promise.race([this.#answer(rows), timeout.promise]);
      results.requireAwaited();
      return answer;
    } finally {
      hasEnded = true;
      results.end();
      clearTimeout(timer);
    }
  }

  async #answer(rows: Rows): Promise<string> {
    return this.#textOf(await this.#route.handler({ ...this.#context, rows }));
  }

  /** The members of an answer that the route declares, as JSON. */
  #textOf(answer: unknown): string {
    const { answer: shape } = this.#route;
    const { caller, now } = this.#context;
    if (!shape) return "";
    if (typeof answer !== "object" || answer === null) throw this.#wrongAnswer("It must be an object.");
    const members = shape.attributes.flatMap(({ name }) => {
      const value: unknown = Object.hasOwn(answer, name) ? answer[name as keyof typeof answer] : undefined;
      return value === undefined ? [] : [[name, value] as const];
    });
    let text: string;
    try {
      text = JSON.stringify(this.#engine.validated(shape, Object.fromEntries(members), caller, now));
    } catch (error) {
      // Also a Problem, which would blame the caller: of a value that is nested too deeply.
      throw this.#wrongAnswer((error as Error).message);
    }
    if (Buffer.byteLength(text) <= maxAnswerBytes) return text;
    throw this.#wrongAnswer("It is larger than 16 MiB.");
  }

  #wrongAnswer(message: string): Error {
    const failure = new Error(`the route ${this.#route.name} returned a wrong answer: ${message}`);
    return this.#engine.model.explainsFailures ? explainedFailure(failure.message, failure) : failure;
  }
}

/** What is not meant for the caller becomes `internal_error`, whatever members it has. */
export function problemOf({ name }: RouteModel, error: unknown): Problem {
  if (error instanceof Problem) return error;
  const cause = error instanceof Error ? error : new Error(`the route ${name} threw ${inspect(error)}`);
  return new Problem("internal_error", undefined, [], {}, cause);
}
