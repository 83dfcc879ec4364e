// `/members`: those who manage the users of a tenant see them and their roles, and invite others. Every change passes
// through the engine, on behalf of the signed-in user, so the rules of roles are those of the API.

import { invitationsTable } from "../../auth/invitations/fields.ts";
import { usersTable } from "../../auth/users/fields.ts";
import { scopeBeyond } from "../../auth/users/role-rules.ts";
import { usersWriteScope } from "../../declare/administrative-scopes.ts";
import type { Caller } from "../../declare/caller.ts";
import { canRead } from "../../engine/authorize.ts";
import { Problem } from "../../errors.ts";
import type { Model, ResourceModel } from "../../model/model.ts";
import type { Condition } from "../../query/condition.ts";
import { searchWords } from "../../query/search-terms.ts";
import { wholeRow } from "../../query/selection.ts";
import { newestFirst, singleSort } from "../../query/sort.ts";
import {
  type PageContext,
  type PageRequest,
  redirectSeeOther,
  sendPage,
  sendRefusedForm,
} from "../interaction/page-request.ts";
import { membersPage, type ShownInvitation, type ShownMember } from "../pages/members-page.ts";
import { type Refusal, refusalPage } from "../pages/plain-pages.ts";
import { callerOf, requireSignedIn, type SignedInUser } from "./signed-in.ts";

const membersPerPage = 20;
const maxInvitations = 50;
const maxPage = 10_000;
const maxSearchLength = 100;

/** Shows the members; a form changes a role, deactivates or activates a user, or sends or withdraws an invitation. */
export async function showMembers(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, model } = context;
  const signedIn = await requireSignedIn(context, pageRequest);
  if (!signedIn) return;
  const caller = callerOf(model, signedIn.user, pageRequest.address);
  if (!caller.scopes.has(usersWriteScope))
    return sendPage(issuer, pageRequest, 403, refusalPage(issuer, notAllowed));
  const { form, query } = pageRequest;
  if (!form) return showList(context, pageRequest, signedIn, caller, 200);
  try {
    if (!(await applyChange(context, caller, form))) return sendRefusedForm(issuer, pageRequest);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    for (const [name, value] of Object.entries(error.headers)) pageRequest.response.setHeader(name, value);
    return showList(context, pageRequest, signedIn, caller, error.status, error.message);
  }
  redirectSeeOther(issuer, pageRequest, query.size === 0 ? "/members" : `/members?${query}`);
}

/** @returns false for a form that is not of this page */
async function applyChange(
  { engine, model }: PageContext,
  caller: Caller,
  form: URLSearchParams,
): Promise<boolean> {
  const [users, invitations] = [resourceOf(model, usersTable), resourceOf(model, invitationsTable)];
  const field = (name: string): string => form.get(name) ?? "";
  const change = field("change");
  const changes: Readonly<Record<string, object>> = {
    role: { role: field("role") },
    deactivate: { active: false },
    activate: { active: true },
  };
  if (Object.hasOwn(changes, change)) {
    await engine.update(caller, users, field("user"), changes[change]);
    return true;
  }
  if (!invitations.isExposed) return false;
  if (change === "invite") {
    await engine.create(caller, invitations, { email: field("email").trim(), role: field("role") });
    return true;
  }
  const id = field("invitation");
  if (change === "send")
    await engine.runAction(caller, invitations, id, invitations.actions.get("mails")!, {});
  else if (change === "withdraw") await engine.delete(caller, invitations, id);
  else return false;
  return true;
}

async function showList(
  context: PageContext,
  pageRequest: PageRequest,
  { user, csrf }: SignedInUser,
  caller: Caller,
  status: number,
  error?: string,
): Promise<void> {
  const { issuer, model } = context;
  const { query, form } = pageRequest;
  const search = (query.get("q") ?? "").slice(0, maxSearchLength).toWellFormed();
  const number = Math.trunc(Number(query.get("page") ?? 1));
  const page = number >= 1 && number <= maxPage ? number : 1;
  const { members, hasMore } = await membersOf(context, caller, search, page);
  const shown = {
    ...{ csrf, members, hasMore, search, page, error },
    invitations: await invitationsOf(context, caller),
    roles: model.roles.filter(({ scopes }) => scopes.isSubsetOf(caller.scopes)).map(({ name }) => name),
    defaultRole: model.roles.at(-1)!.name,
    email: form?.get("email") ?? "",
  };
  sendPage(issuer, pageRequest, status, membersPage(issuer, user, shown));
}

/** A page of members, of whom somebody with `users:write` alone sees none. */
async function membersOf({ engine, model }: PageContext, caller: Caller, search: string, number: number) {
  const resource = resourceOf(model, usersTable);
  if (!canRead(caller, resource.access.list)) return { members: undefined, hasMore: false };
  const page = await engine.list(caller, {
    ...{ resource, selection: wholeRow(resource), conditions: [], words: searchWords(search) },
    sort: singleSort(resource, "name")!,
    page: { style: "page", limit: membersPerPage, number },
  });
  const rows: readonly Omit<ShownMember, "isSelf" | "isManageable">[] = JSON.parse(page.rows);
  const members = rows.map((row): ShownMember => {
    const isManageable = scopeBeyond(model, row.role, caller) === undefined;
    return { ...row, isSelf: row.id === caller.userId, isManageable };
  });
  return { members, hasMore: page.hasMore };
}

/** Those that can be sent again or withdrawn, newest first; undefined if nobody can be invited. */
async function invitationsOf(
  { engine, model }: PageContext,
  caller: Caller,
): Promise<readonly ShownInvitation[] | undefined> {
  const resource = resourceOf(model, invitationsTable);
  if (!resource.isExposed) return undefined;
  const status = resource.attribute.get("status")!;
  const isOpen: Condition = { attribute: status, operator: "in", values: ["pending", "expired"] };
  const { rows } = await engine.list(caller, {
    ...{ resource, selection: wholeRow(resource), conditions: [isOpen], words: [] },
    sort: newestFirst(resource),
    page: { style: "first", limit: maxInvitations },
  });
  const invitations: readonly Omit<ShownInvitation, "isManageable">[] = JSON.parse(rows);
  return invitations.map((each) => ({
    ...each,
    isManageable: scopeBeyond(model, each.role, caller) === undefined,
  }));
}

function resourceOf(model: Model, { name }: { readonly name: string }): ResourceModel {
  return model.resource.get(name)!;
}

const notAllowed: Refusal = {
  title: "You cannot manage the members",
  text: "Your role does not allow it.",
};
