import type { Module } from "../../runtime/module.ts";
import { getMe, registerMe, updateMeOf } from "./routes.ts";

/** Who the caller is. @param selfEditable the fields that the app adds to users and that they may change themselves */
export function meModule(selfEditable: readonly string[] = []): Module {
  const updateMe = updateMeOf(selfEditable);
  return {
    operations: [getMe, updateMe],
    paths: ["me"],
    start: ({ engine }) => ({
      register: (routes, { callerOf }) => registerMe(routes, { engine, callerOf }, updateMe),
    }),
  };
}
