// Runs a compiled operation. The texts of its fields are joined into `data` without being parsed.

import { TimeSlice } from "../../lib/time-slice.ts";
import { locationsOf } from "../document/location.ts";
import type { RunContext } from "../fields/field-mapping.ts";
import { type Failure, failureOfField } from "./failure.ts";
import type { CompiledField, CompiledOperation } from "./operation-compiler.ts";
import { ResponseSize } from "./response-size.ts";

export interface ExecutionOutcome {
  /** `data` as JSON text. */
  readonly data: string;
  readonly failures: readonly Failure[];
  /** Whether every field has failed. */
  readonly hasOnlyFailures: boolean;
}

export async function runOperation(
  { operation, fields }: CompiledOperation,
  context: RunContext,
): Promise<ExecutionOutcome> {
  const size = new ResponseSize();
  return operation.operation === "mutation"
    ? runSerially(fields, context, size)
    : runConcurrently(fields, context, size);
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
): Promise<ExecutionOutcome> {
  if (fields.length === 1) return mergeOutcomes([await runField(fields[0]!, context, size)]);
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
  return mergeOutcomes(outcomes);
}

/** Runs mutations one after another (section 6.2.2). None runs after a failure that makes `data` null. */
async function runSerially(
  fields: readonly CompiledField[],
  context: RunContext,
  size: ResponseSize,
): Promise<ExecutionOutcome> {
  const outcomes: FieldOutcome[] = [];
  const slice = new TimeSlice();
  for (const field of fields) {
    const outcome = await runField(field, context, size);
    outcomes.push(outcome);
    if (outcome.failure && field.isNonNull) break;
    if (slice.isOver) await slice.yield();
  }
  return mergeOutcomes(outcomes);
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
    const { responseName, nodes } = compiled.field;
    const location = { locations: locationsOf(nodes), path: [responseName] };
    return { field: compiled, text: undefined, failure: failureOfField(error, location) };
  }
}

/** A field that failed is null. If it is non-null, `data` is null (section 6.4.4). */
function mergeOutcomes(outcomes: readonly FieldOutcome[]): ExecutionOutcome {
  const failures = outcomes.flatMap(({ failure }) => failure ?? []);
  const hasOnlyFailures = failures.length === outcomes.length;
  if (outcomes.some(({ field, failure }) => failure && field.isNonNull))
    return { data: "null", failures, hasOnlyFailures };
  const members = outcomes.map(({ field, text = "null" }) => `"${field.field.responseName}":${text}`);
  return { data: `{${members.join(",")}}`, failures, hasOnlyFailures };
}
