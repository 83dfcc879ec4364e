// Runs a request with an Idempotency-Key once. Its answer is stored in the transaction of its writes, so that it is there
// if and only if they are. A repetition gets the stored answer, if the caller may still see what was written.
//
// While a request runs, others with its key are refused on PostgreSQL, by a lock that ends with the transaction. On SQLite
// they wait, because there is one writer. A process that is killed leaves neither a lock nor an answer.

import { sql } from "kysely";
import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { policyConditions } from "../engine/policy.ts";
import type { RecordedWrites } from "../engine/recorded-writes.ts";
import { Problem } from "../errors.ts";
import type { Encryption } from "../lib/encryption.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import type { Session, Statement, Transaction } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import type { IdempotentRequest } from "./idempotent-request.ts";
import type { StoredBytes } from "./stored-bytes.ts";
import { insertAnswer, type KeyOfCredential, selectAnswer } from "./table.ts";

/** An answer that can be given again. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the work of a request returns. */
export interface Attempt {
  readonly answer: Answer;
  /** Whether a repetition gets the same answer. If not, what was written is undone, and a repetition runs again. */
  readonly isStored: boolean;
}

export interface AnswerOnce {
  readonly answer: Answer;
  readonly isReplayed: boolean;
}

export interface RunOptions<Prepared> {
  /** Whether the request writes several rows; see `Engine.writeTogether`. */
  readonly isJoint?: boolean;
  readonly prepare?: () => Promise<Prepared>;
}

type StoredProblem = Pick<Problem, "code" | "message" | "details" | "headers">;

interface StoredAnswer {
  readonly answer?: Answer;
  readonly problem?: StoredProblem;
  /** The rows that were written, or that the answer shows with them: the name of the resource, and the row. */
  readonly rows: readonly (readonly [resource: string, row: RowValues])[];
}

/** Errors with these statuses, and those of the server, say nothing about the request itself. */
const unstoredStatuses: ReadonlySet<number> = new Set([401, 403, 413, 429]);

const tryLock = sql<boolean>`select pg_try_advisory_xact_lock(hashtextextended(${parameter((name: string) => name)}, 0))`;

export class IdempotentRequests {
  readonly #store: Store;
  readonly #engine: Engine;
  readonly #encryption: Encryption;
  readonly #bytes: StoredBytes;
  /** Compiled with the first use; PostgreSQL only. */
  #tryLock: Statement<string> | undefined;

  constructor(store: Store, engine: Engine, encryption: Encryption, bytes: StoredBytes) {
    this.#store = store;
    this.#engine = engine;
    this.#encryption = encryption;
    this.#bytes = bytes;
  }

