// An event as the API shows it.

import { snakeCase } from "../lib/case.ts";
import type { ResourceModel } from "../model/model.ts";
import type { ServedVersion } from "../model/served-versions.ts";
import type { VisibleEvent } from "../subscriptions/visible-events.ts";
import { rowIn } from "../versions/rows.ts";

/** The version of the API that names the fields of rows in events. */
export type EventVersion = Pick<ServedVersion, "resource">;

export interface LoggedEvent {
  readonly id: string;
  /** `post.created` */
  readonly type: string;
  /** In snake_case: `api_key`. */
  readonly resource: string;
  readonly resourceId: string;
  /** The row as JSON text. */
  readonly data: string;
  readonly createdAt: string;
  /** The resource of the row. */
  readonly model: ResourceModel;
}

export function loggedEvent({ event, resource, row }: VisibleEvent): LoggedEvent {
  const { id, type, rowId, createdAt } = event;
  const named = { resource: snakeCase(resource.name), resourceId: rowId };
  return { id, type, ...named, data: row, createdAt, model: resource };
}

/** The event as JSON text. @param version that names the fields of its row; by default the current one */
export function eventText(
  { data, createdAt, model, ...others }: LoggedEvent,
  version?: EventVersion,
): string {
  const row = version ? rowIn(version.resource.get(model.name)!, data) : data;
  return `${JSON.stringify(others).slice(0, -1)},"data":${row},"createdAt":${JSON.stringify(createdAt)}}`;
}
