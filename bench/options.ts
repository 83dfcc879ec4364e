// The options of `npm run bench`, and its help.

import { parseArgs } from "node:util";

export type DatabaseName = "sqlite" | "postgres";

export interface Options {
  /** How long each server is driven in each round. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly posts: number;
  readonly tool: "wrk" | "autocannon" | undefined;
  readonly only: DatabaseName | undefined;
  /** Whether Portico is compared with other servers. */
  readonly hasRivals: boolean;
  readonly isJson: boolean;
}

export const help = `npm run bench -- [options]

Drives Portico and a bare node:http server in turn and prints what Portico reaches of that limit.
It takes about eight minutes for each database. PostgreSQL is measured where BENCH_DATABASE_URL names a
database (postgres://user:password@host/name); the bench works in a schema of its own, and drops it.

  --seconds N        how long each server is driven in each round (2)
  --rounds N         rounds, of which the median is taken (7)
  --connections N    connections kept open (64)
  --posts N          posts in the database (100000)
  --tool NAME        wrk or autocannon (wrk where it is installed)
  --only NAME        sqlite or postgres
  --no-rivals        measure no other servers, and install none
  --json             print one JSON object
  --help             show this help
`;

/** @returns undefined where help was asked for @throws Error with a line for whoever gave a wrong option */
export function readOptions(words: readonly string[]): Options | undefined {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...words],
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

function wholeNumber(name: string, value: string, least: number, most: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new Error(`--${name} is '${value}'; it must be a whole number from ${least} to ${most}`);
}

function choice<const Choice extends string>(
  name: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const found = choices.find((each) => each === value);
  if (value === undefined || found !== undefined) return found;
  throw new Error(`--${name} is '${value}'; it must be one of ${choices.join(", ")}`);
}
