// `npm run check:promises`: every promise that nobody awaits has a handler for its rejection.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import {
  type Expression,
  type MethodDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import {
  isArrowFunction,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isClassDeclaration,
  isConditionalExpression,
  isExpressionStatement,
  isFunctionExpression,
  isMethodDeclaration,
  isNewExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isVoidExpression,
} from "typescript/unstable/ast/is";
import { API, type Checker, SignatureKind, type Type } from "typescript/unstable/sync";

/** A promise that nobody awaits and that has no handler: its rejection would stop the process. */
interface Unhandled {
  file: string;
  line: number;
  text: string;
}

/** What the check must find, so that it cannot fall silent. */
const planted = ".ci/planted-promises.ts";

/** The line before a promise that somebody handles whom types do not tell of; it says who. */
const exception = /^\s*\/\/ handled: \S/;

const assignments = new Set([
  SyntaxKind.EqualsToken,
  SyntaxKind.QuestionQuestionEqualsToken,
  SyntaxKind.BarBarEqualsToken,
  SyntaxKind.AmpersandAmpersandEqualsToken,
]);

const shortCircuits = new Set([
  SyntaxKind.AmpersandAmpersandToken,
  SyntaxKind.BarBarToken,
  SyntaxKind.QuestionQuestionToken,
  SyntaxKind.CommaToken,
]);

/**
 * Finds promises without a handler, more strictly than Biome's rule, which does not look into the types
 * of packages: statements (with `void` or without), promises that are kept in a property or variable
 * derived from another one, and functions that return a promise to a caller who expects nothing.
 */
class PromiseCheck {
  readonly #checker: Checker;
  readonly #promises = new Map<number, boolean>();

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  *of(file: SourceFile): Generator<Unhandled> {
    const nodes: Node[] = [];
    const collect = (node: Node): void => {
      nodes.push(node);
      node.forEachChild(collect);
    };
    file.forEachChild(collect);
    for (const node of nodes) {
      if (this.#isUnhandled(node)) {
        const start = node.getStart(file);
        const before = file.text.slice(0, start).split("\n");
        const line = before.length;
        if (exception.test(before.at(-2) ?? "")) continue;
        yield { file: relative(process.cwd(), file.fileName), line, text: firstLine(node.getText(file)) };
      }
    }
  }

