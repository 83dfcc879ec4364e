// What an operation runs with, and what it returns.

import type { GraphQLFormattedError } from "graphql";
import type { RecordedWrites } from "../../engine/recorded-writes.ts";
import { locationsOf } from "../document/location.ts";
import type { RunContext } from "../fields/field-mapping.ts";
import type { Failure } from "./failure.ts";
import type { CompiledField } from "./operation-compiler.ts";

export interface OperationContext
  extends Pick<RunContext, "engine" | "eventLog" | "caller" | "introspected" | "fileUrl"> {
  /** The writes of the transaction in which the operation runs; undefined if it has its own. */
  readonly ownWrites: RecordedWrites | undefined;
}

export interface ExecutionOutcome {
  /** `data` as JSON text. */
  readonly data: string;
  readonly failures: readonly Failure[];
  /** Whether every field has failed. */
  readonly hasOnlyFailures: boolean;
  /** Values that only the response to a write contains, by response name. */
  readonly returnedOnce: Readonly<Record<string, unknown>>;
}

/** `data` as JSON text. @param texts the values of the fields */
export function dataOf(fields: readonly CompiledField[], texts: readonly string[]): string {
  const members = fields.map(({ field }, index) => `"${field.responseName}":${texts[index]}`);
  return `{${members.join(",")}}`;
}

/** The location of an error of a root field. */
export function locationOf({
  field: { nodes, responseName },
}: CompiledField): Pick<GraphQLFormattedError, "locations" | "path"> {
  return { locations: locationsOf(nodes), path: [responseName] };
}
