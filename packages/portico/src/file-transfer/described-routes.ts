// The routes of signed URLs, as descriptions of the API have them.

import type { DescribedRoute } from "../api/described-route.ts";
import { type Parameter, pathParameter, queryParameter } from "../model/operation-parameters.ts";

const signed: readonly Parameter[] = [
  pathParameter("id"),
  queryParameter("expires", { type: "string" }, "When the address expires, in seconds since 1970."),
  queryParameter("signature", { type: "string" }, "The signature of the address."),
];

const content = { type: "string", format: "binary", description: "The content of the file." };
const tags = ["Accept-Ranges", "Cache-Control", "ETag"];

export const fileRoutes: readonly DescribedRoute[] = [
  {
    id: "downloadFile",
    method: "GET",
    path: "/v1/files/{id}",
    tag: "Files",
    summary: "Download a file",
    description: "Returns the content of a file, for anyone who has its signed URL, which a row shows.",
    access: "open",
    parameters: signed,
    responses: {
      200: {
        description: "The content.",
        content: { "*/*": content },
        headers: [...tags, "Content-Disposition"],
      },
      206: {
        description: "The part of the content that `Range` requests.",
        content: { "*/*": content },
        headers: [...tags, "Content-Disposition", "Content-Range"],
      },
      304: { description: "Not modified: the client already has the content.", headers: tags },
    },
    errors: ["forbidden", "not_found", "range_not_satisfiable", "internal_error", "unavailable"],
  },
  {
    id: "uploadFile",
    method: "PUT",
    path: "/v1/uploads/{id}",
    tag: "Uploads",
    summary: "Upload the content of a file",
    description: "Receives the content of a file, for anyone who has the signed URL of the upload.",
    access: "open",
    parameters: signed,
    inputs: { "*/*": content },
    responses: { 204: { description: "The content was received." } },
    errors: [
      ...(["malformed_request", "forbidden", "not_found", "request_timeout", "conflict"] as const),
      ...(["payload_too_large", "unsupported_media_type", "validation_error"] as const),
      ...(["internal_error", "unavailable"] as const),
    ],
  },
];
