// Runs a prepared operation and writes its answer: texts of the database put beside each other.

import { getLocation } from "graphql";
import type { CompiledField, RunContext } from "./compile.ts";
import { type Failure, failureOfField } from "./failure.ts";
import type { Compiled } from "./prepare.ts";

export interface Outcome {
  /** JSON text of `data`. */
  readonly data: string;
  readonly failures: readonly Failure[];
  /** Whether no field of the operation was answered. */
  readonly isEmpty: boolean;
}

export async function run({ operation, fields }: Compiled, context: RunContext): Promise<Outcome> {
  return operation.operation === "mutation" ? runInTurn(fields, context) : runTogether(fields, context);
}

interface Ran {
  readonly field: CompiledField;
  /** Undefined where it failed. */
  readonly text: string | undefined;
  readonly failure: Failure | undefined;
}

async function runTogether(fields: readonly CompiledField[], context: RunContext): Promise<Outcome> {
  return outcomeOf(await Promise.all(fields.map((field) => runField(field, context))));
}

/** Mutations happen one after another; after one that takes the whole answer with it, none does (section 6.2.2). */
async function runInTurn(fields: readonly CompiledField[], context: RunContext): Promise<Outcome> {
  const ran: Ran[] = [];
  for (const field of fields) {
    const each = await runField(field, context);
    ran.push(each);
    if (each.failure && field.isNonNull) break;
  }
  return outcomeOf(ran);
}

async function runField(field: CompiledField, context: RunContext): Promise<Ran> {
  try {
    return { field, text: await field.run(context), failure: undefined };
  } catch (error) {
    const { name, nodes } = field.selected;
    const locations = nodes.flatMap(({ loc }) => (loc ? [getLocation(loc.source, loc.start)] : []));
    return { field, text: undefined, failure: failureOfField(error, { locations, path: [name] }) };
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
