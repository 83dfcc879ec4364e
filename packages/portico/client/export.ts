// Exports as async iterables of rows.

import { PorticoError } from "./error.ts";
import { linesOf } from "./lines.ts";
import { queryString } from "./query.ts";
import { backOff, type RequestOptions, type Transport } from "./transport.ts";

type Members = Readonly<Record<string, unknown>>;

/** Longer than the server pauses an export while the quota is used up: a minute by default. */
const idleMs = 150_000;

/**
 * All rows, read at the pace of the caller. An export that is cut off continues after the last row.
 *
 * @param route `/v1/exports/posts`
 */
export async function* exportRows(
  transport: Transport,
  route: string,
  query: Members = {},
  options: RequestOptions = {},
): AsyncGenerator<Members> {
  let { after, limit } = query;
  for (let failures = 0; ; failures += 1) {
    const path = route + queryString({ ...query, after, limit });
    const accept = "application/x-ndjson";
    const body = await transport.send(
      { method: "GET", path, accept, read: (response) => response.body! },
      options,
    );
    try {
      for await (const line of linesOf(body, idleMs)) {
        const row = JSON.parse(line) as Members;
        failures = 0;
        after = row["id"];
        if (limit !== undefined) limit = Number(limit) - 1;
        yield row;
      }
      return;
    } catch (cause) {
      options.signal?.throwIfAborted();
      if (limit === 0) return;
      if (failures >= transport.maxRetries)
        throw new PorticoError(0, "network_error", "The export was cut off.", { cause });
      await backOff(failures, cause, options.signal);
    }
  }
}
