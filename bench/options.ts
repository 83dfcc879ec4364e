// The options of `npm run bench`, and its help.

import { parseArgs } from "node:util";

export type DatabaseName = "sqlite" | "postgres";

export interface Options {
  /** How long each server is measured in each round. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly posts: number;
  readonly tool: "wrk" | "autocannon" | undefined;
  readonly only: DatabaseName | undefined;
  /** Whether Portico is compared with other servers that can be used instead. */
  readonly hasRivals: boolean;
  readonly isJson: boolean;
}

export const help = `npm run bench -- [options]

Measures Portico and a bare node:http server in turn and prints Portico's share of that limit.
It takes about twenty minutes for each database. PostgreSQL is measured if BENCH_DATABASE_URL names a
database (postgres://user:password@host/name); the bench creates a schema of its own and drops it.

  --seconds N        how long each server is measured in each round (2)
  --rounds N         rounds; the results are their medians (7)
  --connections N    open connections (64)
  --posts N          posts in the database (100000)
  --tool NAME        wrk or autocannon (wrk if it is installed)
  --only NAME        sqlite or postgres
  --no-rivals        measure no other servers, except creates of hand-written ones
  --json             print one JSON object
  --help             show this help
`;

/** @returns undefined for --help @throws Error for an invalid option */
export function readOptions(args: readonly string[]): Options | undefined {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: text,
      rounds: text,
      connections: text,
      posts: text,
      tool: text,
      only: text,
      "no-rivals": { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return undefined;
  return {
    seconds: wholeNumber("seconds", values.seconds ?? "2", 1, 60),
    rounds: wholeNumber("rounds", values.rounds ?? "7", 1, 99),
    connections: wholeNumber("connections", values.connections ?? "64", 1, 1_000),
    // Page 2,500 must exist.
    posts: wholeNumber("posts", values.posts ?? "100000", 60_000, 10_000_000),
    tool: choice("tool", values.tool, ["wrk", "autocannon"]),
    only: choice("only", values.only, ["sqlite", "postgres"]),
    hasRivals: !values["no-rivals"],
    isJson: values.json ?? false,
  };
}

function wholeNumber(name: string, value: string, min: number, max: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  throw new Error(`--${name} is '${value}'; it must be a whole number from ${min} to ${max}`);
}

function choice<const Choice extends string>(
  name: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const match = choices.find((each) => each === value);
  if (value === undefined || match !== undefined) return match;
  throw new Error(`--${name} is '${value}'; it must be one of ${choices.join(", ")}`);
}
