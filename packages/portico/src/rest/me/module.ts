import type { Module } from "../../runtime/module.ts";
import { getMe, registerMe, updateMe } from "./routes.ts";

/** Who the caller is. */
export function meModule(): Module {
  return {
    operations: [getMe, updateMe],
    paths: ["me"],
    start: ({ engine }) => ({
      register: (routes, { callerOf }) => registerMe(routes, { engine, callerOf }),
    }),
  };
}
