// Runs a prepared operation and writes its answer: texts of the database put beside each other.

import { TimeSlice } from "../../lib/time-slice.ts";
import type { CompiledField, RunContext } from "../compile/compile.ts";
import type { CompiledOperation } from "../compile/operation-compiler.ts";
import { locationsOf } from "../document/location.ts";
import { type Failure, failureOfField } from "./failure.ts";
import { ResponseSize } from "./response-size.ts";

export interface ExecutionOutcome {
  /** JSON text of `data`. */
  readonly data: string;
  readonly failures: readonly Failure[];
  /** Whether no field of the operation was answered. */
  readonly isEmpty: boolean;
}

export async function run(
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
  /** Undefined where it failed. */
  readonly text: string | undefined;
  readonly failure: Failure | undefined;
}

/** Fields of one operation that are read at once: those of a long one must not stand before the reads of others. */
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

/** Mutations happen one after another; after one that takes the whole answer with it, none does (section 6.2.2). */
async function runSerially(
  fields: readonly CompiledField[],
  context: RunContext,
  size: ResponseSize,
): Promise<ExecutionOutcome> {
  const outcomes: FieldOutcome[] = [];
  const slice = new TimeSlice();
  for (const field of fields) {
    const each = await runField(field, context, size);
    outcomes.push(each);
    if (each.failure && field.isNonNull) break;
    if (slice.isOver) await slice.yield();
  }
  return mergeOutcomes(outcomes);
}

async function runField(
  field: CompiledField,
  context: RunContext,
  size: ResponseSize,
): Promise<FieldOutcome> {
  try {
    size.requireRoom();
    const text = await field.run(context);
    size.add(text);
    return { field, text, failure: undefined };
  } catch (error) {
    const { responseName: name, nodes } = field.selected;
    const index = { locations: locationsOf(nodes), path: [name] };
    return { field, text: undefined, failure: failureOfField(error, index) };
  }
}

/** A field that failed is null; where it cannot be, everything is (section 6.4.4). */
function mergeOutcomes(outcomes: readonly FieldOutcome[]): ExecutionOutcome {
  const failures = outcomes.flatMap(({ failure }) => (failure ? [failure] : []));
  const isEmpty = failures.length === outcomes.length;
  if (outcomes.some(({ field, failure }) => failure && field.isNonNull))
    return { data: "null", failures, isEmpty };
  const members = outcomes.map(({ field, text = "null" }) => `"${field.selected.responseName}":${text}`);
  return { data: `{${members.join(",")}}`, failures, isEmpty };
}
