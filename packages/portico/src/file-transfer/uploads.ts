// Receives the contents of files, until a row takes them.

import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { invalidCredential } from "../auth/presented-credential.ts";
import { keepTenant } from "../auth/tenants/existing-tenant.ts";
import type { Caller } from "../declare/caller.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { type InputError, Problem } from "../errors.ts";
import { contradicts } from "../files/file-type.ts";
import { type ReceivedContent, receiveContent } from "../files/received-content.ts";
import { uploaderOf } from "../files/row-files.ts";
import type { FileStorage } from "../files/storage.ts";
import { storageUnavailable } from "../files/storage-failure.ts";
import {
  beginStoring,
  discardFile,
  endStoring,
  insertFile,
  maxStoringMs,
  removeCancelled,
  selectBytes,
  selectFile,
} from "../files/table.ts";
import { newId } from "../lib/id.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import type { Session, Statement } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";

/** What a sender says about a file, once it has been checked. */
export interface FileDescription {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** What the content of a file must be. */
export interface ExpectedContent {
  readonly id: string;
  /** The field that errors name. */
  readonly field: string;
  readonly type: string;
  /** Maximum size in bytes. */
  readonly max: number;
  /** Its size, if it was announced. */
  readonly size?: number;
}

/** Lets the files of a tenant be added up by one transaction at a time. SQLite has one writer. */
const lock = sql`select pg_advisory_xact_lock(hashtextextended(${parameter((tenant: string) => `files ${tenant}`)}, 0))`;

export class Uploads {
  readonly #store: Store;
  readonly #storage: FileStorage;
  readonly #maxBytes: number;
  /** Compiled with the first use; PostgreSQL only. */
  #lock: Statement<string> | undefined;

  /** @param maxBytes what the files of a tenant may take */
  constructor(store: Store, storage: FileStorage, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#store = store;
    this.#storage = storage;
  }

  /**
   * Records a file before its content arrives, so that nothing is left behind after a crash.
   * @param session of the transaction that records it; by default, it has one of its own
   * @returns its id
   * @throws Problem `payload_too_large` if the files of the tenant take too much, `invalid_credential` if it was deleted
   */
  async announce(
    caller: Caller,
    resource: ResourceModel,
    { column }: Attribute,
    file: FileDescription,
    session?: Session,
  ): Promise<string> {
    const id = newId("file");
    const announced = {
      ...{
        id,
        tenant: caller.tenantId,
        uploader: uploaderOf(caller),
        credentialId: caller.credentialId,
        now: new Date().toISOString(),
      },
      ...{ table: resource.table, column, ...file },
    };
    const record = async (own: Session): Promise<void> => {
      if (!(await keepTenant(this.#store).first(own, { id: caller.tenantId }))) throw invalidCredential();
      await insertFile(this.#store).run(own, announced);
      await this.#requireRoom(own, caller.tenantId);
    };
    await (session ? record(session) : this.#store.transaction(record));
    return id;
  }

  /** @param session of the transaction that has recorded the size of a file */
  async #requireRoom(session: Session, tenant: string): Promise<void> {
    if (this.#store.database.isRemote) {
      this.#lock ??= compile(this.#store.dialect.builder, lock);
      await session.query(this.#lock, tenant);
    }
    const taken = await selectBytes(this.#store).first(session, { tenant });
    if (Number(taken?.bytes ?? 0) <= this.#maxBytes) return;
    const message = `The files of the tenant may take ${this.#maxBytes / 1e6} MB. Delete some of them first.`;
    throw new Problem("payload_too_large", message);
  }

  /**
   * Receives the content of a file and stores it.
   * @throws Problem `validation_error` for a content that is too large or of another type, `conflict` for a file that has
   *   a content, `payload_too_large` if the files of the tenant take too much, `unavailable`
   */
  async receive(chunks: AsyncIterable<Buffer>, expected: ExpectedContent): Promise<ReceivedContent> {
    const { field, max } = expected;
    const content = await receiveContent(chunks, this.#storage.incoming, max, () => {
      throw new InvalidInput([tooLarge(field, max)]);
    });
    try {
      requireExpected(content, expected);
      await this.#storeContent(content, expected);
      return content;
    } finally {
      // The storage may have moved it. What cannot be deleted is later.
      await rm(content.path, { force: true }).catch(() => {});
    }
  }

  async #storeContent({ path, size }: ReceivedContent, { id, type }: ExpectedContent): Promise<void> {
    const now = new Date().toISOString();
    const staleBefore = new Date(Date.now() - maxStoringMs).toISOString();
    await this.#store.transaction(async (session) => {
      const begun = await beginStoring(this.#store).first(session, { id, size, now, staleBefore });
      if (!begun) throw await this.#refusal(session, id);
      // Only now is the size of a file in a form known.
      await this.#requireRoom(session, begun.owner_tenant);
    });
    let status = "pending";
    let isWanted = true;
    try {
      await this.#storage.put(id, path, type);
      status = "uploaded";
    } catch (error) {
      throw storageUnavailable(error);
    } finally {
      const stored = { id, size, status, now: new Date().toISOString() };
      const ended = await this.#store.transaction((session) =>
        endStoring(this.#store).first(session, stored),
      );
      isWanted = ended !== undefined;
    }
    if (isWanted) return;
    await this.#store.transaction((session) =>
      removeCancelled(this.#store).run(session, { id, now: new Date().toISOString() }),
    );
    throw noUpload();
  }

  /** Why the content of a file cannot be stored. */
  async #refusal(session: Session, id: string): Promise<Problem> {
    const { status } = (await selectFile(this.#store).first(session, { id })) ?? {};
    if (status === undefined || status === "removed" || status === "cancelled") return noUpload();
    return new Problem("conflict", "The content of this upload has been sent already.");
  }

  /** Removes files that no row has taken. */
  async discard(ids: readonly string[]): Promise<void> {
    const now = new Date().toISOString();
    await this.#store.transaction(async (session) => {
      for (const id of ids) await discardFile(this.#store).run(session, { id, now });
    });
  }
}

export function noUpload(): Problem {
  return new Problem("not_found", "There is no such upload.");
}

export function tooLarge(field: string, max: number): InputError {
  return { field, issue: "max", text: `must have at most ${max} bytes` };
}

/** @throws InvalidInput */
function requireExpected({ size, start }: ReceivedContent, expected: ExpectedContent): void {
  const { field, type } = expected;
  if (expected.size !== undefined && size !== expected.size) {
    const issue = size < expected.size ? "min" : "max";
    throw new InvalidInput([{ field, issue, text: `must have ${expected.size} bytes, as announced` }]);
  }
  if (size > 0 && contradicts(type, start))
    throw new InvalidInput([{ field, issue: "format", text: `is not of the type ${type}` }]);
}
