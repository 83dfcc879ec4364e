// `npm run check:promises`: every promise that is not awaited has a rejection handler.

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

/** A promise that is not awaited and has no rejection handler. */
interface Unhandled {
  file: string;
  line: number;
  text: string;
}

/** A file of unhandled promises that the check must find. */
const planted = ".ci/planted-promises.ts";

/** A comment before a promise that is handled in a way that types do not show; it says by what. */
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
 * Finds promises without a rejection handler. Stricter than Biome's rule, which ignores the types of packages: checks
 * statements (with `void` or without), derived promises that are assigned to a property or variable, and functions that
 * return a promise where a function without a result is expected.
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
        (argument) =>
          !isArrowFunction(argument) && !isFunctionExpression(argument) && this.#isMisused(argument),
      );
    }
    return false;
  }

  /** Whether an expression whose value is discarded is a promise without a rejection handler. */
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

  /** Whether a function returns a promise although its context expects a function without a result. */
  #isMisused(expression: Expression): boolean {
    if (isArrowFunction(expression) && !isBlock(expression.body) && isHandled(expression.body as Expression))
      return false;
    return (
      this.#returnsPromise(this.#checker.getTypeAtLocation(expression)) &&
      this.#returnsNothing(this.#checker.getContextualType(expression))
    );
  }

  #isMisusedMethod(method: MethodDeclaration): boolean {
    if (!this.#returnsPromise(this.#checker.getTypeAtLocation(method))) return false;
    return this.#expectedOf(method.parent).some((expected) => {
      const member = this.#checker.getPropertyOfType(expected, method.name.getText());
      return member !== undefined && this.#returnsNothing(this.#checker.getTypeOfSymbol(member));
    });
  }

  /** The types that a class implements and extends, or the contextual type of an object. */
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
  const count = expression.arguments.length;
  if (name.text === "catch") return count > 0;
  if (name.text === "then") return count > 1;
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

const folders = [
  "packages/portico/src/",
  "packages/create-portico/src/",
  "service/",
  "bench/",
  "examples/",
  planted,
];
const unhandled = checkProject(folders);
const foundLines = unhandled.filter(({ file }) => file === planted).map(({ line }) => line);
assert.deepEqual(
  foundLines,
  plantedLines(),
  `the check does not find exactly the unhandled promises of ${planted}`,
);
for (const { file, line, text } of unhandled.filter(({ file }) => file !== planted)) {
  console.error(`${file}:${line}: the rejection of this promise is not handled: ${text}`);
  process.exitCode = 1;
}

/** The unhandled promises in files of the project whose paths begin with one of these. */
function checkProject(beginnings: readonly string[]): Unhandled[] {
  const api = new API();
  const snapshot = api.updateSnapshot({ openProjects: ["tsconfig.json"] });
  const { program, checker } = snapshot.getProjects()[0]!;
  const check = new PromiseCheck(checker);
  const found = program
    .getSourceFileNames()
    .filter((name) => beginnings.some((beginning) => relative(process.cwd(), name).startsWith(beginning)))
    // The promises of `test` are handled by the test runner.
    .filter((name) => !name.endsWith(".test.ts"))
    .filter((name) => !name.includes("/node_modules/"))
    .flatMap((name) => [...check.of(program.getSourceFile(name)!)]);
  api.close();
  return found;
}

/** The lines marked as unhandled. */
function plantedLines(): number[] {
  const lines = readFileSync(planted, "utf8").split("\n");
  return lines.flatMap((line, index) => (line.endsWith("// unhandled") ? [index + 1] : []));
}
