import { type HandlerContext, type RecordOf, type Rows, resource, type ScheduleContext, text } from "portico";
import { issues } from "./projects.ts";

/** What happened to an issue. Those who see the issue see them. */
export const notices = resource("notice", {
  parent: issues,
  fields: {
    text: text({ max: 300 }),
    /** Unique, so that a call that is repeated makes no second notice. */
    occasion: text({ max: 100, unique: true, internal: true }),
  },
  operations: ["list", "get"],
});

/** Handles `issue.updated`. It can be called again for the same event. */
export async function noticeClosedIssue({
  event,
  rows,
}: HandlerContext<RecordOf<typeof issues>>): Promise<void> {
  const { id, title, status } = event.data;
  if (status === "closed") await notice(rows, id, `${title} was closed`, event.id);
}

/** Runs in the morning of every working day. */
export async function noticeOverdueIssues({ rows, now }: ScheduleContext): Promise<void> {
  const today = now.slice(0, 10);
  const overdue = await rows.list(
    issues,
    { status: "open", dueOn: { lt: today } },
    { sort: "dueOn", limit: 100 },
  );
  for (const { id, title, dueOn } of overdue)
    await notice(rows, id, `${title} was due on ${dueOn}`, `${id} ${dueOn}`);
}

async function notice(rows: Rows, issueId: string, text: string, occasion: string): Promise<void> {
  if (await rows.first(notices, { occasion })) return;
  await rows.create(notices, { issueId, text, occasion });
}
