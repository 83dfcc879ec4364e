// Sends an export as the response to a request.

import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import { LoggedProblem } from "../errors.ts";
import { csvHeader } from "../lib/csv.ts";
import type { PresentedHeaders } from "../lib/presented-headers.ts";
import type { WorkSlots } from "../limits/work-slots.ts";
import type { RowChunk, RowStream } from "../store/row-stream.ts";
import { compressed, preferredCoding } from "./compression.ts";
import { type ExportControls, exportBody } from "./export-body.ts";
import type { ExportSource } from "./export-source.ts";
import { type FormatName, mediaTypes } from "./operation.ts";
import { RunningExport } from "./running-export.ts";

export interface SendOptions extends Pick<ExportControls, "charge" | "pace" | "verifyEveryMs"> {
  readonly slots: WorkSlots;
  /** The current caller of a credential. @throws Problem 401 */
  readonly verify: (presented: PresentedHeaders) => Promise<Caller>;
  /** Called for an export that was cut off after its response had begun. */
  readonly onCut: (details: { readonly err: unknown; readonly requestId: string }) => void;
  /** How long an export may run; by default 15 minutes. */
  readonly maxMs?: number | undefined;
}

const contentTypes: Readonly<Record<FormatName, string>> = {
  ndjson: `${mediaTypes.ndjson}; charset=utf-8`,
  csv: `${mediaTypes.csv}; charset=utf-8; header=present`,
};

/** @throws Problem if the export fails before its first rows */
export async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  source: ExportSource,
  { slots, verify, charge, pace, verifyEveryMs, onCut, maxMs }: SendOptions,
): Promise<FastifyReply> {
  const { socket, headers, rawHeaders } = request.raw;
  // Clients take what ends with its connection for incomplete, in chunks as well as compressed.
  const cut = (err: unknown): void => {
    if (!socket.destroyed) onCut({ err, requestId: request.id });
    socket.destroy();
  };
  const running = new RunningExport({ free: slots.take(caller.tenantId), onTimeout: cut, maxMs });
  const close = (): void => {
    socket.off("close", close);
    running.close();
  };
  socket.once("close", close);
  try {
    const rows = await running.open((signal) => source.open(caller, signal));
    const chunks = exportBody(rows, caller, {
      ...{ charge, pace, verifyEveryMs, signal: running.signal },
      verify: () => verify({ headers, rawHeaders }),
    });
    // An error before the first rows has a response of its own.
    const first = await chunks.next();
    const lines = linesOf(source, first, chunks, cut);
    const coding = preferredCoding(headers);
    reply.headers(headersOf(source, rows));
    if (coding !== "identity") reply.header("Content-Encoding", coding);
    const body =
      coding === "identity" ? Readable.from(lines, { highWaterMark: 1 }) : compressed(lines, coding);
    body.once("close", close);
    return reply.send(body);
  } catch (error) {
    const isGone = socket.destroyed;
    close();
    throw isGone ? new LoggedProblem("unavailable", "The client has disconnected.") : error;
  }
}

function headersOf({ name, format }: ExportSource, { total }: RowStream): Readonly<Record<string, string>> {
  return {
    "Content-Type": contentTypes[format],
    "Content-Disposition": `attachment; filename="${name}.${format}"`,
    "Cache-Control": "private, no-store",
    ...(total !== undefined && { "Total-Count": String(total) }),
  };
}

/** @param onError called before an error ends the response */
async function* linesOf(
  { csv }: ExportSource,
  first: IteratorResult<RowChunk, void>,
  others: AsyncGenerator<RowChunk, void>,
  onError: (error: unknown) => void,
): AsyncGenerator<string, void> {
  if (csv) yield csvHeader(csv);
  try {
    for (let next = first; !next.done; next = await others.next())
      if (next.value.lines !== "") yield next.value.lines;
  } catch (error) {
    onError(error);
    throw error;
  }
}
