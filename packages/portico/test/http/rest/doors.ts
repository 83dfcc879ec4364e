// A resource with an internal field, and what its hooks and its action see of it.

import { resource, text } from "../../../src/index.ts";

/** What code has seen. */
export const seen: unknown[] = [];
/** Rows with a code that only code sees. */
export const doors = resource("door", {
  fields: { name: text({ max: 50 }), code: text({ max: 50, internal: true }) },
  hooks: {
    before: {
      create: ({ name }) => ({ code: `code of ${name}` }),
      update: ({ name }, { current }) => {
        seen.push(["update", current.code, JSON.stringify(current).includes("code")]);
        return name === undefined ? undefined : { code: `code of ${name}` };
      },
    },
    after: {
      create: (row) => void seen.push(["created", row.code]),
      update: (row, { previous }) => void seen.push(["updated", row.code, previous.code]),
      delete: (row) => void seen.push(["deleted", row.code]),
    },
  },
  actions: {
    turns: {
      input: {},
      run: async ({ current, rows }): Promise<{ id: string }> => {
        const [listed] = await rows.list(doors, { code: current.code });
        seen.push(["action", current.code, listed?.code, (await rows.get(doors, current.id))?.code]);
        return Object.assign({ ...current }, { code: current.code });
      },
    },
  },
});
