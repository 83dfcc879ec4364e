// Events as they happen: a subscription of GraphQL over server-sent events, which is opened again when it is interrupted.

import { errorOfBody, notOfTheApi, PorticoError } from "./error.ts";
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
  const request = new Blob([JSON.stringify(body)], { type: "application/json" });
  let lastId = after;
  let wasOpen = false;
  for (let failures = 0; ; failures += 1) {
    let error: unknown;
    const response = await transport
      .send(
        {
          method: "POST",
          path: "/graphql",
          body: request,
          accept: "text/event-stream",
          headers: lastId === undefined ? {} : { "last-event-id": lastId },
          read: (opened) => opened,
        },
        { signal, idempotencyKey: false },
      )
      .catch((thrown: unknown) => {
        error = thrown;
      });
    if (response) {
      wasOpen = true;
      lastId ??= response.headers.get("last-event-id") ?? undefined;
      opened(response, onOpen);
      try {
        for await (const event of eventsOf(response)) {
          failures = 0;
          lastId = event.id;
          yield { id: event.id, type, data: event.data };
        }
      } catch (thrown) {
        // Otherwise the connection broke.
        if (thrown instanceof PorticoError) error = thrown;
      }
    }
    signal?.throwIfAborted();
    if (error !== undefined && !canContinue(error, wasOpen)) throw error;
    await backOff(failures, error, signal);
  }
}

/** An exception in the function of the caller ends the subscription. */
function opened(response: Response, onOpen: (() => void) | undefined): void {
  try {
    onOpen?.();
  } catch (thrown) {
    void response.body?.cancel();
    throw thrown;
  }
}

/** @throws PorticoError for an error of the subscription, and for what is no event */
async function* eventsOf(response: Response): AsyncGenerator<Pick<AnyEvent, "id" | "data">> {
  let id = "";
  for await (const line of linesOf(response.body!, idleMs)) {
    if (line.startsWith("id: ")) id = line.slice(4);
    if (!line.startsWith("data: ")) continue;
    let result: Result | null;
    try {
      result = JSON.parse(line.slice(6));
    } catch (cause) {
      throw notOfTheApi(response.status, cause);
    }
    if (result?.errors) throw errorOfBody(result.errors[0], response);
    const [data] = Object.values(result?.data ?? {});
    if (!data) throw notOfTheApi(response.status, "An event has no row.");
    yield { id, data };
  }
}

/** Whether a new stream can continue one that ended with this error. */
function canContinue(error: unknown, wasOpen: boolean): boolean {
  // The function that returns the credential could not reach its server, as `fetch` reports it.
  if (!(error instanceof PorticoError)) return wasOpen && error instanceof TypeError;
  if (isTransient(error)) return true;
  const { status, code } = error;
  // Of the stream: a restart, a slow reader, a quota, an expired token.
  return status === 200 && ["unavailable", "rate_limited", "invalid_credential"].includes(code);
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
