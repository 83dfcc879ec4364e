// What a write puts into the store: rows with every value worked out.

import type { ResourceModel } from "../model/model.ts";

/** A row's values by attribute name, as JSON has them; `json` attributes hold any JSON value. */
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
  /** Only what changes. */
  readonly values: RowValues;
}

export interface Delete {
  readonly resource: ResourceModel;
  readonly tenantId: string;
  readonly id: string;
}
