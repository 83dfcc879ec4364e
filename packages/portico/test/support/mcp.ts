// The client of the MCP SDK, connected to a server of the tests.

import { deepEqual } from "node:assert/strict";
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** The versions of the protocol: `legacy` begins with a handshake, `auto` takes the newest. */
export type Negotiation = "legacy" | "auto";

export async function connect(
  { url }: { readonly url: string },
  key: string,
  mode: Negotiation = "auto",
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
type Structured = any;

/** Calls a tool that must succeed. @returns the structured result, which is also in the text */
export async function call(
  client: Client,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Structured> {
  const result = await callTool(client, name, input);
  deepEqual([name, result.isError, result.isError && textOf(result)], [name, undefined, undefined]);
  if (result.structuredContent) deepEqual(JSON.parse(textOf(result)), result.structuredContent);
  return result.structuredContent;
}

/** Calls a tool that must fail. @returns the error */
export async function failure(
  client: Client,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Structured> {
  const result = await callTool(client, name, input);
  deepEqual([name, result.isError], [name, true]);
  deepEqual(JSON.parse(textOf(result)), result.structuredContent);
  return (result.structuredContent as Structured).error;
}

export async function callTool(
  client: Client,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
}

/** The first text of a result. */
export function textOf({ content: [first] }: CallToolResult): string {
  return first?.type === "text" ? first.text : "";
}

/** Posts a message as it is. */
export function post(
  { url }: { readonly url: string },
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
