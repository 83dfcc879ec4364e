// Mutations of rows, through the same operations of the engine as REST: `createPost`, `updatePost`, `deletePost`, and
// actions such as `rotateApiKey`.

import { GraphQLNonNull } from "graphql";
import type { Caller } from "../../declare/caller.ts";
import type { WriteResult } from "../../engine/write-result.ts";
import type { Writes } from "../../engine/writes.ts";
import type { ResourceModel } from "../../model/model.ts";
import { ownText } from "../../query/own-text.ts";
import type { Selection } from "../../query/read.ts";
import { showFiles } from "../../query/shown-files.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { actionInput, answerType, createInput, isOptionalInput, updateInput } from "../schema/inputs.ts";
import { pascalCase } from "../schema/naming.ts";
import { requiredId } from "../schema/shared-types.ts";
import { type Arguments, objectMapping, type RootFieldMapping, rowMapping } from "./field-mapping.ts";
import { projectionOf } from "./me.ts";
import type { ResourceFieldKind } from "./root-field.ts";
import { selectionOf } from "./row-members.ts";

export const createRow: ResourceFieldKind = ({ resource, row, attributeTypes }) => {
  if (!resource.operations.has("create")) return [];
  const input = createInput(attributeTypes, resource);
  return [
    {
      name: `create${row.name}`,
      deprecated: resource.deprecatedOperations.create,
      type: new GraphQLNonNull(row),
      ...(input && { args: { input: { type: new GraphQLNonNull(input) } } }),
      mapping: writeMapping(resource, (writes, caller, args) => {
        const { [resource.parent?.name ?? ""]: parentId, ...body } = inputOf(args);
        return writes.create(caller, resource, body, parentId === undefined ? undefined : String(parentId));
      }),
    },
  ];
};

export const updateRow: ResourceFieldKind = ({ resource, row, attributeTypes }) => {
  const input = updateInput(attributeTypes, resource);
  if (!input || !resource.operations.has("update")) return [];
  return [
    {
      name: `update${row.name}`,
      deprecated: resource.deprecatedOperations.update,
      type: new GraphQLNonNull(row),
      args: { id: { type: requiredId }, input: { type: new GraphQLNonNull(input) } },
      description: "Updates the fields of the input and leaves the others unchanged.",
      mapping: writeMapping(resource, (writes, caller, args) =>
        writes.update(caller, resource, String(args.id), inputOf(args)),
      ),
    },
  ];
};

export const deleteRow: ResourceFieldKind = ({ resource, row }) => {
  const { markOnDelete, operations } = resource;
  if (!operations.has("delete")) return [];
  return [
    {
      name: `delete${row.name}`,
      deprecated: resource.deprecatedOperations.delete,
      type: new GraphQLNonNull(row),
      args: { id: { type: requiredId } },
      description: markOnDelete
        ? `Sets \`${markOnDelete.name}\` and keeps the row.`
        : `Returns the row as it was before.${resource.isSoftDeleted ? " It can be restored." : ""}`,
      mapping: {
        ...rowMapping,
        access: () => ({ scope: resource.scopes.write, isPublic: false }),
        compile: (field) => {
          const selection = selectionOf(field);
          return async ({ writes, caller, fileUrl }) => {
            const id = String(field.arguments.id);
            const text = await deleteAndRead(writes, caller, resource, id, selection);
            return showFiles(selection, text, fileUrl);
          };
        },
      },
    },
  ];
};

/** A deleted row is read before it is deleted. A row that is only marked is read afterwards. */
async function deleteAndRead(
  writes: Writes,
  caller: Caller,
  resource: ResourceModel,
  id: string,
  selection: Selection,
): Promise<string> {
  const read = { resource, selection, id, conditions: [] };
  if (resource.markOnDelete) {
    await writes.delete(caller, resource, id);
    return writes.getAfterWrite(caller, read);
  }
  const text = await writes.getAfterWrite(caller, read);
  await writes.delete(caller, resource, id);
  return text;
}

export const runAction: ResourceFieldKind = ({ resource, row, attributeTypes }) =>
  [...resource.actions.values()].flatMap((action) => {
    if (action.verb === undefined) return [];
    const name = action.verb + row.name;
    const inputType = actionInput(attributeTypes, name, action);
    const input = inputType && {
      input: { type: isOptionalInput(action) ? inputType : new GraphQLNonNull(inputType) },
    };
    const run: Write = (writes, caller, args) =>
      writes.runAction(caller, resource, String(args.id), action, inputOf(args));
    return [
      {
        name,
        deprecated: action.deprecated,
        type: new GraphQLNonNull(row),
        args: { id: { type: requiredId }, ...input },
        // The result of an action can contain less than the row.
        mapping: writeMapping(resource, run, { isWholeRow: false }),
      },
    ];
  });

export const runCollectionAction: ResourceFieldKind = ({ resource, attributeTypes }) =>
  [...resource.collectionActions.values()].flatMap((action) => {
    if (action.verb === undefined) return [];
    const name = action.verb + pascalCase(resource.plural);
    const inputType = actionInput(attributeTypes, name, action);
    const input = inputType && {
      input: { type: isOptionalInput(action) ? inputType : new GraphQLNonNull(inputType) },
    };
    const { parent, scopes, requiresIdempotencyKey } = resource;
    return [
      {
        name,
        deprecated: action.deprecated,
        type: new GraphQLNonNull(answerType(attributeTypes, name, action)),
        args: { ...(parent && { [parent.name]: { type: requiredId } }), ...input },
        mapping: {
          ...objectMapping,
          cost: () => 1,
          access: () => ({ scope: scopes.write, isPublic: false }),
          requiresIdempotencyKey,
          compile: (field) => {
            const project = projectionOf(field);
            const args = field.arguments;
            const parentId = parent && String(args[parent.name]);
            return async ({ writes, caller }) => {
              const body = inputOf(args);
              const answer = await writes.runCollectionAction(caller, resource, action, body, parentId);
              return JSON.stringify(project(JSON.parse(answer)));
            };
          },
        },
      },
    ];
  });

type Write = (writes: Writes, caller: Caller, args: Arguments) => Promise<WriteResult>;

/** @param isWholeRow whether the result of the write contains all fields of the row */
function writeMapping(
  resource: ResourceModel,
  write: Write,
  { isWholeRow }: { readonly isWholeRow: boolean } = { isWholeRow: true },
): RootFieldMapping {
  return {
    ...rowMapping,
    access: () => ({ scope: resource.scopes.write, isPublic: false }),
    requiresIdempotencyKey: resource.requiresIdempotencyKey,
    compile: (field) => {
      const selection = selectionOf(field);
      return async ({ writes, caller, addReturnedOnce, fileUrl }) => {
        const result = await write(writes, caller, field.arguments);
        const { id, returnedOnce } = result;
        const own = isWholeRow ? ownText(result.row, selection) : undefined;
        const text = own ?? (await writes.getAfterWrite(caller, { resource, selection, id, conditions: [] }));
        if (Object.keys(returnedOnce).length > 0) addReturnedOnce(field.responseName, returnedOnce);
        return showFiles(selection, text, fileUrl);
      };
    },
  };
}

function inputOf({ input }: Arguments): Record<string, unknown> {
  // The schema has coerced it: an object, or nothing for an action.
  return { ...(input as CollectedField["arguments"] | undefined) };
}
