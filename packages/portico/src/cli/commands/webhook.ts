// portico webhook list, create, test, listen

import { findUser } from "../../auth/tenants/tenant.ts";
import { OperatorError } from "../../errors.ts";
import { findEndpoint } from "../../webhooks/endpoint-queries.ts";
import { sendTest } from "../../webhooks/test-event.ts";
import type { Command } from "../command.ts";
import { ifPresent, tenantOption, withTenant } from "../tenant-work.ts";

const webhookList: Command = {
  name: "webhook list",
  summary: "List the webhook endpoints of a tenant, newest first.",
  options: { tenant: tenantOption },
  async run(args) {
    const webhooks = await withTenant(args, (context) => context.newest(context.webhookEndpoints));
    const rows = webhooks.map(
      ({ id, status, disabledReason, url, eventTypes }) =>
        `${id}  ${disabledReason ?? status}  ${url}  ${eventTypes.join(", ")}`,
    );
    return { json: { webhooks }, lines: rows.length > 0 ? rows : ["No webhook endpoints yet."] };
  },
};

const webhookCreate: Command = {
  name: "webhook create",
  summary: "Create a webhook endpoint and print its secret, which is shown only once.",
  options: {
    url: { value: "URL", help: "where events are sent", isRequired: true },
    "event-types": { value: "A,B", help: "post.created, post.* or *", isRequired: true },
    description: { value: "TEXT", help: "a note for people" },
    tenant: tenantOption,
    user: { value: "ID", help: "whose rows it gets events of (default: the tenant's first user)" },
  },
  run: (args) =>
    withTenant(args, async (context) => {
      const { store, engine, caller } = context;
      const userId = await findUser(store, caller.tenantId, args.text("user"));
      if (userId === null)
        throw new OperatorError("the tenant has no user yet; create one: portico user create --email EMAIL");
      const written = await engine.create({ ...caller, userId }, context.model(context.webhookEndpoints), {
        url: args.required("url"),
        eventTypes: args.list("event-types"),
        ...ifPresent("description", args.text("description")),
      });
      const webhook = { ...JSON.parse(written.text), ...written.returnedOnce };
      return {
        json: webhook,
        lines: [webhook.secret, "", `${webhook.warning} The id of the endpoint is ${webhook.id}.`],
      };
    }),
};

const webhookTest: Command = {
  name: "webhook test",
  summary: "Send an event to a webhook endpoint through a running server, and show the outcome.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const { store, engine, caller, settings } = context;
      const [endpointId = ""] = args.positionals;
      const target = await findEndpoint(store, store.database, { tenantId: caller.tenantId, endpointId });
      if (!target)
        throw new OperatorError(`the tenant has no webhook endpoint ${endpointId}; see portico webhook list`);
      const attemptTimeoutMs = settings.webhookTimeout * 1_000;
      const delivery = JSON.parse(await sendTest({ store, engine, attemptTimeoutMs }, caller, target));
      const { status, attempts, lastStatus, lastError, durationMs, id } = delivery;
      const answer = lastError ?? `The endpoint answered ${lastStatus} after ${durationMs} ms.`;
      const state = status === "pending" ? "is pending" : `has ${status}`;
      const outcome = attempts === 0 ? "No server has sent it yet; is one running?" : answer;
      return { json: { delivery }, lines: [`The delivery ${id} ${state}. ${outcome}`] };
    }),
};

const webhookListen: Command = {
  name: "webhook listen",
  summary: "Print the events of a tenant until SIGINT, and forward them to an address on this machine.",
  options: {
    forward: { value: "URL", help: "where to send them: http://localhost:8080/webhooks" },
    "event-types": { value: "A,B", help: "only these: post.created, post.* (default: *)" },
    tenant: tenantOption,
    json: { help: "print one JSON object for each event" },
  },
  async run(args) {
    const { listen } = await import("../webhook-listener.ts");
    const eventTypes = args.text("event-types") === undefined ? ["*"] : args.list("event-types");
    const options = { forward: args.text("forward"), eventTypes, isJson: args.isSet("json") };
    await withTenant(args, (context) => listen(context, options));
    return undefined;
  },
};

export const commands: readonly Command[] = [webhookList, webhookCreate, webhookTest, webhookListen];
