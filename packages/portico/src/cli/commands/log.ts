// portico log list

import { maxLimit } from "../../model/operation-parameters.ts";
import { requestLogs } from "../../usage/tables.ts";
import type { Command } from "../command.ts";
import { tenantOption, withTenant } from "../tenant-work.ts";

const logList: Command = {
  name: "log list",
  summary: `List the newest ${maxLimit} requests made with a tenant's keys.`,
  options: { key: { value: "ID", help: "only requests with this key" }, tenant: tenantOption },
  async run(args) {
    const requests = await withTenant(args, (context) => {
      const keyId = args.text("key");
      const attribute = context.model(requestLogs).attribute.get("keyId")!;
      const ofKey = { attribute, operator: "in", values: [keyId ?? null] } as const;
      return context.newest(requestLogs, maxLimit, keyId === undefined ? [] : [ofKey]);
    });
    const rows = requests.map(
      ({ createdAt, method, route, status, durationMs, keyId }) =>
        `${createdAt}  ${status}  ${`${durationMs} ms`.padStart(12)}  ${keyId}  ${method} ${route}`,
    );
    return { json: { requests }, lines: rows.length > 0 ? rows : ["No requests in the log."] };
  },
};

export const commands: readonly Command[] = [logList];
