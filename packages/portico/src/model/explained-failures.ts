// In the sandbox, whoever writes declarations is told in the answer what their code threw, and where. Errors of the
// server itself pass unchanged: they could tell of SQL and of what is kept.

import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { LooseDeclaration, LooseHooks, Resource } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import { redactCredentials } from "../lib/redact-credentials.ts";

const maxMessageLength = 500;

/**
 * The resource with functions that throw `internal_error` with what they threw before, and where. Policies keep theirs:
 * what goes wrong in one is told to nobody (policy.ts).
 */
export function withExplainedFailures(resource: Resource): Resource {
  const { name, declaration } = resource;
  const explain = <F extends AnyFunction>(what: string, code: F): F =>
    explainErrors(`${what} of ${name}`, code);
  const { validate, hooks, actions, fields } = declaration;
  const changed: LooseDeclaration = {
    ...declaration,
    fields: mapValues(fields, (field, fieldName) => {
      // Each kind of field has options of its own; those of all keep their type here.
      const options = field.options as { readonly default?: unknown };
      if (typeof options.default !== "function") return field;
      const derive = explain(`the default of the field ${fieldName}`, options.default as AnyFunction);
      return { ...field, options: { ...options, default: derive } } as typeof field;
    }),
    ...(validate && { validate: explain("validate", validate) }),
    ...(hooks && { hooks: explainHooks(hooks, explain) }),
    ...(actions && {
      actions: mapValues(actions, (action, segment) => ({
        ...action,
        run: explain(`the action ${segment}`, action.run.bind(action)),
      })),
    }),
  };
  return { ...resource, declaration: changed };
}

// biome-ignore lint/suspicious/noExplicitAny: functions of declarations differ in their parameters, which pass through.
type AnyFunction = (...given: any[]) => unknown;

function mapValues<T>(
  object: Readonly<Record<string, T>>,
  transform: (value: T, name: string) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, transform(value, name)]));
}

function explainHooks(hooks: LooseHooks, explain: <F extends AnyFunction>(what: string, code: F) => F) {
  const phases = Object.entries(hooks) as [string, Readonly<Record<string, AnyFunction | undefined>>][];
  const changed = phases.map(([phase, each]) => [
    phase,
    Object.fromEntries(
      Object.entries(each).map(([operation, code]) => [
        operation,
        typeof code === "function" ? explain(`the hook ${phase}.${operation}`, code.bind(each)) : code,
      ]),
    ),
  ]);
  // The same moments and operations, with functions of the same parameters.
  return Object.fromEntries(changed) as LooseHooks;
}

function explainErrors<F extends AnyFunction>(what: string, code: F): F {
  const run = (...args: Parameters<F>): unknown => {
    try {
      const result = code(...args);
      return result instanceof Promise ? result.catch((error) => throwExplained(what, error)) : result;
    } catch (error) {
      throwExplained(what, error);
    }
  };
  // It takes and answers with the same.
  return run as F;
}

function throwExplained(what: string, error: unknown): never {
  if (error instanceof Problem || (error instanceof Error && !isFromDeclarations(error))) throw error;
  const location = error instanceof Error ? sourceLocation(error) : undefined;
  const text = String(error).slice(0, 2 * maxMessageLength);
  const message = redactCredentials(text).replace(/\s+/g, " ").slice(0, maxMessageLength);
  const suffix = location === undefined ? "" : `, at ${location}`;
  throw explainedFailure(`In ${what}: ${message}${suffix}`, error);
}

/** What callers of a sandbox are told of a fault in declarations; the log has the error itself. */
export function explainedFailure(message: string, cause: unknown): Problem {
  return new Problem("internal_error", `${message}. Only the sandbox tells this.`, [], {}, cause);
}

/** Where the server's own sources are, also where it was installed as a package. */
const ownFolder = dirname(import.meta.dirname) + sep;
const packages = `${sep}node_modules${sep}`;

/** Whether what threw, or what called the package that did, is code of the project. */
function isFromDeclarations(error: Error): boolean {
  const first = framesOf(error).find(({ file }) => file.startsWith(ownFolder) || !file.includes(packages));
  return first !== undefined && !first.file.startsWith(ownFolder);
}

/** `service/posts.ts:12:5`, as seen from the folder that the server was started in. */
function sourceLocation(error: Error): string | undefined {
  const frame = framesOf(error).find(({ file }) => !file.includes(packages));
  return frame && `${relative(process.cwd(), frame.file)}:${frame.line}:${frame.column}`;
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
