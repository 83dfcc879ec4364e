// Webhook endpoints as a resource: where events are sent, and which.

import { ownContext } from "../auth/own-hook-context.ts";
import { type Principal, principalOf } from "../auth/principal.ts";
import { rotationInput } from "../auth/rotation.ts";
import { requireTenant } from "../auth/tenants/existing-tenant.ts";
import type { HookContext } from "../declare/hooks.ts";
import { type Resource, resource } from "../declare/resource.ts";
import { type FieldError, Problem, validationError } from "../errors.ts";
import { unknownPatterns } from "../events/event-patterns.ts";
import type { Encryption } from "../lib/encryption.ts";
import { webhookScopes } from "./delivery.ts";
import { countEndpoints, selectPresent, selectSecrets } from "./endpoint-queries.ts";
import { forgetFailures, insertQueue, wakeQueue } from "./endpoint-queue.ts";
import { endpointUrlError } from "./endpoint-url.ts";
import { endpointFields } from "./endpoints-table.ts";
import { generateSecret, type StoredSecret, withNewSecret } from "./secret.ts";

/** Endpoints of one tenant. */
export const maxEndpoints = 100;

const secretWarning = "Store the secret now: it is not shown again.";

/** The type of the built-in resource for webhook endpoints. */
export type WebhookEndpoints = Resource<"webhookEndpoint", typeof endpointFields, undefined>;

export interface EndpointOptions {
  /** Whether plain HTTP and addresses that are not public are allowed. */
  readonly isPrivateAllowed: boolean;
  /** Of the secrets. */
  readonly encryption: () => Encryption;
}

export function declareEndpoints({ isPrivateAllowed, encryption }: EndpointOptions): WebhookEndpoints {
  const endpoints: WebhookEndpoints = resource("webhookEndpoint", {
    fields: endpointFields,
    version: "v1",
    scopes: webhookScopes,
    filter: ["status"],
    validate: ({ url }) => urlErrors(url, isPrivateAllowed),
    returnsOnce: {
      secret: "The secret that signs deliveries. It is not shown again.",
      warning: "That the secret is not shown again.",
    },
    hooks: {
      before: {
        async create(input, context) {
          await requireTenant(ownContext(context));
          await requireRoom(context);
          requireKnownTypes(input.eventTypes, context);
          const secret = generateSecret();
          context.returnOnce({ secret, warning: secretWarning });
          return {
            ...(await startNow(context)),
            disabledReason: input.status === "disabled" ? "manual" : null,
            secrets: withNewSecret(encryption(), secret, [], context.now, context.now),
            principal: principalFor(context),
          };
        },
        async update(changes, context) {
          const { current } = context;
          if (changes.eventTypes) requireKnownTypes(changes.eventTypes, context);
          const status = changes.status ?? current.status;
          const isEnabled = status === "enabled" && current.status === "disabled";
          const isTakenOver = changes.url !== undefined || changes.eventTypes !== undefined;
          return {
            ...(isEnabled && (await startNow(context))),
            // The server itself sets another reason.
            ...(!("disabledReason" in changes) && { disabledReason: disabledReasonOf(status, current) }),
            // Who decides what is sent, and where, must be allowed to see it.
            ...(isTakenOver && { principal: principalFor(context) }),
          };
        },
      },
      after: {
        async create({ id: endpointId }, context) {
          const { caller, now } = context;
          await ownContext(context).query(insertQueue, { tenantId: caller.tenantId, endpointId, now });
        },
        // What is pending fails if the endpoint was disabled or deleted.
        async update(endpoint, context) {
          const { caller, previous } = context;
          await wake(endpoint.id, context);
          const isEnabled = endpoint.status === "enabled" && previous.status === "disabled";
          if (isEnabled || endpoint.url !== previous.url)
            await ownContext(context).query(forgetFailures, {
              tenantId: caller.tenantId,
              endpointId: endpoint.id,
            });
        },
        delete: (endpoint, context) => wake(endpoint.id, context),
      },
    },
    actions: {
      rotations: {
        verb: "rotate",
        input: rotationInput("secret"),
        async run({ current, input: { overlapSeconds }, ...context }) {
          const { caller, now, rows, returnOnce } = context;
          const target = { tenantId: caller.tenantId, endpointId: current.id };
          const [stored] = await ownContext(context).query(selectSecrets, target);
          // Written by the hooks above.
          const earlier: readonly StoredSecret[] = JSON.parse(stored!.secrets);
          const secret = generateSecret();
          const overlapEnd = new Date(Date.parse(now) + Number(overlapSeconds) * 1000).toISOString();
          const secrets = withNewSecret(encryption(), secret, earlier, overlapEnd, now);
          returnOnce({ secret, warning: secretWarning });
          return rows.update(endpoints, current.id, { secrets });
        },
      },
    },
  });
  return endpoints;
}

function urlErrors(url: unknown, isPrivateAllowed: boolean): readonly FieldError[] {
  const error = typeof url === "string" ? endpointUrlError(url, isPrivateAllowed) : undefined;
  return error === undefined ? [] : [{ field: "url", issue: "format", text: error }];
}

/** @throws Problem `validation_error` for a type that no resource has */
function requireKnownTypes(patterns: readonly string[], context: HookContext): void {
  const unknown = unknownPatterns(patterns, ownContext(context).model);
  if (unknown.length === 0) return;
  const message = `There are no events of these types: ${unknown.join(", ")}. Types are \`post.created\`, \`post.*\` and \`*\`, for example.`;
  throw validationError("eventTypes", "choice", message);
}

/** @throws Problem `conflict` if the tenant has as many endpoints as it may have */
async function requireRoom(context: HookContext): Promise<void> {
  const { tenantId } = context.caller;
  const [counted] = await ownContext(context).query(countEndpoints, { tenantId });
  if (Number(counted!.count) < maxEndpoints) return;
  throw new Problem("conflict", `There can be at most ${maxEndpoints} webhook endpoints. Delete one first.`);
}

/** @throws Problem `forbidden` for a caller that cannot be one later */
function principalFor({ caller }: HookContext): Principal {
  const principal = principalOf(caller);
  if (principal) return principal;
  throw new Problem(
    "forbidden",
    "Webhook endpoints cannot be managed with this credential, because its rights cannot be checked later.",
  );
}

/** Events from now on. */
async function startNow(context: HookContext) {
  const [present] = await ownContext(context).query(selectPresent, undefined);
  const { transactionId, sequence, snapshot } = present!;
  return {
    startTransaction: Number(transactionId),
    startSequence: Number(sequence),
    startSnapshot: snapshot,
  };
}

function disabledReasonOf(
  status: string,
  current: { readonly status: string; readonly disabledReason: string | null },
): "manual" | null | undefined {
  if (status === "enabled") return null;
  return current.status === "enabled" ? "manual" : undefined;
}

async function wake(endpointId: string, context: HookContext): Promise<void> {
  const { caller, now } = context;
  await ownContext(context).query(wakeQueue, { tenantId: caller.tenantId, endpointId, dueAt: now });
}