  /**
   * @param work runs the request with writes that belong to the transaction; it may run again after a conflict. It gets
   *   what `prepare` returned
   * @param options.prepare reads what the request needs before the transaction, in which reading would hold up other
   *   writes; it does not run if the request was answered before
   * @throws Problem `idempotency_key_reused`, `idempotency_in_progress`, `conflict` for an answer that can no longer be
   *   read, `not_found` for one with rows that the caller may no longer see, `rate_limited` if the tenant has stored too
   *   much
   * @throws what `work` throws, and what it threw when the key was first used
   */
  async run<Prepared = undefined>(
    caller: Caller,
    request: IdempotentRequest,
    work: (writes: RecordedWrites, transaction: Transaction, prepared: Prepared) => Promise<Attempt>,
    { prepare, ...options }: RunOptions<Prepared> = {},
  ): Promise<AnswerOnce> {
    const key: KeyOfCredential = {
      tenantId: caller.tenantId,
      credentialId: caller.credentialId,
      key: request.key,
    };
    const prepared = prepare && (await this.#prepared(key, prepare));
    const attempt = async (writes: RecordedWrites, session: Transaction) => {
      await this.#lock(session, key);
      const earlier = await selectAnswer(this.#store).first(session, key);
      if (earlier) return { stored: this.#opened(earlier, request), isReplayed: true };
      this.#bytes.requireRoom(caller.tenantId);
      const outcome = await outcomeOf(async () => work(writes, session, (await prepared?.()) as Prepared));
      const rows = writes.written.map(({ resource, row }) => [resource.name, row] as const);
      await this.#save(session, key, request, { ...outcome, rows });
      return { stored: { ...outcome, rows }, isReplayed: false };
    };
    let done: Awaited<ReturnType<typeof attempt>>;
    try {
      done = await this.#engine.writeAtomically(caller, attempt, options);
    } catch (error) {
      if (error instanceof UnstoredAnswer) return { answer: error.answer, isReplayed: false };
      throw error;
    }
    const { stored, isReplayed } = done;
    if (isReplayed) await this.#requireVisible(caller, stored);
    if (stored.answer) return { answer: stored.answer, isReplayed };
    const { code, message, details, headers } = stored.problem!;
    throw new Problem(code, message, details, isReplayed ? { ...headers, ...replayedHeader } : headers);
  }

  /** What a request needs, or the error of reading it, unless the request was answered before. */
  async #prepared<T>(key: KeyOfCredential, prepare: () => Promise<T>): Promise<() => Promise<T>> {
    const answered = await selectAnswer(this.#store).first(this.#store.database, key);
    // Its answer may expire meanwhile.
    if (answered) return prepare;
    const [settled] = await Promise.allSettled([prepare()]);
    return async () => {
      if (settled.status === "rejected") throw settled.reason;
      return settled.value;
    };
  }

  /** @throws Problem `idempotency_in_progress` */
  async #lock(session: Session, { tenantId, credentialId, key }: KeyOfCredential): Promise<void> {
    if (!this.#store.database.isRemote) return;
    this.#tryLock ??= compile(this.#store.dialect.builder, tryLock);
    const name = JSON.stringify(["idempotency", tenantId, credentialId, key]);
    const [row] = await session.query(this.#tryLock, name);
    if (row![0] !== true) throw new Problem("idempotency_in_progress");
  }

  /** @throws Problem `idempotency_key_reused`, or `conflict` if the answer cannot be decrypted */
  #opened(
    stored: { readonly fingerprint: string; readonly answer: string },
    request: IdempotentRequest,
  ): StoredAnswer {
    if (stored.fingerprint !== request.fingerprint) throw new Problem("idempotency_key_reused");
    const text = this.#encryption.decrypt(stored.answer);
    // `#save` has made it.
    if (text !== undefined) return JSON.parse(text) as StoredAnswer;
    throw new Problem(
      "conflict",
      "The request was carried out, but its answer can no longer be read, because PORTICO_SECRET was replaced. Read the data to see the result.",
    );
  }

  async #save(
    session: Session,
    key: KeyOfCredential,
    { fingerprint }: IdempotentRequest,
    stored: StoredAnswer,
  ): Promise<void> {
    const answer = this.#encryption.encrypt(JSON.stringify(stored));
    await insertAnswer(this.#store).run(session, { ...key, fingerprint, answer, bytes: answer.length });
    this.#bytes.add(key.tenantId, answer.length);
  }

  /** @throws Problem `not_found` if the answer has rows that the caller may no longer see */
  async #requireVisible(caller: Caller, { rows }: StoredAnswer): Promise<void> {
    for (const [name, ofResource] of Map.groupBy(rows, ([resource]) => resource)) {
      const resource = this.#engine.model.resource.get(name);
      const written = ofResource.map(([_, row]) => row);
      // Nobody can say who may see rows of a resource that is no longer declared.
      if (!resource || !(await this.#areVisible(caller, resource, written)))
        throw new Problem("not_found", "You may no longer see the result of this request.");
    }
  }

  /** Whether a caller may see all rows. Of those that have been deleted, their former values decide. */
  async #areVisible(caller: Caller, resource: ResourceModel, rows: readonly RowValues[]): Promise<boolean> {
    if (!resource.isRestricted) return true;
    const ids = [...new Set(rows.map(({ id }) => String(id)))];
    const { tenantId } = caller;
    const conditions = policyConditions(caller, resource);
    const visible = await this.#store.filterIds(tenantId, resource, { ids, conditions });
    const others = ids.filter((id) => !visible.has(id));
    if ((await this.#store.filterIds(tenantId, resource, { ids: others, conditions: [] })).size > 0)
      return false;
    const deleted = rows.filter(({ id }) => !visible.has(String(id)));
    const events = deleted.map((row) => ({ row, deletedParents: [] }));
    return (await this.#engine.areVisible(caller, resource, events)).every((isVisible) => isVisible === true);
  }
}

/** The headers of an answer that was given before. */
export const replayedHeader = Object.freeze({ "Idempotent-Replayed": "true" });

/** Ends the transaction of a request whose answer is not stored: nothing of it remains. */
class UnstoredAnswer extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super("the answer is not stored");
    this.answer = answer;
  }
}

/** What came of a request. @throws an error that does not concern the request itself, so that nothing is stored */
async function outcomeOf(work: () => Promise<Attempt>): Promise<Pick<StoredAnswer, "answer" | "problem">> {
  try {
    const { answer, isStored } = await work();
    if (!isStored) throw new UnstoredAnswer(answer);
    return { answer };
  } catch (error) {
    if (!(error instanceof Problem) || !isStoredProblem(error)) throw error;
    const { code, message, details, headers } = error;
    return { problem: { code, message, details, headers } };
  }
}

/** Whether a repetition of the request gets the same error. */
export function isStoredProblem({ status }: Pick<Problem, "status">): boolean {
  return status < 500 && !unstoredStatuses.has(status);
}
