// Runs several mutations one after another (section 6.2.2) and in one transaction: all of them or none.

import type { Writes } from "../../engine/writes.ts";
import { isUnavailable, Problem } from "../../errors.ts";
import { TimeSlice } from "../../lib/time-slice.ts";
import type { RunContext } from "../fields/field-mapping.ts";
import { type Failure, failureOf, failureOfField } from "./failure.ts";
import type { CompiledField } from "./operation-compiler.ts";
import { dataOf, type ExecutionOutcome, locationOf, type OperationContext } from "./outcome.ts";
import { ResponseSize } from "./response-size.ts";

export async function runTogether(
  fields: readonly CompiledField[],
  context: OperationContext,
): Promise<ExecutionOutcome> {
  let running: CompiledField | undefined;
  try {
    return await writeTogether(context, async (writes) => {
      // The transaction may run again after a conflict, so that nothing of an earlier attempt remains here.
      const size = new ResponseSize();
      const slice = new TimeSlice();
      const texts: string[] = [];
      // Without a prototype, as `__proto__` is a possible name.
      const returnedOnce: Record<string, unknown> = Object.create(null);
      const addReturnedOnce: RunContext["addReturnedOnce"] = (name, members) => {
        returnedOnce[name] = members;
      };
      for (const field of fields) {
        running = field;
        const text = await field.run({ ...context, writes, addReturnedOnce });
        size.add(text);
        texts.push(text);
        if (slice.isOver) await slice.yield();
      }
      running = undefined;
      return { data: dataOf(fields, texts), failures: [], hasOnlyFailures: false, returnedOnce };
    });
  } catch (error) {
    const failures = failuresOf(error, fields, running);
    return { data: "null", failures, hasOnlyFailures: true, returnedOnce: {} };
  }
}

function writeTogether<T>(
  { engine, caller, ownWrites }: OperationContext,
  work: (writes: Writes) => Promise<T>,
): Promise<T> {
  return ownWrites ? ownWrites.together(work) : engine.writeTogether(caller, work);
}

/**
 * The errors of an operation of which nothing was written: first that of the field that failed, then one for each other
 * mutation. An error that no field caused, such as an outage of the database, is that of all fields.
 */
function failuresOf(
  error: unknown,
  fields: readonly CompiledField[],
  failed: CompiledField | undefined,
): readonly Failure[] {
  const mutations = fields.filter(({ isMutation }) => isMutation);
  if (failed === undefined || isUnavailable(error))
    return mutations.map((field) => failureOfField(error, locationOf(field)));
  const name = failed.field.responseName;
  const rolledBack = new Problem(
    "rolled_back",
    `Nothing was written, because \`${name}\` failed. The mutations of an operation succeed or fail together.`,
  );
  const others = mutations.filter((field) => field !== failed);
  return [
    failureOfField(error, locationOf(failed)),
    ...others.map((field) => failureOf(rolledBack, locationOf(field))),
  ];
}
