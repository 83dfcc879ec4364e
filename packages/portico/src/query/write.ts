// Writes to the store: rows with all their values.

import type { ResourceModel } from "../model/model.ts";

/** The values of a row by attribute, as in JSON; `json` attributes have any JSON value. */
export type RowValues = Readonly<Record<string, unknown>>;

export interface Insert {
  readonly resource: ResourceModel;
  readonly tenantId: string;
  readonly values: RowValues;
}

/** An insert that also records the event of the row. */
export interface RecordedInsert extends Insert {
  readonly credentialId: string;
  /** The time of the event. */
  readonly at: string;
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
