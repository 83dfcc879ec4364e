// In the sandbox, whoever writes declarations is told in the answer what their code threw, and where. Errors of the
// server itself pass unchanged: they could tell of SQL and of what is kept.

import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Problem } from "../errors.ts";
import { redacted } from "./redacted.ts";
import type { LooseDeclaration, LooseHooks, Resource } from "./resource.ts";

const maxMessageLength = 500;

/**
 * The resource with functions that throw `internal_error` with what they threw before, and where. Policies keep theirs:
 * what goes wrong in one is told to nobody (policy.ts).
 */
export function withExplainedFailures(given: Resource): Resource {
  const { name, declaration } = given;
  const explain = <F extends AnyFunction>(what: string, code: F): F => explained(`${what} of ${name}`, code);
  const { check, hooks, actions, fields } = declaration;
  const changed: LooseDeclaration = {
    ...declaration,
    fields: mapped(fields, (field, fieldName) => {
      // Each kind of field has options of its own; those of all keep their type here.
      const options = field.options as { readonly default?: unknown };
      if (typeof options.default !== "function") return field;
      const derive = explain(`the default of the field ${fieldName}`, options.default as AnyFunction);
      return { ...field, options: { ...options, default: derive } } as typeof field;
    }),
    ...(check && { check: explain("the check", check) }),
    ...(hooks && { hooks: explainedHooks(hooks, explain) }),
    ...(actions && {
      actions: mapped(actions, (action, segment) => ({
        ...action,
        run: explain(`the action ${segment}`, action.run.bind(action)),
      })),
    }),
  };
  return { ...given, declaration: changed };
}

// biome-ignore lint/suspicious/noExplicitAny: functions of declarations differ in their parameters, which pass through.
type AnyFunction = (...given: any[]) => unknown;

function mapped<T>(
  object: Readonly<Record<string, T>>,
  change: (value: T, name: string) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

function explainedHooks(hooks: LooseHooks, explain: <F extends AnyFunction>(what: string, code: F) => F) {
  const moments = Object.entries(hooks) as [string, Readonly<Record<string, AnyFunction | undefined>>][];
  const changed = moments.map(([moment, each]) => [
    moment,
    Object.fromEntries(
      Object.entries(each).map(([operation, code]) => [
        operation,
        typeof code === "function" ? explain(`the hook ${moment}.${operation}`, code.bind(each)) : code,
      ]),
    ),
  ]);
  // The same moments and operations, with functions of the same parameters.
  return Object.fromEntries(changed) as LooseHooks;
}

function explained<F extends AnyFunction>(what: string, code: F): F {
  const run = (...given: Parameters<F>): unknown => {
    try {
      const result = code(...given);
      return result instanceof Promise ? result.catch((error) => raise(what, error)) : result;
    } catch (error) {
      raise(what, error);
    }
  };
  // It takes and answers with the same.
  return run as F;
}

function raise(what: string, error: unknown): never {
  if (error instanceof Problem || (error instanceof Error && !isOfDeclarations(error))) throw error;
  const place = error instanceof Error ? placeOf(error) : undefined;
  const text = String(error).slice(0, 2 * maxMessageLength);
  const thrown = redacted(text).replace(/\s+/g, " ").slice(0, maxMessageLength);
  const where = place === undefined ? "" : `, at ${place}`;
  throw explainedFailure(`In ${what}: ${thrown}${where}`, error);
}

/** What callers of a sandbox are told of a fault in declarations; the log has the error itself. */
export function explainedFailure(message: string, cause: unknown): Problem {
  return new Problem("internal_error", `${message}. Only the sandbox tells this.`, [], {}, cause);
}

/** Where the server's own sources are, also where it was installed as a package. */
const ownFolder = dirname(import.meta.dirname) + sep;
const packages = `${sep}node_modules${sep}`;

/** Whether what threw, or what called the package that did, is code of the project. */
function isOfDeclarations(error: Error): boolean {
  const first = framesOf(error).find(({ file }) => file.startsWith(ownFolder) || !file.includes(packages));
  return first !== undefined && !first.file.startsWith(ownFolder);
}

/** `service/posts.ts:12:5`, as seen from the folder that the server was started in. */
function placeOf(error: Error): string | undefined {
  const found = framesOf(error).find(({ file }) => !file.includes(packages));
  return found && `${relative(process.cwd(), found.file)}:${found.line}:${found.column}`;
}

interface Frame {
  readonly file: string;
  readonly line: string;
  readonly column: string;
}

/** So many frames a stack has at its end; before them stands the message, which callers may have had a part in. */
const maxFrames = 10;
const maxLineLength = 1_000;

/** The frames of a stack that stand in files: Node's own do not. */
function framesOf({ stack = "" }: Error): Frame[] {
  const lines = stack.split("\n").slice(1).slice(-maxFrames);
  return lines.flatMap((line) => {
    if (line.length > maxLineLength) return [];
    const [, file, row, column] = /^ +at .*?\(?((?:file:\/\/)?\/[^()]+):(\d+):(\d+)\)?$/.exec(line) ?? [];
    if (file === undefined || row === undefined || column === undefined) return [];
    return [{ file: file.startsWith("file:") ? fileURLToPath(file) : resolve(file), line: row, column }];
  });
}
