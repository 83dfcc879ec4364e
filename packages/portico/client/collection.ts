// The methods of collections. At run time the client knows no resources: it derives paths from names.

import { readBody, readObject } from "./body.ts";
import { notOfTheApi } from "./error.ts";
import { exportRows } from "./export.ts";
import { queryString } from "./query.ts";
import type { RequestOptions, Transport } from "./transport.ts";
import { withUploads } from "./upload.ts";

type Members = Readonly<Record<string, unknown>>;
type Row = Readonly<Record<string, unknown>>;

export interface AnyPage {
  readonly data: readonly Row[];
  readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
}

/** `apiKeys` -> `api-keys` */
function segmentOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * An id as a segment of a path. Encoded dots would still be resolved: `/posts/../api-keys` is `/api-keys`.
 *
 * @throws TypeError for what no id is, and for what would make another path of it
 */
export function idSegment(id: unknown): string {
  if (typeof id === "string" && !/^\.{0,2}$/.test(id)) return encodeURIComponent(id);
  throw new TypeError(`${JSON.stringify(id)} is not an id.`);
}

async function readPage(response: Response): Promise<AnyPage> {
  const page = (await readObject(response)) as unknown as AnyPage;
  if (Array.isArray(page.data) && typeof page.pagination?.hasMore === "boolean") return page;
  throw new SyntaxError("It is no page.");
}

/** @param container the path of the row that it is nested under: `/projects/project_01k...` */
export function collection(transport: Transport, version: string, container: string, name: string): unknown {
  const segment = segmentOf(name);
  const prefix = `/${version}`;
  const path = `${prefix}${container}/${segment}`;
  const rowPath = (id: string): string => `${prefix}/${segment}/${idSegment(id)}`;

  const list = (query?: Members, options?: RequestOptions): Promise<AnyPage> =>
    transport.send({ method: "GET", path: path + queryString(query), read: readPage }, options);

  async function* all(query: Members = {}, options?: RequestOptions): AsyncGenerator<Row> {
    let page: AnyPage | undefined;
    for (let number = Number(query["page"] ?? 1); ; number += 1) {
      const cursor = page?.pagination.nextCursor ?? undefined;
      const next = page && (cursor === undefined ? { page: number } : { cursor });
      page = await list(
        { limit: query["perPage"] === undefined ? 100 : undefined, ...query, ...next },
        options,
      );
      // Otherwise the same page would come again and again.
      if (cursor !== undefined && page.pagination.nextCursor === cursor)
        throw notOfTheApi(200, "A page is followed by itself.");
      yield* page.data;
      if (!page.pagination.hasMore) return;
    }
  }

  const write = async (
    method: string,
    target: string,
    body: unknown,
    options?: RequestOptions,
    read: (response: Response) => Promise<unknown> = readObject,
  ) =>
    transport.send(
      {
        method,
        path: target,
        body: await withUploads(transport, { prefix, segment }, (body ?? {}) as Members, options),
        read,
      },
      options,
    );
  const remove = (target: string, options?: RequestOptions) =>
    transport.send({ method: "DELETE", path: target, read: readBody }, options);

  const methods: Readonly<Record<string, unknown>> = {
    list,
    all,
    get: (id: string, query?: Members, options?: RequestOptions) =>
      transport.send({ method: "GET", path: rowPath(id) + queryString(query), read: readObject }, options),
    create: (input: Members, options?: RequestOptions) => write("POST", path, input, options),
    replace: (id: string, input: Members, options?: RequestOptions) =>
      write("PUT", rowPath(id), input, options),
    update: (id: string, changes: Members, options?: RequestOptions) =>
      write("PATCH", rowPath(id), changes, options),
    delete: (id: string, options?: RequestOptions) => remove(rowPath(id), options),
    deleteAll: (options?: RequestOptions) => remove(path, options),
    export: (query?: Members, options?: RequestOptions) =>
      exportRows(transport, `${prefix}/exports/${segment}`, query, options),
    import: (rows: Iterable<Members>, query?: Members, options?: RequestOptions) =>
      transport.send(
        {
          method: "POST",
          path: `${prefix}/imports/${segment}${queryString(query)}`,
          body: new Blob([...rows].map((row) => `${JSON.stringify(row)}\n`)),
          headers: { "content-type": "application/x-ndjson" },
          read: readObject,
        },
        { ...options, idempotencyKey: false },
      ),
  };

  /** POST to `/posts/{id}/SEGMENT` for an action on a row, which its id begins with, or to `/posts/SEGMENT`. */
  const action =
    (action: string) =>
    (...words: readonly unknown[]): Promise<unknown> => {
      const [id, input, options] = typeof words[0] === "string" ? words : [undefined, ...words];
      const target = `${id === undefined ? path : rowPath(id as string)}/${segmentOf(action)}`;
      // The server refuses an idempotency key here: to repeat a test of an endpoint, another test is created.
      const isRepeatable = !(segment === "webhook-endpoints" && action === "tests");
      const own: RequestOptions = isRepeatable ? {} : { idempotencyKey: false };
      return write("POST", target, input, { ...own, ...(options as RequestOptions) }, readBody);
    };

  // A call returns the collections under a row: `client.projects(id).issues`.
  const nested = (id: string): unknown =>
    byName((name) => collection(transport, version, `/${segment}/${idSegment(id)}`, name));
  return byName((name) => (Object.hasOwn(methods, name) ? methods[name] : action(name)), nested);
}

/**
 * An object whose members are created when they are read. `then`, for which `await` asks, `toJSON` and the members of every
 * object are not requests.
 */
export function byName(member: (name: string) => unknown, target: object = {}): unknown {
  return new Proxy(target, {
    get: (_, name) =>
      typeof name === "symbol" || name in Object.prototype
        ? Reflect.get(target, name)
        : name === "then" || name === "toJSON"
          ? undefined
          : member(name),
  });
}
