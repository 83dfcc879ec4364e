// Files in the input of a write: each is uploaded to a signed URL, and its id takes its place.

import { readObject } from "./body.ts";
import { PorticoError } from "./error.ts";
import type { RequestOptions, Transport } from "./transport.ts";

type Members = Readonly<Record<string, unknown>>;

interface Upload {
  readonly id: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Uploads the files of an input, and replaces them by their ids. The server removes uploads that no row refers to.
 *
 * @param collection the version that names its fields, `/v1`, and its segment, `posts`
 */
export async function withUploads(
  transport: Transport,
  { prefix, segment }: { readonly prefix: string; readonly segment: string },
  input: Members,
  { signal, timeoutMs }: RequestOptions = {},
): Promise<Members> {
  const members = Object.entries(input).map(async ([field, value]) => {
    if (!(value instanceof Blob)) return [field, value] as const;
    const type = value.type.split(";")[0] || "application/octet-stream";
    const name = value instanceof File ? value.name : field;
    const options = { signal, timeoutMs, idempotencyKey: false } as const;
    const { id, url, method, headers } = await transport.send<Upload>(
      {
        method: "POST",
        path: `${prefix}/uploads`,
        isRepeatable: true,
        body: { resource: segment, field, name, type, size: value.size },
        // As the server describes it.
        read: async (response) => (await readObject(response)) as unknown as Upload,
      },
      options,
    );
    await transport
      .send({ method, url, headers, body: value, read: () => undefined }, options)
      .catch((error: unknown) => {
        // The response to an earlier attempt was lost.
        if (!(error instanceof PorticoError && error.code === "conflict")) throw error;
      });
    return [field, id] as const;
  });
  return Object.fromEntries(await Promise.all(members));
}
