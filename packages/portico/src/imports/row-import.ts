// Writes lines as rows, in groups of one transaction. Each line is written with the checks, hooks, policies and events of a
// create or an update of its own. A group is first tried without savepoints, which is several times as fast on PostgreSQL.
// If the database, a hook or a policy refuses a line, the group is written again with a savepoint for each line.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { FailedWrite } from "../engine/write-scope.ts";
import type { Writes } from "../engine/writes.ts";
import { isUnavailable, Problem, validationError } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { Attribute } from "../model/model.ts";
import { isPlainObject, type PlainObject } from "../query/plain-object.ts";
import { MissingSchema } from "../store/database.ts";
import { errorIn } from "../versions/errors.ts";
import { currentBody } from "../versions/rows.ts";
import type { ImportedLine } from "./imported-line.ts";
import { isExportedFile, keyValue, parentOf, without } from "./line-members.ts";
import { ImportOutcome } from "./outcome.ts";
import type { ImportRequest } from "./parse-request.ts";

/** How long one transaction writes lines before it ends, because hooks are slow; others wait for it meanwhile. */
const maxGroupMs = 1_000;
/** Lines whose statements PostgreSQL gets without waiting for the answer to each: a round trip takes longer than a row. */
const pipelinedLines = 25;

interface ImportOptions {
  readonly engine: Engine;
  /** Logs an error of code in the declarations. */
  readonly report: Report;
}

type WrittenLine = "created" | "updated";
type LineResult = WrittenLine | Problem;
type RunWrites = (work: (writes: Writes) => Promise<Part>) => Promise<Part>;

/** What came of the first lines of a group. */
interface Part {
  readonly outcome: ImportOutcome;
  readonly lines: number;
}

export class RowImport {
  readonly #request: ImportRequest;
  readonly #options: ImportOptions;
  /** Whether the last group needed savepoints: where one line is refused, so are others. */
  #needsSavepoints = false;

  constructor(request: ImportRequest, options: ImportOptions) {
    this.#request = request;
    this.#options = options;
  }

  /**
   * Writes lines, in one transaction unless that takes long. An atomic import has a single group.
   *
   * @param outcome counts what has been written, also if the rest fails
   * @throws Problem `unavailable`, `rate_limited`
   */
  async write(caller: Caller, lines: readonly ImportedLine[], outcome: ImportOutcome): Promise<void> {
    for (let left = lines; left.length > 0; ) {
      const part = await this.#tryTogether(caller, left);
      // Code of the declarations has thrown: one by one, only the lines fail at which it does.
      if (!part) {
        for (const line of left) outcome.add(await this.#writeAlone(caller, line));
        return;
      }
      outcome.add(part.outcome);
      left = left.slice(part.lines);
    }
  }

  /** @returns undefined if the transaction failed by another error than one of the API */
  async #tryTogether(caller: Caller, lines: readonly ImportedLine[]): Promise<Part | undefined> {
    try {
      return await this.#writeTogether(caller, lines);
    } catch (error) {
      if (endsImport(error) || this.#request.isAtomic) throw error;
      return undefined;
    }
  }

  async #writeAlone(caller: Caller, line: ImportedLine): Promise<ImportOutcome> {
    try {
      return (await this.#writeTogether(caller, [line])).outcome;
    } catch (error) {
      if (endsImport(error)) throw error;
      this.#options.report("a line of an import failed", { line: line.line, err: error });
      const outcome = new ImportOutcome();
      outcome.fail(line.line, new Problem("internal_error"));
      return outcome;
    }
  }

  async #writeTogether(caller: Caller, lines: readonly ImportedLine[]): Promise<Part> {
    const { engine } = this.#options;
    if (!this.#needsSavepoints) {
      try {
        const run: RunWrites = (work) => engine.writeWithoutSavepoints(caller, work);
        return await this.#writeIn(run, caller, lines, this.#linesAtOnce);
      } catch (error) {
        if (!(error instanceof FailedWrite)) throw error;
      }
    }
    const part = await this.#writeIn((work) => engine.writeTogether(caller, work), caller, lines, 1);
    this.#needsSavepoints = part.outcome.failed > 0;
    return part;
  }