  #isUnhandled(node: Node): boolean {
    if (isExpressionStatement(node) || isVoidExpression(node)) return this.#floats(node.expression);
    if (isArrowFunction(node) || isFunctionExpression(node)) return this.#isMisused(node);
    if (isMethodDeclaration(node)) return this.#isMisusedMethod(node);
    if (isCallExpression(node) || isNewExpression(node)) {
      return (node.arguments ?? []).some(
        (given) => !isArrowFunction(given) && !isFunctionExpression(given) && this.#isMisused(given),
      );
    }
    return false;
  }

  /** Whether an expression whose value nobody takes is a promise without a handler. */
  #floats(expression: Expression): boolean {
    if (isParenthesizedExpression(expression)) return this.#floats(expression.expression);
    if (isConditionalExpression(expression)) {
      return this.#floats(expression.whenTrue) || this.#floats(expression.whenFalse);
    }
    if (isBinaryExpression(expression)) {
      const operator = expression.operatorToken.kind;
      if (shortCircuits.has(operator)) return this.#floats(expression.right);
      if (!assignments.has(operator)) return false;
      return isChained(expression.right) && this.#floats(expression.right);
    }
    return !isHandled(expression) && this.#isPromise(this.#checker.getTypeAtLocation(expression));
  }

  /** Whether a function that returns a promise stands where one is expected that returns nothing. */
  #isMisused(given: Expression): boolean {
    if (isArrowFunction(given) && !isBlock(given.body) && isHandled(given.body as Expression)) return false;
    return (
      this.#returnsPromise(this.#checker.getTypeAtLocation(given)) &&
      this.#returnsNothing(this.#checker.getContextualType(given))
    );
  }

  #isMisusedMethod(method: MethodDeclaration): boolean {
    if (!this.#returnsPromise(this.#checker.getTypeAtLocation(method))) return false;
    return this.#expectedOf(method.parent).some((expected) => {
      const member = this.#checker.getPropertyOfType(expected, method.name.getText());
      return member !== undefined && this.#returnsNothing(this.#checker.getTypeOfSymbol(member));
    });
  }

  /** What a class implements and extends, or what is expected where an object stands. */
  #expectedOf(parent: Node): Type[] {
    const types = isClassDeclaration(parent)
      ? (parent.heritageClauses ?? []).flatMap(({ types }) =>
          types.map((type) => this.#checker.getTypeAtLocation(type)),
        )
      : [this.#checker.getContextualType(parent as Expression)];
    return types.filter((type) => type !== undefined);
  }

  #returnTypes(type: Type | undefined): Type[] {
    const present = type && this.#checker.getNonNullableType(type);
    if (!present) return [];
    const parts = present.isUnionType() ? present.getTypes() : [present];
    return parts
      .flatMap((part) => this.#checker.getSignaturesOfType(part, SignatureKind.Call))
      .flatMap((signature) => this.#checker.getReturnTypeOfSignature(signature) ?? []);
  }

  #returnsPromise(type: Type | undefined): boolean {
    return this.#returnTypes(type).some((returned) => this.#isPromise(returned));
  }

  #returnsNothing(type: Type | undefined): boolean {
    const returned = this.#returnTypes(type);
    const nothing = this.#checker.getVoidType();
    return returned.length > 0 && returned.every(({ id }) => id === nothing.id);
  }

  /** Whether it is a promise or thenable, or a list of them; `any` is not. */
  #isPromise(type: Type | undefined): boolean {
    if (!type) return false;
    const known = this.#promises.get(type.id);
    if (known !== undefined) return known;
    this.#promises.set(type.id, false);
    const is = type.isUnionType()
      ? type.getTypes().some((part) => this.#isPromise(part))
      : type.isObjectType() || type.isIntersectionType()
        ? this.#hasMembers(type, "then", "catch") || this.#isListOfPromises(type)
        : false;
    this.#promises.set(type.id, is);
    return is;
  }

  #hasMembers(type: Type, ...names: string[]): boolean {
    return names.every((name) => this.#checker.getPropertyOfType(type, name) !== undefined);
  }

  #isListOfPromises(type: Type): boolean {
    if (!this.#checker.isArrayType(type)) return false;
    return this.#checker.getTypeArguments(type as never).some((item) => this.#isPromise(item));
  }
}

/** Whether the promise of an expression has a handler for its rejection. */
function isHandled(expression: Expression): boolean {
  if (isParenthesizedExpression(expression)) return isHandled(expression.expression);
  if (!isCallExpression(expression) || !isPropertyAccessExpression(expression.expression)) return false;
  const { name, expression: receiver } = expression.expression;
  const given = expression.arguments.length;
  if (name.text === "catch") return given > 0;
  if (name.text === "then") return given > 1;
  return name.text === "finally" && isHandled(receiver);
}

/** Whether an expression is a promise derived from another one. */
function isChained(expression: Expression): boolean {
  if (!isCallExpression(expression) || !isPropertyAccessExpression(expression.expression)) return false;
  return ["then", "catch", "finally"].includes(expression.expression.name.text);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!;
}

const folders = ["packages/portico/src/", "service/", "bench/", "examples/", planted];
const unhandled = checkProject(folders);
const found = unhandled.filter(({ file }) => file === planted).map(({ line }) => line);
assert.deepEqual(found, plantedLines(), `the check finds something else than is planted in ${planted}`);
for (const { file, line, text } of unhandled.filter(({ file }) => file !== planted)) {
  console.error(`${file}:${line}: nobody handles the rejection of this promise: ${text}`);
  process.exitCode = 1;
}

/** Everything unhandled in files of the project whose paths begin with one of these. */
function checkProject(beginnings: readonly string[]): Unhandled[] {
  const api = new API();
  const snapshot = api.updateSnapshot({ openProjects: ["tsconfig.json"] });
  const { program, checker } = snapshot.getProjects()[0]!;
  const check = new PromiseCheck(checker);
  const found = program
    .getSourceFileNames()
    .filter((name) => beginnings.some((beginning) => relative(process.cwd(), name).startsWith(beginning)))
    .filter((name) => !name.includes("/node_modules/"))
    .flatMap((name) => [...check.of(program.getSourceFile(name)!)]);
  api.close();
  return found;
}

/** The lines that say that they are unhandled. */
function plantedLines(): number[] {
  const lines = readFileSync(planted, "utf8").split("\n");
  return lines.flatMap((line, index) => (line.endsWith("// unhandled") ? [index + 1] : []));
}
