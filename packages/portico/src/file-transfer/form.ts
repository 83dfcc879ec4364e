// Reads `multipart/form-data` (RFC 7578) as it arrives: fields are kept, files are passed on.

import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { Problem } from "../errors.ts";
import type { FormField } from "./form-values.ts";

/** A file in a form. */
export interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly type: string;
  readonly content: Readable;
}

export interface Form {
  readonly fields: readonly FormField[];
}

/** Receives the chunks of a body; undefined at its end. */
export type NextChunk = () => Promise<Buffer | undefined>;

/** As much as a JSON body may have. */
const maxFieldBytes = 1024 * 1024;
const maxFields = 2_000;
const maxFiles = 20;

/**
 * @param onFile reads the content of a file
 * @throws Problem `malformed_request`, `payload_too_large`
 * @throws what `onFile` throws, once no more files are read
 */
export async function readForm(
  headers: IncomingHttpHeaders,
  next: NextChunk,
  onFile: (file: FormFile) => Promise<void>,
): Promise<Form> {
  const reading = new FormReading(headers, onFile);
  try {
    return await reading.read(next);
  } finally {
    await reading.end();
  }
}

class FormReading {
  readonly #parser: BusboyInstance;
  readonly #onFile: (file: FormFile) => Promise<void>;
  readonly #fields: FormField[] = [];
  readonly #contents: Readable[] = [];
  readonly #files: Promise<void>[] = [];
  readonly #failed = Promise.withResolvers<never>();
  #fieldBytes = 0;

  constructor(headers: IncomingHttpHeaders, onFile: (file: FormFile) => Promise<void>) {
    this.#onFile = onFile;
    // handled: `read` waits for it; afterwards nobody does.
    this.#failed.promise.catch(() => {});
    this.#parser = parserOf(headers);
    this.#parser
      .on("field", (name: string | undefined, value, isNameCut, isValueCut, _encoding, type) =>
        name === undefined
          ? this.#fail(withoutName())
          : this.#addField(name, value, isNameCut || isValueCut, type),
      )
      .on("file", (field: string | undefined, content, name, _encoding, type) =>
        this.#addFile({ field, content, name: name ?? "", type }),
      )
      .on("error", () => this.#fail(new Problem("malformed_request", "The body is not a form.")));
    for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
      this.#parser.on(limit, () => this.#fail(tooManyParts()));
  }

  async read(next: NextChunk): Promise<Form> {
    const finished = once(this.#parser, "finish");
    // handled: the error is that of the parser, which `#failed` reports.
    finished.catch(() => {});
    for (let chunk = await this.#orFailure(next()); chunk; chunk = await this.#orFailure(next()))
      if (!this.#parser.write(chunk)) await this.#orFailure(once(this.#parser, "drain"));
    this.#parser.end();
    await this.#orFailure(finished);
    await Promise.all(this.#files);
    return { fields: this.#fields };
  }

  /** Ends what is still being read, after a failure. */
  async end(): Promise<void> {
    for (const content of this.#contents) if (!content.readableEnded) content.destroy(incomplete());
    this.#parser.destroy();
    await Promise.allSettled(this.#files);
  }

  #orFailure<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed.promise]);
  }

  #addField(name: string, value: string, isCut: boolean, type: string): void {
    this.#fieldBytes += name.length + value.length;
    if (isCut || this.#fieldBytes > maxFieldBytes) this.#fail(new Problem("payload_too_large"));
    else this.#fields.push({ name, value, isJson: /^application\/json\b/i.test(type) });
  }

  #addFile({ field, ...file }: Omit<FormFile, "field"> & { readonly field: string | undefined }): void {
    const { content, name } = file;
    this.#contents.push(content);
    // The reader gets the error, which would end the process if there were none.
    content.on("error", () => {});
    if (field === undefined) return void this.#fail(withoutName());
    // A form sends a file without a name where none was chosen.
    if (name === "") return void content.resume();
    const work = this.#onFile({ field, ...file });
    this.#files.push(work);
    // handled: here, and where all files are waited for.
    work.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#failed.reject(error);
  }
}

/** @throws Problem `malformed_request` for a `Content-Type` without a boundary */
function parserOf(headers: IncomingHttpHeaders): BusboyInstance {
  try {
    return new Busboy({
      // The caller has found the type in them.
      headers: headers as BusboyHeaders,
      isPartAFile: (_field, _type, name) => name !== undefined,
      preservePath: true,
      limits: {
        ...{ fieldNameSize: 1_000, fieldSize: maxFieldBytes, fields: maxFields, files: maxFiles },
        ...{ parts: maxFields + maxFiles, headerPairs: 100, headerSize: 16 * 1024 },
      },
    });
  } catch {
    throw new Problem(
      "malformed_request",
      "The type of the body has no boundary: multipart/form-data; boundary=...",
    );
  }
}

function tooManyParts(): Problem {
  return new Problem("payload_too_large", `A form may have ${maxFields} fields and ${maxFiles} files.`);
}

function withoutName(): Problem {
  return new Problem("malformed_request", "A part of the form has no name.");
}

function incomplete(): Problem {
  return new Problem("malformed_request", "The body ended before the end of a file.");
}
