// Forms with files.

import type { Answer, Portico } from "./server.ts";

export interface SentFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** An image of one pixel. */
export function png(name: string): SentFile {
  const bytes = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  return { name, type: "image/png", bytes };
}

export function textFile(name: string, content: string, type = "text/plain"): SentFile {
  return { name, type, bytes: Buffer.from(content) };
}

/** Sends a form with fields and files. */
export async function sendForm(
  server: Portico,
  path: string,
  parts: Readonly<Record<string, string | SentFile>>,
  { method = "POST", headers = {} as Record<string, string> } = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts))
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([Uint8Array.from(value.bytes)], { type: value.type }), value.name);
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${server.key}`, ...headers },
    body: form,
  });
  const text = await response.text();
  const body = text === "" ? undefined : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, body };
}

/** Announces a file and sends its content. @returns the id of the upload */
export async function uploadFile(
  server: Portico,
  resource: string,
  field: string,
  { name, type, bytes }: SentFile,
  key: string = server.key,
): Promise<string> {
  const body = { resource, field, name, type, size: bytes.length };
  const announced = await server.request("/v1/uploads", { body, key });
  if (announced.status !== 201) throw new Error(announced.text);
  const { id, url, method, headers } = announced.body;
  const sent = await fetch(url, { method, headers, body: Uint8Array.from(bytes) });
  if (sent.status !== 204) throw new Error(await sent.text());
  return id;
}
