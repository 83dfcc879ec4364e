// The server of the SDK for one request: it answers with the tools and rows that the caller may use, and calls the API.

import type {
  CallToolResult,
  ListToolsResult,
  ReadResourceResult,
  Server,
} from "@modelcontextprotocol/server";
import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { CallApi } from "./call-api.ts";
import { listedResources, listedTemplates, type ReadableRows, readOf } from "./resources.ts";
import type { Sdk } from "./sdk.ts";
import { pageOfTools } from "./tool-pages.ts";
import { requestOfCall } from "./tool-request.ts";
import { failedResult, resultOf } from "./tool-result.ts";
import type { Tool, ToolInput } from "./tools.ts";

/** What the server offers, derived from the model. */
export interface Offer {
  /** The name of the API. */
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly rows: readonly ReadableRows[];
}

/** @param onInternalError receives unexpected errors, which the caller does not see */
export function sdkServer(
  sdk: Sdk,
  offer: Offer,
  caller: Caller,
  callApi: CallApi,
  onInternalError: (error: unknown) => void,
): Server {
  const resultOfCall = async (tool: Tool, input: ToolInput): Promise<CallToolResult> => {
    try {
      return resultOf(tool, await callApi(requestOfCall(tool, input)));
    } catch (error) {
      if (error instanceof Problem) return failedResult(error);
      onInternalError(error);
      // The SDK would send the message of another error.
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, "Something went wrong on our side.");
    }
  };
  const { name, version, instructions, tools, rows } = offer;
  const server = new sdk.Server(
    { name, version },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );
  // With these schemas, other parameters are an error of the client. Without, the SDK answers "Internal error" (-32603).
  const { PaginatedRequestParams, ReadResourceRequestParams } = sdk.specTypeSchemas;
  const paginated = { params: PaginatedRequestParams };
  server.setRequestHandler("tools/list", paginated, ({ cursor }): ListToolsResult => {
    const page = pageOfTools(tools, caller, cursor);
    if (!page) throw invalidParams(sdk, "The cursor is not valid.");
    return page;
  });
  server.setRequestHandler("tools/call", ({ params }) => {
    const tool = tools.get(params.name);
    if (!tool) throw invalidParams(sdk, `There is no tool ${params.name.slice(0, 100)}.`);
    return resultOfCall(tool, params.arguments);
  });
  server.setRequestHandler("resources/list", paginated, () => ({ resources: listedResources(rows, caller) }));
  server.setRequestHandler("resources/templates/list", paginated, () => ({
    resourceTemplates: listedTemplates(rows, caller),
  }));
  const readable = { params: ReadResourceRequestParams };
  server.setRequestHandler("resources/read", readable, async ({ uri }): Promise<ReadResourceResult> => {
    const read = readOf(rows, uri);
    if (!read) throw new sdk.ResourceNotFoundError(uri);
    const result = await resultOfCall(read.tool, read.input);
    const [content] = result.content;
    const text = content?.type === "text" ? content.text : "";
    if (result.isError) throw readError(sdk, uri, text);
    return { contents: [{ uri, mimeType: "application/json", text }] };
  });
  return server;
}

/** @param text the error of the API, which becomes the data of the protocol's error */
function readError(sdk: Sdk, uri: string, text: string): Error {
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  if (error.code === "not_found") return new sdk.ResourceNotFoundError(uri);
  return new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, error.message, { error });
}

function invalidParams(sdk: Sdk, message: string): Error {
  return new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message);
}
