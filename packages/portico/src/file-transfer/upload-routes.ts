// Uploads by a signed URL: `POST /v1/uploads` announces a file, and `PUT` to the address in its answer sends the
// content.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { type InputError, Problem } from "../errors.ts";
import { type FileUrls, uploadSeconds } from "../files/file-urls.ts";
import { selectFile } from "../files/table.ts";
import type { IdempotentRequests } from "../idempotency/idempotent-requests.ts";
import { idempotencyKeyOf, respondOnce } from "../idempotency/respond-once.ts";
import { isId } from "../lib/id.ts";
import type { Attribute, Model, ResourceModel } from "../model/model.ts";
import type { ServedVersion } from "../model/served-versions.ts";
import { requireUncompressed } from "../net/content-encoding.ts";
import { ReceivedBody } from "../net/received-body.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { addressOf, type FileRequest } from "./download.ts";
import { describedFile } from "./file-description.ts";
import { bytesOfUploadToken, type FormOptions } from "./received-form.ts";
import type { CanUpload } from "./uploader.ts";
import { noUpload, tooLarge } from "./uploads.ts";

export interface UploadOptions extends Omit<FormOptions, "report"> {
  readonly idempotentRequests: Pick<IdempotentRequests, "run">;
  readonly model: Model;
  readonly store: Store;
  readonly urls: FileUrls;
}

const members = ["resource", "field", "name", "type", "size"] as const;
const maxTextLength = 1_000;
const jsonType = "application/json; charset=utf-8";

/** `POST /v1/uploads` @param version that names the fields */
export function announceHandler(
  { model, uploads, urls, callerOf, charge, idempotentRequests }: UploadOptions,
  version: Pick<ServedVersion, "resource">,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const caller = callerOf(request);
    const { resource, attribute, name, type, size } = announcement(model, version, caller, request.body);
    const pay = async (): Promise<unknown> => charge(caller, Math.floor(size / bytesOfUploadToken));
    const announce = async (session?: Session): Promise<string> => {
      const id = await uploads.announce(caller, resource, attribute, { name, type, size }, session);
      const expiresAt = new Date(Date.now() + 1000 * uploadSeconds);
      reply.code(201).header("Content-Type", jsonType);
      const url = urls.uploadUrl(id, expiresAt);
      return JSON.stringify({
        ...{ id, url, method: "PUT", headers: { "Content-Type": type } },
        expiresAt: expiresAt.toISOString(),
      });
    };
    const key = idempotencyKeyOf(request);
    if (key !== undefined)
      return respondOnce(
        idempotentRequests,
        { request, reply, caller, key },
        (_writes, session) => announce(session),
        pay,
      );
    await pay();
    return announce();
  };
}

interface Announcement {
  readonly resource: ResourceModel;
  readonly attribute: Attribute;
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** @throws InvalidInput, Problem `insufficient_scope` */
function announcement(
  model: Model,
  version: Pick<ServedVersion, "resource">,
  caller: Caller,
  body: unknown,
): Announcement {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new InvalidInput([{ field: "", issue: "type", text: "must be an object" }]);
  const values = body as Readonly<Record<string, unknown>>;
  const errors: InputError[] = Object.keys(values)
    .filter((name) => !(members as readonly string[]).includes(name))
    .map((name) => ({
      field: name.slice(0, 100),
      issue: "unknown",
      message: `Unknown field \`${name.slice(0, 100)}\`.`,
    }));
  for (const name of members) {
    const error = memberError(name, Object.hasOwn(values, name) ? values[name] : undefined);
    if (error) errors.push(error);
  }
  if (errors.length > 0) throw new InvalidInput(errors);
  // They have been checked.
  const {
    resource: plural,
    field,
    name,
    type,
    size,
  } = values as Record<"resource" | "field" | "name" | "type", string> & { size: number };
  const resource = model.resources.find(
    (each) => each.segment === plural && version.resource.get(each.name)!.isExposed,
  );
  if (!resource || resource.files.length === 0)
    throw new InvalidInput([
      { field: "resource", issue: "reference", text: "is not a collection with files" },
    ]);
  // Users change some fields of their own user without a scope.
  const isOwn = resource.name === "user" && caller.userId !== null && model.selfEditable.includes(field);
  if (!isOwn) requireScope(caller, resource.scopes.write);
  const attribute = version.resource
    .get(resource.name)!
    .files.find((each) => each.name === field && !each.isInternal && !each.isReadOnly);
  if (!attribute)
    throw new InvalidInput([
      { field: "field", issue: "reference", text: `is not a field for files of ${plural}` },
    ]);
  const described = describedFile(attribute, name, type, "type");
  if ("issue" in described) throw new InvalidInput([described]);
  if (size > described.max) throw new InvalidInput([tooLarge("size", described.max)]);
  return { resource, attribute, name: described.name, type: described.type, size };
}

function memberError(name: (typeof members)[number], value: unknown): InputError | undefined {
  if (value === undefined) return { field: name, issue: "required", text: "is required" };
  if (name === "size")
    return Number.isSafeInteger(value) && (value as number) >= 0
      ? undefined
      : { field: name, issue: "type", text: "must be a whole number of bytes" };
  if (typeof value !== "string") return { field: name, issue: "type", text: "must be text" };
  if (value.length <= maxTextLength) return undefined;
  return { field: name, issue: "max", text: `must have at most ${maxTextLength} characters` };
}

/** `PUT /v1/uploads/{id}` */
export function contentHandler({
  store,
  uploads,
  urls,
  withoutTimeout,
  model,
  canUpload,
}: Omit<UploadOptions, "callerOf" | "charge" | "idempotentRequests"> & { readonly canUpload: CanUpload }) {
  return async (request: FileRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { id } = request.params;
    const { headers, raw } = request;
    if (urls.secondsLeft("uploads", addressOf(request)) === 0)
      throw new Problem("forbidden", "The address of the upload has expired or is not valid.");
    requireUncompressed(headers["content-encoding"]);
    const file = isId(id) ? await selectFile(store).first(store.database, { id }) : undefined;
    if (!file || file.status === "removed" || file.status === "cancelled") throw noUpload();
    if (!(await canUpload(file.owner_tenant, file.credential_id ?? file.uploader, file.uploader)))
      throw new Problem("forbidden", "The upload was announced with a credential that is no longer valid.");
    const type = (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
    if (type !== file.type)
      throw new Problem(
        "unsupported_media_type",
        `Send the content with the Content-Type that was announced: ${file.type}.`,
      );
    const resource = model.resources.find(({ table }) => table === file.table_name);
    const field = resource?.files.find(({ column }) => column === file.column_name)?.name ?? file.column_name;
    const expected = { id, field, type: file.type, max: file.size, size: file.size };
    if (Number(headers["content-length"] ?? 0) > file.size)
      throw new InvalidInput([tooLarge(field, file.size)]);
    const body = new ReceivedBody(raw);
    const restoreTimeout = withoutTimeout(raw);
    try {
      await uploads.receive(chunksOf(body), expected);
    } finally {
      restoreTimeout();
      body.interrupt(new Problem("malformed_request"));
      body.discard();
    }
    return reply.code(204).send();
  };
}

async function* chunksOf(body: ReceivedBody): AsyncGenerator<Buffer, void> {
  for (let chunk = await body.next(); chunk; chunk = await body.next()) yield chunk;
}
