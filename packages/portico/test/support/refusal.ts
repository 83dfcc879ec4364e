// Makes a database reject changes to certain rows, to test how queues handle rows they cannot process.

import type { DatabaseName } from "./server.ts";

/** Statements that make a database reject changes to rows that meet a condition on `new` or `old`. */
export function refusal(database: DatabaseName, operation: string, table: string, condition: string): string {
  const name = `refused_${operation}_${table}`;
  if (database === "sqlite")
    return `create trigger ${name} before ${operation} on ${table} when ${condition}
      begin select raise(abort, 'refused by the test'); end`;
  return `create function ${name}() returns trigger language plpgsql as
      'begin raise exception ''refused by the test''; end';
    create trigger ${name} before ${operation} on ${table} for each row when (${condition})
      execute function ${name}()`;
}
