// Formats a line of the log for a terminal.

import { styleText } from "node:util";

/** The names of pino's levels, and their styles. */
const levels: Readonly<Record<number, readonly [name: string, style: Parameters<typeof styleText>[0]]>> = {
  10: ["TRACE", "gray"],
  20: ["DEBUG", "blue"],
  30: ["INFO", "green"],
  40: ["WARN", "yellow"],
  50: ["ERROR", "red"],
  60: ["FATAL", "bgRed"],
};

/**
 * Formats a line of JSON: the time, the level, the message, all other members as JSON, and the stack of an error on lines
 * of its own. A line that is no JSON object stays as it is.
 *
 * @example
 * terminalLine('{"level":30,"time":1,"msg":"request","method":"GET","path":"/posts","status":200,"durationMs":3}');
 * // "[00:00:00.001] INFO: GET /posts 200 3 ms", with colours
 */
export function terminalLine(line: string): string {
  const members = membersOf(line);
  if (members === undefined) return line;
  const { level, time, msg, err, ...others } = members;
  const [name, style] = levels[Number(level)] ?? [String(level), "green"];
  const { text, rest } = messageOf(msg, others);
  const stack = stackOf(err);
  const shown = stack === undefined && err !== undefined ? { ...rest, err } : rest;
  const details =
    Object.keys(shown).length > 0 ? ` ${styleText("gray", printable(JSON.stringify(shown)))}` : "";
  const first = `[${clock(time)}] ${styleText(style, name)}: ${styleText("cyan", printable(text))}${details}`;
  return stack === undefined ? first : `${first}\n    ${printable(stack).replaceAll("\n", "\n    ")}`;
}

/** Without control characters, with which a caller could write to the terminal. JSON does not escape all of them. */
function printable(text: string): string {
  return text.replaceAll(/(?!\n)\p{Cc}/gu, "\ufffd");
}

function stackOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("stack" in error)) return undefined;
  return String(error.stack);
}

/** The message of the line, and the members that the message does not contain. */
function messageOf(msg: unknown, members: Members): { readonly text: string; readonly rest: Members } {
  if (msg !== "request") return { text: String(msg ?? ""), rest: members };
  const { method, path, status, durationMs, ...rest } = members;
  return { text: `${method} ${path} ${status} ${durationMs} ms`, rest };
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(line: string): Members | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Members;
  } catch {
    return undefined;
  }
}

/** The time of day in the time zone of the machine, with milliseconds. */
function clock(time: unknown): string {
  const at = new Date(Number(time));
  const parts = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${parts.join(":")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}
