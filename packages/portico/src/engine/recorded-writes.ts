// Writes that remember the rows they have written, and those that they show with them.

import type { Caller } from "../declare/caller.ts";
import type { Resource } from "../declare/resource.ts";
import type { Rows } from "../declare/rows.ts";
import type { ResourceModel } from "../model/model.ts";
import type { ReadOne } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";
import type { Transaction } from "../store/database.ts";
import { awaitedRows } from "./awaited-rows.ts";
import { nestedIds, nestedRows } from "./nested-rows.ts";
import type { WriteDependencies } from "./write-context.ts";
import type { WriteResult } from "./write-result.ts";
import { WriteTransaction } from "./write-transaction.ts";
import { Writes } from "./writes.ts";

export interface WrittenRow {
  readonly resource: ResourceModel;
  /** The row after the write; before it, if it was deleted. Of a row that was only shown, its id. */
  readonly row: RowValues;
}

export class RecordedWrites extends Writes {
  readonly #dependencies: WriteDependencies;
  readonly #transaction: Transaction;
  readonly #written: WrittenRow[] = [];

  constructor(dependencies: WriteDependencies, transaction: Transaction) {
    super(dependencies, {
      session: transaction,
      transaction,
      run: (work) => transaction.nested(work),
    });
    this.#dependencies = dependencies;
    this.#transaction = transaction;
  }

  get written(): readonly WrittenRow[] {
    return this.#written;
  }

  /** Runs several writes: if one of them throws, nothing of them remains. */
  async together<T>(work: (writes: Writes) => Promise<T>): Promise<T> {
    return this.#transaction.nested(async (part) => {
      const writes = new RecordedWrites(this.#dependencies, part);
      const result = await work(writes);
      this.#written.push(...writes.written);
      return result;
    });
  }

  /**
   * Runs code of the app with operations on rows, restricted by the policies of the caller: if it throws, nothing of it
   * remains.
   */
  runCode<T>(caller: Caller, now: string, code: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#transaction.nested(async (part) => {
      const written: WrittenRow[] = [];
      const { callerRows } = new WriteTransaction(this.#dependencies, part, caller, { now });
      const rows = this.#recordedRows(callerRows, written);
      const result = await code(awaitedRows(rows, (operation) => part.awaited?.(operation) ?? operation));
      this.#written.push(...written);
      return result;
    });
  }

  override async create(...[caller, resource, ...input]: Parameters<Writes["create"]>): Promise<WriteResult> {
    return this.#record(resource, await super.create(caller, resource, ...input));
  }

  override async replace(
    ...[caller, resource, ...input]: Parameters<Writes["replace"]>
  ): Promise<WriteResult> {
    return this.#record(resource, await super.replace(caller, resource, ...input));
  }

  override async update(...[caller, resource, ...input]: Parameters<Writes["update"]>): Promise<WriteResult> {
    return this.#record(resource, await super.update(caller, resource, ...input));
  }

  override async runAction(
    ...[caller, resource, ...input]: Parameters<Writes["runAction"]>
  ): Promise<WriteResult> {
    return this.#record(resource, await super.runAction(caller, resource, ...input));
  }

  override async runCollectionAction(
    ...[caller, resource, action, body, parentId]: Parameters<Writes["runCollectionAction"]>
  ): Promise<string> {
    const text = await super.runCollectionAction(caller, resource, action, body, parentId);
    // What its answer says belongs to the parent.
    const { parent } = resource;
    if (parent) this.#written.push({ resource: parent.reference!.target, row: { id: parentId } });
    return text;
  }

  override async delete(...[caller, resource, ...input]: Parameters<Writes["delete"]>): Promise<RowValues> {
    const row = await super.delete(caller, resource, ...input);
    this.#written.push({ resource, row });
    return row;
  }

  override async getAfterWrite(caller: Caller, read: ReadOne): Promise<string> {
    const text = await super.getAfterWrite(caller, read);
    const selection = nestedIds(read.resource, read.selection);
    if (!selection) return text;
    const ids = JSON.parse(await super.getAfterWrite(caller, { ...read, selection }));
    for (const { resource, id } of nestedRows(read.selection, ids))
      this.#written.push({ resource, row: { id } });
    return text;
  }

  /** The same operations, which add the rows that they return. */
  #recordedRows(rows: Rows, written: WrittenRow[]): Rows {
    const add = <Row extends RowValues>({ name }: Resource, row: Row): Row => {
      // The operation has found it.
      written.push({ resource: this.#dependencies.model.resource.get(name)!, row });
      return row;
    };
    const addFound = <Row extends RowValues>(resource: Resource, row: Row | undefined): Row | undefined =>
      row && add(resource, row);
    return {
      get unrestricted() {
        return rows.unrestricted;
      },
      get: async (resource, id) => addFound(resource, await rows.get(resource, id)),
      first: async (resource, ...args) => addFound(resource, await rows.first(resource, ...args)),
      list: async (resource, ...args) => {
        const listed = await rows.list(resource, ...args);
        // There may be many.
        for (const { id } of listed as readonly RowValues[]) add(resource, { id });
        return listed;
      },
      count: rows.count,
      create: async (resource, input) => add(resource, await rows.create(resource, input)),
      update: async (resource, id, changes) => add(resource, await rows.update(resource, id, changes)),
      updateMany: rows.updateMany,
      delete: rows.delete,
      deleteMany: rows.deleteMany,
    };
  }

  #record(resource: ResourceModel, result: WriteResult): WriteResult {
    this.#written.push({ resource, row: result.row });
    return result;
  }
}