  /**
   * How many lines are written at once where no savepoints separate them. Hooks and updates may read what an earlier line
   * wrote.
   */
  get #linesAtOnce(): number {
    const { resource, by } = this.#request;
    return resource.allowsSingleStatementCreate && !by ? pipelinedLines : 1;
  }

  /**
   * @param run runs the work in a transaction
   * @param atOnce how many lines are written at once
   */
  async #writeIn(
    run: RunWrites,
    caller: Caller,
    lines: readonly ImportedLine[],
    atOnce: number,
  ): Promise<Part> {
    const { isAtomic, isDryRun } = this.#request;
    try {
      return await run(async (writes) => {
        const part = await this.#writeLines(caller, writes, lines, atOnce);
        const { failed } = part.outcome;
        if (isAtomic && failed > 0) throw new RolledBack({ ...part, outcome: part.outcome.undone() });
        if (isDryRun) throw new RolledBack(part);
        return part;
      });
    } catch (error) {
      if (error instanceof RolledBack) return error.part;
      throw error;
    }
  }

  async #writeLines(
    caller: Caller,
    writes: Writes,
    lines: readonly ImportedLine[],
    atOnce: number,
  ): Promise<Part> {
    const outcome = new ImportOutcome();
    const slice = new TimeSlice();
    const deadline = this.#request.isAtomic ? Number.POSITIVE_INFINITY : performance.now() + maxGroupMs;
    let written = 0;
    while (written < lines.length) {
      const next = lines.slice(written, written + atOnce);
      const results = await Promise.all(next.map((line) => this.#writeLine(caller, writes, line)));
      for (const [index, result] of results.entries()) {
        if (result instanceof Problem) outcome.fail(next[index]!.line, result);
        else outcome[result] += 1;
      }
      written += next.length;
      if (performance.now() > deadline) break;
      if (slice.isOver) await slice.yield();
    }
    return { outcome, lines: written };
  }

  /** @returns why the line is refused, or what became of its row */
  async #writeLine(caller: Caller, writes: Writes, { body: parse }: ImportedLine): Promise<LineResult> {
    const body = parse();
    if (body instanceof Problem) return body;
    try {
      return await this.#writeBody(caller, writes, body);
    } catch (refusal) {
      // Other errors are of the database or of code, and concern the transaction.
      if (!(refusal instanceof Problem) || isUnavailable(refusal)) throw refusal;
      return errorIn(this.#request.resource, refusal);
    }
  }

  async #writeBody(caller: Caller, writes: Writes, received: unknown): Promise<WrittenLine> {
    const { resource, by } = this.#request;
    const { parent, current = resource } = resource;
    const body = this.#withoutIgnored(received);
    const parentId = parent && isPlainObject(body) ? parentOf(parent.name, body) : undefined;
    const input = parent && isPlainObject(body) ? without(body, [parent.name]) : body;
    const value = by && isPlainObject(input) ? keyValue(by.name, input) : undefined;
    const id =
      value === undefined ? undefined : await writes.findId(caller, current, by!.current ?? by!, value);
    if (id === undefined) {
      await writes.create(caller, current, currentBody(resource, input), parentId);
      return "created";
    }
    const changes = without(input as PlainObject, [by!.name, ...this.#ignoredInUpdates()]);
    await writes.update(caller, current, id, currentBody(resource, changes), (text) => {
      if (parent && JSON.parse(text)[parent.name] !== parentId)
        throw validationError(parent.name, "read_only", `\`${parent.name}\` cannot be changed.`);
    });
    return "updated";
  }

  #withoutIgnored(body: unknown): unknown {
    const { resource, ignoresReadOnly } = this.#request;
    if (!ignoresReadOnly || !isPlainObject(body)) return body;
    // A file in an export cannot be imported: it belongs to another row.
    const isIgnored = (each: Attribute): boolean => each.isReadOnly || isExportedFile(each, body[each.name]);
    const ignored = resource.attributes.filter((each) => isIgnored(each) && each !== resource.parent);
    return without(body, [
      ...ignored.filter((each) => !each.isInternal).map(({ name }) => name),
      ...resource.counts.keys(),
    ]);
  }

  #ignoredInUpdates(): readonly string[] {
    const { resource, ignoresReadOnly } = this.#request;
    if (!ignoresReadOnly) return [];
    return resource.attributes.filter(({ isImmutable }) => isImmutable).map(({ name }) => name);
  }
}

/** Whether an error is one of the API or of the schema, which concern all lines; any other is of code in the declarations. */
function endsImport(error: unknown): boolean {
  return error instanceof Problem || error instanceof MissingSchema;
}

/** Ends a transaction whose writes are not kept. */
class RolledBack extends Error {
  readonly part: Part;

  constructor(part: Part) {
    super("the import is not kept");
    this.part = part;
  }
}
