// Runs a compiled operation. The texts of its fields are joined into `data` without being parsed.

import { TimeSlice } from "../../lib/time-slice.ts";
import type { RunContext } from "../fields/field-mapping.ts";
import { type Failure, failureOfField } from "./failure.ts";
import type { CompiledField, CompiledOperation } from "./operation-compiler.ts";
import { dataOf, type ExecutionOutcome, locationOf, type OperationContext } from "./outcome.ts";
import { ResponseSize } from "./response-size.ts";
import { runTogether } from "./run-together.ts";

export async function runOperation(
  { fields, mutations }: CompiledOperation,
  context: OperationContext,
): Promise<ExecutionOutcome> {
  if (mutations > 1) return runTogether(fields, context);
  // Without a prototype, as `__proto__` is a possible name.
  const returnedOnce: Record<string, unknown> = Object.create(null);
  const addReturnedOnce: RunContext["addReturnedOnce"] = (name, members) => {
    returnedOnce[name] = members;
  };
  const runContext = { ...context, writes: context.ownWrites ?? context.engine, addReturnedOnce };
  return mergeOutcomes(await runConcurrently(fields, runContext, new ResponseSize()), returnedOnce);
}

interface FieldOutcome {
  readonly field: CompiledField;
  /** Undefined if the field has failed. */
  readonly text: string | undefined;
  readonly failure: Failure | undefined;
}

/** Fields of one operation that run concurrently, so that a large operation does not occupy the database. */
const maxConcurrentFields = 10;

async function runConcurrently(
  fields: readonly CompiledField[],
  context: RunContext,
  size: ResponseSize,
): Promise<readonly FieldOutcome[]> {
  if (fields.length === 1) return [await runField(fields[0]!, context, size)];
  const outcomes: FieldOutcome[] = [];
  const slice = new TimeSlice();
  const queue = fields.entries();
  const runQueued = async (): Promise<void> => {
    for (const [index, field] of queue) {
      outcomes[index] = await runField(field, context, size);
      if (slice.isOver) await slice.yield();
    }
  };
  await Promise.all(fields.slice(0, maxConcurrentFields).map(runQueued));
  return outcomes;
}

async function runField(
  compiled: CompiledField,
  context: RunContext,
  size: ResponseSize,
): Promise<FieldOutcome> {
  try {
    size.requireRoom();
    const text = await compiled.run(context);
    size.add(text);
    return { field: compiled, text, failure: undefined };
  } catch (error) {
    return { field: compiled, text: undefined, failure: failureOfField(error, locationOf(compiled)) };
  }
}

/** A field that failed is null. If it is non-null, `data` is null (section 6.4.4). */
function mergeOutcomes(
  outcomes: readonly FieldOutcome[],
  returnedOnce: ExecutionOutcome["returnedOnce"],
): ExecutionOutcome {
  const failures = outcomes.flatMap(({ failure }) => failure ?? []);
  const hasOnlyFailures = failures.length === outcomes.length;
  if (outcomes.some(({ field, failure }) => failure && field.isNonNull))
    return { data: "null", failures, hasOnlyFailures, returnedOnce };
  const data = dataOf(
    outcomes.map(({ field }) => field),
    outcomes.map(({ text = "null" }) => text),
  );
  return { data, failures, hasOnlyFailures, returnedOnce };
}
