// Bodies of requests to resources as forms with files. Each file is uploaded as it arrives; what follows is a body like any
// other, with the ids of the uploads.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { Problem } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import { maxFileBytes } from "../model/file-rules.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import { requireUncompressed } from "../net/content-encoding.ts";
import { ReceivedBody } from "../net/received-body.ts";
import { describedFile } from "./file-description.ts";
import { type FormFile, readForm } from "./form.ts";
import { bodyOfForm, requireSingle } from "./form-values.ts";
import type { Uploads } from "./uploads.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The resource whose rows a body describes, which may be a form with files. */
    takesForms?: ResourceModel;
  }
  interface FastifyRequest {
    /** The ids of the files that came with the body. */
    receivedFiles: readonly string[] | undefined;
    /** What the same body has in common each time it is sent, if that is not the parsed body. */
    bodyIdentity: unknown;
  }
}

export interface FormOptions {
  readonly uploads: Uploads;
  readonly callerOf: (request: FastifyRequest) => Caller;
  /** Takes tokens of the caller's quota, also if there are none. */
  readonly charge: (caller: Caller, tokens: number) => unknown;
  readonly withoutTimeout: (request: FastifyRequest["raw"]) => () => void;
  readonly report: Report;
}

/** Fields and headers of parts, beside the files. */
const maxOtherBytes = 2 * 1024 * 1024;
/** The bytes of files that cost one token. */
export const bytesOfUploadToken = 1e6;

/** Lets the routes that say so take forms. */
export function acceptForms(routes: FastifyInstance, options: FormOptions): void {
  routes.decorateRequest("receivedFiles", undefined);
  routes.decorateRequest("bodyIdentity", undefined);
  routes.addContentTypeParser("multipart/form-data", async (request: FastifyRequest) => {
    const resource = request.route.config.takesForms;
    if (!resource) throw new Problem("unsupported_media_type");
    requireUncompressed(request.headers["content-encoding"]);
    return new ReceivedForm(request, resource, options).read();
  });
  const discard = async ({ receivedFiles = [] }: FastifyRequest): Promise<void> => {
    if (receivedFiles.length === 0) return;
    // Those that a row has taken stay.
    await options.uploads
      .discard(receivedFiles)
      .catch((err: unknown) =>
        options.report("uploads of a request cannot be removed; they are later", { err }),
      );
  };
  routes.addHook("preParsing", (request, reply, payload, done) => {
    // handled: it catches every error. A response to a client that is gone is closed without being sent.
    if (request.route.config.takesForms) reply.raw.once("close", () => void discard(request));
    done(null, payload);
  });
}

class ReceivedForm {
  readonly #request: FastifyRequest;
  readonly #resource: ResourceModel;
  readonly #options: FormOptions;
  readonly #caller: Caller;
  /** The files, with what identifies them when the request is repeated. */
  readonly #files: { readonly field: string; readonly id: string; readonly identity: readonly unknown[] }[] =
    [];
  readonly #ids: string[] = [];

  constructor(request: FastifyRequest, resource: ResourceModel, options: FormOptions) {
    this.#request = request;
    this.#resource = resource;
    this.#options = options;
    this.#caller = options.callerOf(request);
  }

  /** @returns the body that the form describes */
  async read(): Promise<Record<string, unknown>> {
    const { raw, headers } = this.#request;
    requireScope(this.#caller, this.#resource.scopes.write);
    const { files: attributes } = this.#resource;
    const max = attributes.reduce((sum, each) => sum + maxBytesOf(each), maxOtherBytes);
    const requireSize = (bytes: number): void => {
      if (bytes > max)
        throw new Problem("payload_too_large", `The body is larger than its files may be: ${max} bytes.`);
    };
    requireSize(Number(headers["content-length"] ?? 0));
    this.#request.receivedFiles = this.#ids;
    const body = new ReceivedBody(raw);
    const restoreTimeout = this.#options.withoutTimeout(raw);
    let bytes = 0;
    let fields: Awaited<ReturnType<typeof readForm>>["fields"];
    try {
      ({ fields } = await readForm(
        headers,
        async () => {
          const chunk = await body.next();
          // What belongs to no part has no other bound.
          bytes += chunk?.length ?? 0;
          requireSize(bytes);
          return chunk;
        },
        (file) => this.#receive(file),
      ));
    } catch (error) {
      await this.#options.uploads.discard(this.#ids);
      throw error;
    } finally {
      restoreTimeout();
      // After a failure, nobody waits for the rest.
      body.interrupt(new Problem("malformed_request"));
      body.discard();
    }
    const members = bodyOfForm(this.#resource, fields);
    this.#request.bodyIdentity = { members, files: this.#files.map(({ identity }) => identity) };
    requireSingle([...members.map(([name]) => name), ...this.#files.map(({ field }) => field)]);
    return Object.fromEntries([...members, ...this.#files.map(({ field, id }) => [field, id] as const)]);
  }

  async #receive({ field, name, type, content }: FormFile): Promise<void> {
    const attribute = this.#resource.attribute.get(field);
    if (!attribute || attribute.isInternal || attribute.isReadOnly || attribute.field.kind !== "file")
      throw new InvalidInput([
        { field: field.slice(0, 100), issue: "unknown", text: "is not a field for files" },
      ]);
    const file = describedFile(attribute, name, type);
    if ("issue" in file) throw new InvalidInput([file]);
    const { uploads, charge } = this.#options;
    const announced = { name: file.name, type: file.type, size: 0 };
    const id = await uploads.announce(this.#caller, this.#resource, attribute, announced);
    this.#ids.push(id);
    const { size, sha256 } = await uploads.receive(content, { id, field, type: file.type, max: file.max });
    this.#files.push({ field, id, identity: [field, file.name, file.type, size, sha256] });
    await charge(this.#caller, Math.floor(size / bytesOfUploadToken));
  }
}

function maxBytesOf({ field }: Attribute): number {
  return field.kind === "file" ? maxFileBytes(field.options) : 0;
}
