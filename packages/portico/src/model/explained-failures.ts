// In the sandbox, responses say what the code of declarations threw, and where. Errors of the server itself are not
// changed, because their messages could contain SQL and stored values.

import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { LooseHooks } from "../declare/hooks.ts";
import type { LooseDeclaration, Resource } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import { redactCredentials } from "../lib/redact-credentials.ts";
import type { Model } from "./model.ts";

const maxMessageLength = 500;

/**
 * The resource with functions whose errors become `internal_error` with an explanation. Policies are not wrapped, because
 * no response explains their errors (policy.ts).
 */
export function withExplainedFailures(resource: Resource): Resource {
  const { name, declaration } = resource;
  const explain = <F extends AnyFunction>(what: string, code: F): F =>
    withExplainedErrors(`${what} of ${name}`, code);
  const { validate, hooks, actions, fields } = declaration;
  const changed: LooseDeclaration = {
    ...declaration,
    fields: mapValues(fields, (field, fieldName) => {
      // Each kind of field has its own options; their types do not change here.
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
type AnyFunction = (...args: any[]) => unknown;

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
  // The phases, operations and parameters are the same.
  return Object.fromEntries(changed) as LooseHooks;
}

/** The function, with errors that become `internal_error` with an explanation. @param what it is, in the message */
export function withExplainedErrors<F extends AnyFunction>(what: string, code: F): F {
  const run = (...args: Parameters<F>): unknown => {
    try {
      const result = code(...args);
      return result instanceof Promise ? result.catch((error) => throwExplained(what, error)) : result;
    } catch (error) {
      throwExplained(what, error);
    }
  };
  // It has the same parameters and result.
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

/** The response of a sandbox to an error in declarations; the log has the error itself. */
export function explainedFailure(message: string, cause: unknown): Problem {
  const explanation = `${message.replace(/\.$/, "")}. This explanation appears only in the sandbox.`;
  return new Problem("internal_error", explanation, [], {}, cause);
}

/** An error of the code of declarations, with one line that says what to change. The sandbox shows it to callers. */
export function codeFailure({ explainsFailures }: Pick<Model, "explainsFailures">, message: string): Error {
  const failure = new Error(message);
  return explainsFailures ? explainedFailure(message, failure) : failure;
}

/** The folder of the sources of the server, also if it is installed as a package. */
const ownFolder = dirname(import.meta.dirname) + sep;
const packages = `${sep}node_modules${sep}`;

/** Whether code of the project threw the error, or called the package that threw it. */
function isFromDeclarations(error: Error): boolean {
  const first = framesOf(error).find(({ file }) => file.startsWith(ownFolder) || !file.includes(packages));
  return first !== undefined && !first.file.startsWith(ownFolder);
}

/** `service/posts.ts:12:5`, relative to the working directory. */
function sourceLocation(error: Error): string | undefined {
  const frame = framesOf(error).find(({ file }) => !file.includes(packages));
  return frame && `${relative(process.cwd(), frame.file)}:${frame.line}:${frame.column}`;
}

interface Frame {
  readonly file: string;
  readonly line: string;
  readonly column: string;
}

/** The number of frames at the end of a stack. The message before them may contain input of callers. */
const maxFrames = 10;
const maxLineLength = 1_000;

/** The frames of a stack that are in files, which those of Node itself are not. */
function framesOf({ stack = "" }: Error): Frame[] {
  const lines = stack.split("\n").slice(1).slice(-maxFrames);
  return lines.flatMap((line) => {
    if (line.length > maxLineLength) return [];
    const [, file, row, column] = /^ +at .*?\(?((?:file:\/\/)?\/[^()]+):(\d+):(\d+)\)?$/.exec(line) ?? [];
    if (file === undefined || row === undefined || column === undefined) return [];
    return [{ file: file.startsWith("file:") ? fileURLToPath(file) : resolve(file), line: row, column }];
  });
}
