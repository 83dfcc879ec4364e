// Actions: what POST does below a row or a collection, as code of a declaration.

import type { Deprecation } from "./field-options.ts";
import type { HookContext, ParentContext } from "./hooks.ts";
import type { Fields, OptionalFieldsOf, RequiredFieldsOf, ValuesOf } from "./record.ts";
import type { Count } from "./rows.ts";

/** What an action runs with, besides the context of every hook. Its `rows` have the policies of the caller. */
export interface ActionContext<Row, Input extends Fields = Fields> extends HookContext {
  /** The row, which is locked until the transaction ends. */
  readonly current: Row;
  /** The body of the request, with defaults. */
  readonly input: Readonly<ValuesOf<Input>>;
}

/** The row that an action returns is the body of the 201 response. */
type ActionResult = Promise<Readonly<Record<string, unknown>> & { readonly id: string }>;

/** An action on a row, called by POST to `/posts/{id}/SEGMENT`. The segment is a noun, such as `rotations`. */
export interface Action<Row, Input extends Fields = Fields> {
  readonly on?: "row";
  /** The fields of its request body. */
  readonly input: Input;
  /** The verb of its GraphQL mutation: `rotate` makes `rotateApiKey`. Without a verb there is no mutation. */
  readonly verb?: string;
  readonly deprecated?: Deprecation;
  /** Runs in a transaction. */
  run(context: ActionContext<Row, Input>): ActionResult;
}

/** What an action on a collection runs with. Its `rows` have the policies of the caller. */
export type CollectionActionContext<Parent, Input extends Fields = Fields> = Omit<HookContext, "returnOnce"> &
  ParentContext<Parent> & {
    /** The body of the request, with defaults. */
    readonly input: Readonly<ValuesOf<Input>>;
  };

/** An action on a collection, called by POST to `/posts/SEGMENT`, or `/projects/{id}/issues/SEGMENT` for children. */
export interface CollectionAction<Parent, Input extends Fields = Fields, Answer = Count> {
  readonly on: "collection";
  /** The fields of its request body. */
  readonly input: Input;
  /** The verb of its GraphQL mutation: `close` makes `closeIssues`. Without a verb there is no mutation. */
  readonly verb?: string;
  /** The fields of what it returns, by default `{ count: integer() }`, which `rows.updateMany` returns. */
  readonly answer?: Fields;
  readonly deprecated?: Deprecation;
  /** Runs in a transaction. */
  run(context: CollectionActionContext<Parent, Input>): Promise<Answer>;
}

/** What the action of a segment returns. An action that declares no answer leaves `unknown` in `Answers`. */
type AnswerOf<Answers, Segment> = Segment extends keyof Answers
  ? Answers[Segment] extends Fields
    ? RequiredFieldsOf<Answers[Segment]> & Partial<OptionalFieldsOf<Answers[Segment]>>
    : Count
  : Count;

/** An action without `on` is one on a row. */
type LevelOf<Levels, Segment> = Segment extends keyof Levels
  ? unknown extends Levels[Segment]
    ? "row"
    : Levels[Segment]
  : "row";

/**
 * The actions of a resource, by their segments. `Inputs` has the fields of each body, `Answers` those of each answer,
 * `Levels` the value of each `on`.
 */
export type Actions<Row, Parent, Inputs extends Readonly<Record<string, Fields>>, Answers, Levels> = {
  readonly [Segment in keyof Inputs]: "collection" extends LevelOf<Levels, Segment>
    ? CollectionAction<Parent, Inputs[Segment], AnswerOf<Answers, Segment>>
    : Action<Row, Inputs[Segment]>;
} & { readonly [Segment in keyof Answers]: { readonly answer?: Answers[Segment] } } & {
  readonly [Segment in keyof Levels]: { readonly on?: Levels[Segment] };
};

/** An action whose types were checked where it was declared. */
export interface LooseAction {
  readonly on?: "row" | "collection";
  readonly input: Fields;
  readonly verb?: string;
  readonly answer?: Fields;
  readonly deprecated?: Deprecation;
  run(context: Readonly<Record<string, unknown>>): Promise<unknown>;
}
