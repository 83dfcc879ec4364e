// Exports of rows: of the resources of the app, and of users.

import type { App } from "../declare/app.ts";
import { isJson } from "../declare/field.ts";
import type { Engine } from "../engine/engine.ts";
import type { CsvColumn } from "../lib/csv.ts";
import type { ResourceModel } from "../model/model.ts";
import type { ServedVersion } from "../model/served-versions.ts";
import type { Query } from "../query/query-string.ts";
import type { Selection, Sort } from "../query/read.ts";
import { parseList } from "../rest/query/list.ts";
import { type QueryParameters, queryParametersOf } from "../rest/query/parameters.ts";
import { ExportQuery } from "./export-query.ts";
import type { ExportSource } from "./export-source.ts";
import { exportableResources, type FormatName, listParametersOf, rowParameters } from "./operation.ts";

interface Collection {
  readonly resource: ResourceModel;
  /** The parameters of its list that exports have as well. */
  readonly parameters: QueryParameters;
}

const own = queryParametersOf({ parameters: rowParameters });

export class RowExports {
  readonly #engine: Engine;
  readonly #collections: ReadonlyMap<string, Collection>;

  /** @param version that names the fields; by default the current one */
  constructor(
    engine: Engine,
    app: Pick<App, "resources">,
    version: Pick<ServedVersion, "resource"> = engine.model,
  ) {
    this.#engine = engine;
    this.#collections = new Map(
      exportableResources(version, app).map((resource) => [
        resource.segment,
        { resource, parameters: queryParametersOf({ parameters: listParametersOf(resource) }) },
      ]),
    );
  }

  /**
   * @param defaultFormat if the query names none
   * @returns undefined if there is no such collection
   * @throws InvalidInput with every error in the query
   */
  source(name: string, query: Query, defaultFormat: FormatName): ExportSource | undefined {
    const collection = this.#collections.get(name);
    if (!collection) return undefined;
    const { parameters } = collection;
    const parsed = new ExportQuery(query, own, (each) => parameters.has(each));
    const { output, list } = parsed.parse((ofList) =>
      parseList(collection.resource, parameters, undefined, ofList),
    );
    // Those of the collection, or its deleted rows.
    const { resource, selection, conditions, words } = list;
    const { format = defaultFormat, escapesFormulas, limit } = output;
    const csv = format === "csv" ? { columns: columnsOf(selection), escapesFormulas } : undefined;
    const request = {
      ...{ resource, selection, conditions, words, limit, csv },
      sort: query.has("sort") ? list.sort : byId(resource),
      after: parsed.text("after"),
      isCounted: parsed.text("total") === "true",
    };
    const open: ExportSource["open"] = (caller, signal) =>
      this.#engine.stream(caller, { ...request, signal });
    return { name, format, csv, open };
  }
}

function byId({ attribute }: ResourceModel): Sort {
  return [{ attribute: attribute.get("id")!, isDescending: false }];
}

/** A column for each value of a row, and of the rows that its references select. */
function columnsOf({ members }: Selection, parents: readonly string[] = []): readonly CsvColumn[] {
  return members.flatMap((member): readonly CsvColumn[] => {
    if (member.kind === "part") return columnsOf(member.selection, parents);
    const path = [...parents, member.name];
    if (member.kind === "row") return columnsOf(member.selection, path);
    if (member.kind !== "value") return [{ path, isJson: true }];
    const { field } = member.attribute;
    return [{ path, isJson: isJson(field), isNumber: field.kind === "decimal" }];
  });
}
