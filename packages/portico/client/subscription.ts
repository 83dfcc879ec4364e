// Events as they happen: a subscription of GraphQL over server-sent events, which is opened again when it is interrupted.

import { errorOfBody, PorticoError } from "./error.ts";
import { linesOf } from "./lines.ts";
import { backOff, isTransient, type Transport } from "./transport.ts";

type Members = Readonly<Record<string, unknown>>;

export interface AnySubscribeOptions {
  /** The filters of the list. */
  readonly filter?: Members | undefined;
  /** Only events of rows with this parent: `{ postId: "post_01k..." }`. */
  readonly parent?: Readonly<Record<string, string>> | undefined;
  /** The fields of the rows, by default all of their own. */
  readonly fields?: readonly string[] | undefined;
  /** The id of an event: those after it come first. */
  readonly after?: string | undefined;
  /** Ends the subscription; so does leaving the loop. */
  readonly signal?: AbortSignal | undefined;
  /** Called when it is open, and again after an interruption. Every write after the first call is an event. */
  readonly onOpen?: (() => void) | undefined;
}

export interface AnyEvent {
  /** For `after`. */
  readonly id: string;
  readonly type: string;
  /** The row as it was written. */
  readonly data: Members;
}

interface Result {
  readonly data?: Readonly<Record<string, Members>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code: string } }[];
  readonly extensions?: { readonly eventId: string };
}

/** The server sends a comment every 15 s. */
const idleMs = 45_000;

export async function* subscribe(
  transport: Transport,
  type: string,
  { filter, parent = {}, fields, after, signal, onOpen }: AnySubscribeOptions = {},
): AsyncGenerator<AnyEvent> {
  const [resource = "", action = ""] = type.split(".");
  const name = resource.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  // As `pascalCase` of the GraphQL schema.
  const typeName = capitalize(name.replace(/^oauth(?![a-z])/, "OAuth"));
  const given = [
    ...Object.entries(parent).map(([key, id]) => `${key}:${JSON.stringify(id)}`),
    ...(filter ? ["filter:$filter"] : []),
  ];
  const query = `subscription${filter ? `($filter:${typeName}Filter)` : ""}{${name}${capitalize(action)}${given.length > 0 ? `(${given})` : ""}{${selectionOf(fields ?? [])}}}`;
  const body = {
    query,
    ...(filter && { variables: { filter: filterOf(filter) } }),
    // Without names of fields, which are not known at run time, the row is as REST shows it.
    ...(!fields && { extensions: { wholeRow: true } }),
  };
  let lastId = after;
  for (let failures = 0; ; failures += 1) {
    let error: unknown;
    try {
      const response = await transport.send(
        {
          method: "POST",
          path: "/graphql",
          body,
          accept: "text/event-stream",
          headers: lastId === undefined ? {} : { "last-event-id": lastId },
          read: (opened) => opened,
        },
        { signal, idempotencyKey: false },
      );
      lastId ??= response.headers.get("last-event-id") ?? undefined;
      onOpen?.();
      let id: string | undefined;
      for await (const line of linesOf(response.body!, idleMs)) {
        if (line.startsWith("id: ")) id = line.slice(4);
        if (!line.startsWith("data: ")) continue;
        const { data, errors } = JSON.parse(line.slice(6)) as Result;
        if (errors) throw errorOfBody(errors[0], response);
        failures = 0;
        lastId = id;
        yield { id: id!, type, data: Object.values(data!)[0]! };
      }
    } catch (thrown) {
      signal?.throwIfAborted();
      if (thrown instanceof PorticoError && !isTransient(thrown) && !canResume(thrown)) throw thrown;
      error = thrown;
    }
    signal?.throwIfAborted();
    await backOff(failures, error, signal);
  }
}

/** Whether a new stream can continue one that ended with this error: a restart, a slow reader, a quota, an expired token. */
function canResume({ status, code }: PorticoError): boolean {
  if (status !== 200) return false;
  return code === "unavailable" || code === "rate_limited" || code === "invalid_credential";
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `["title", "author.name"]` -> `id title author{id name}` */
function selectionOf(fields: readonly string[]): string {
  const nested = new Map<string, string[]>();
  const own = new Set(["id"]);
  for (const field of fields) {
    const [first = "", ...rest] = field.split(".");
    if (rest.length > 0) nested.set(first, [...(nested.get(first) ?? []), rest.join(".")]);
    else own.add(first);
  }
  return [...own, ...[...nested].map(([name, inner]) => `${name}{${selectionOf(inner)}}`)].join(" ");
}

/** `{ createdAt: { gte }, authorId: null }` -> `{ createdAtGte, authorIdIsNull: true }` */
function filterOf(filter: Members): Members {
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]): [string, unknown][] => {
      if (value === null) return [[`${name}IsNull`, true]];
      if (typeof value !== "object" || Array.isArray(value)) return [[name, value]];
      return Object.entries(value as Members).map(([operator, operand]) => [
        name + capitalize(operator),
        operand,
      ]);
    }),
  );
}
