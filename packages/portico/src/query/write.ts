// Writes to the store: rows with all their values.

import type { ResourceModel } from "../model/model.ts";

/** The values of a row by attribute, as in JSON; `json` attributes have any JSON value. */
export type RowValues = Readonly<Record<string, unknown>>;

export interface Insert {
  readonly resource: ResourceModel;
  readonly tenantId: string;
  readonly values: RowValues;
}

export interface Update {
  readonly resource: ResourceModel;
  readonly tenantId: string;
  readonly id: string;
  /** The values that change. */
  readonly values: RowValues;
}

export interface Delete {
  readonly resource: ResourceModel;
  readonly tenantId: string;
  readonly id: string;
}

export type EventAction = "created" | "updated" | "deleted";

/** What the event of a write holds besides the row. */
export interface EventDetails {
  readonly id: string;
  readonly credentialId: string;
  readonly at: string;
}

/** A write with the event that it records. */
export type Recorded<Write> = Write & { readonly event: EventDetails };
