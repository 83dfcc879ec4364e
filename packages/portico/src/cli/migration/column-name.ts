// The names of fields and resources as operators write them: `posts.authorId`, `posts.author` or `posts`.

import { OperatorError } from "../../errors.ts";
import { snakeCase } from "../../lib/case.ts";
import type { Model } from "../../model/model.ts";
import type { DropRequest } from "../../store/schema/drop.ts";

const namePattern = /^([a-zA-Z][\w-]{0,62})(?:\.([a-zA-Z]\w{0,62}))?$/;

/** `blogPosts.title` -> `blog_posts.title` @throws OperatorError for another form */
export function columnName(model: Model, name: string): string {
  const { table, column } = dropRequest(model, name);
  if (column === undefined) throw new OperatorError(`'${name}' is not a field; write it as posts.slug`);
  return `${table}.${column}`;
}

/** @throws OperatorError for text that is not a name */
export function dropRequest({ resources }: Model, name: string): DropRequest {
  const [, plural, field] = namePattern.exec(name) ?? [];
  if (plural === undefined)
    throw new OperatorError(`'${name}' is neither a field nor a resource; write it as posts.slug or posts`);
  // A resource that was renamed has its present plural.
  const declared = resources.find((each) => each.plural === plural)?.table;
  const table = declared ?? snakeCase(plural.replaceAll("-", "_"));
  return { name, table, ...(field !== undefined && { column: snakeCase(field) }) };
}
