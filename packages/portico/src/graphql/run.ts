// Runs a prepared operation and writes its answer: texts of the database put beside each other.

import type { CompiledField, RunContext } from "./compile.ts";
import { type Failure, failureOfField } from "./failure.ts";
import { locationsOf } from "./location.ts";
import { Pauses } from "./pause.ts";
import type { Compiled } from "./prepare.ts";
import { TotalSize } from "./total-size.ts";

export interface Outcome {
  /** JSON text of `data`. */
  readonly data: string;
  readonly failures: readonly Failure[];
  /** Whether no field of the operation was answered. */
  readonly isEmpty: boolean;
}

export async function run({ operation, fields }: Compiled, context: RunContext): Promise<Outcome> {
  const size = new TotalSize();
  return operation.operation === "mutation"
    ? runInTurn(fields, context, size)
    : runTogether(fields, context, size);
}

interface Ran {
  readonly field: CompiledField;
  /** Undefined where it failed. */
  readonly text: string | undefined;
  readonly failure: Failure | undefined;
}

/** Fields of one operation that are read at once: those of a long one must not stand before the reads of others. */
const mostAtOnce = 10;

async function runTogether(
  fields: readonly CompiledField[],
  context: RunContext,
  size: TotalSize,
): Promise<Outcome> {
  if (fields.length === 1) return outcomeOf([await runField(fields[0]!, context, size)]);
  const ran: Ran[] = [];
  const pauses = new Pauses();
  const waiting = fields.entries();
  const runWaiting = async (): Promise<void> => {
    for (const [place, field] of waiting) {
      ran[place] = await runField(field, context, size);
      if (pauses.isDue) await pauses.rest();
    }
  };
  await Promise.all(fields.slice(0, mostAtOnce).map(runWaiting));
  return outcomeOf(ran);
}

/** Mutations happen one after another; after one that takes the whole answer with it, none does (section 6.2.2). */
async function runInTurn(
  fields: readonly CompiledField[],
  context: RunContext,
  size: TotalSize,
): Promise<Outcome> {
  const ran: Ran[] = [];
  const pauses = new Pauses();
  for (const field of fields) {
    const each = await runField(field, context, size);
    ran.push(each);
    if (each.failure && field.isNonNull) break;
    if (pauses.isDue) await pauses.rest();
  }
  return outcomeOf(ran);
}

async function runField(field: CompiledField, context: RunContext, size: TotalSize): Promise<Ran> {
  try {
    size.requireRoom();
    const text = await field.run(context);
    size.add(text);
    return { field, text, failure: undefined };
  } catch (error) {
    const { name, nodes } = field.selected;
    const place = { locations: locationsOf(nodes), path: [name] };
    return { field, text: undefined, failure: failureOfField(error, place) };
  }
}

/** A field that failed is null; where it cannot be, everything is (section 6.4.4). */
function outcomeOf(ran: readonly Ran[]): Outcome {
  const failures = ran.flatMap(({ failure }) => (failure ? [failure] : []));
  const isEmpty = failures.length === ran.length;
  if (ran.some(({ field, failure }) => failure && field.isNonNull))
    return { data: "null", failures, isEmpty };
  const members = ran.map(({ field, text = "null" }) => `"${field.selected.name}":${text}`);
  return { data: `{${members.join(",")}}`, failures, isEmpty };
}
