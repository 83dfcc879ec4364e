// portico log list

import type { ResourceModel } from "../../declare/model.ts";
import type { RecordOf } from "../../declare/record.ts";
import { Engine } from "../../engine/engine.ts";
import { requestLogs } from "../../events/request-log.ts";
import { systemCaller } from "../../identity/system-caller.ts";
import { findTenant } from "../../identity/tenant.ts";
import { largestLimit } from "../../plan/page.ts";
import type { Read } from "../../plan/read.ts";
import { wholeRow } from "../../plan/selection.ts";
import { assemble, withStore } from "../assemble.ts";
import type { Command } from "../command.ts";

export const logList: Command = {
  name: "log list",
  summary: `Show the newest ${largestLimit} requests of a tenant's keys.`,
  options: {
    key: { value: "ID", help: "of this key only" },
    tenant: { value: "ID", help: "the first tenant, when left out" },
  },
  async run(given) {
    const assembly = await assemble();
    const requests = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      const resource = assembly.model.resource.get(requestLogs.name)!;
      const caller = systemCaller(assembly.model, tenant.id);
      const page = await new Engine(assembly.model, store).list(caller, newest(resource, given.text("key")));
      return JSON.parse(page.rows) as RecordOf<typeof requestLogs>[];
    });
    const rows = requests.map(
      ({ createdAt, method, route, status, durationMs, keyId }) =>
        `${createdAt}  ${status}  ${`${durationMs} ms`.padStart(12)}  ${keyId}  ${method} ${route}`,
    );
    return { json: { requests }, lines: rows.length > 0 ? rows : ["There is no request in the log."] };
  },
};

function newest(resource: ResourceModel, keyId: string | undefined): Read {
  const key = resource.attribute.get("keyId")!;
  return {
    resource,
    selection: wholeRow(resource),
    conditions: keyId === undefined ? [] : [{ attribute: key, operator: "in", values: [keyId] }],
    words: [],
    sort: { attribute: resource.attribute.get("createdAt")!, isDescending: true },
    page: { style: "cursor", limit: largestLimit, position: undefined, isBackward: false },
  };
}
