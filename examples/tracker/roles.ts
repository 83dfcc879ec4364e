import type { PolicyContext } from "portico";

const resources = ["labels", "projects", "memberships", "milestones", "issues", "comments", "attachments"];

/** The scopes of each role. The first user of an organisation is its owner. */
export const roles = {
  owner: "*",
  manager: ["users:read", "notices:read", "stats:read", ...resources.flatMap(readAndWrite)],
  member: [
    ...["users:read", "notices:read", "stats:read", "labels:read", "projects:read"],
    ...["memberships:read", "milestones:read"],
    ...["issues", "comments", "attachments"].flatMap(readAndWrite),
  ],
} as const;

function readAndWrite(resource: string): string[] {
  return [`${resource}:read`, `${resource}:write`];
}

/** Owners and managers see and change every project of their organisation. */
export function managesProjects({ caller }: PolicyContext): boolean {
  return caller.kind === "system" || caller.role === "owner" || caller.role === "manager";
}

/** Members of a project write its issues, and so do those who manage projects. */
export function isMember(context: PolicyContext) {
  return (
    managesProjects(context) || { project: { memberships: { some: { userId: context.caller.userId } } } }
  );
}
