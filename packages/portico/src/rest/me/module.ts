import type { Module } from "../../runtime/module.ts";
import { getMe, updateMe } from "./operations.ts";
import { registerMe } from "./routes.ts";

/** Who the caller is. */
export function meModule(): Module {
  return {
    operations: [getMe, updateMe],
    paths: ["me"],
    start: ({ engine, idempotentRequests, files }) => ({
      register: (routes, { callerOf }) => {
        const fileUrl = (id: string): string => files.urls.fileUrl(id);
        registerMe(routes, { engine, callerOf, idempotentRequests, fileUrl });
      },
    }),
  };
}
