// The paths at which a module may register routes.

import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { ListedPaths, requireFreePaths } from "../../src/http/reserved-paths.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Module } from "../../src/runtime/module.ts";
import { allowedPaths } from "../../src/runtime/running-modules.ts";

const fields = { url: text({ max: 200 }) };
const deliveries = resource("webhookDelivery", { fields, operations: ["list", "get"] });
const hidden = resource("webhookDelivery", { fields, exposed: false });
const posts = resource("post", { fields: { title: text({ max: 200 }) } });

/** Composes an app of one resource with a module, which registers one route. */
function register(module: Module, route: string): void {
  const model = buildModel(app({ name: "Blog", resources: [posts] }), module.resources ?? []);
  requireFreePaths(model.resources, module.paths ?? []);
  const server = Fastify();
  const { servesOperations = false } = module;
  new ListedPaths(server).expect({ servesOperations, paths: allowedPaths(module, model) });
  server.post(route, async () => "");
}

const notListed = (route: string): RegExp => new RegExp(`registers ${route} does not list its path`);

test("a module registers a route at the path of its own resource, which it need not list", () => {
  register({ resources: [deliveries] }, "/v1/webhook-deliveries/:id/retry");
  register({ resources: [deliveries], paths: ["webhooks"] }, "/webhook-deliveries/:id/retry");
});

test("a module registers a route at a path that it lists", () => {
  register({ resources: [deliveries], paths: ["webhooks"] }, "/v1/webhooks/test");
});

test("a route at any other path is refused, whether the module lists paths or not", () => {
  const route = "/v1/webhooks/test";
  assert.throws(() => register({}, route), notListed(route));
  assert.throws(() => register({ resources: [deliveries] }, route), notListed(route));
  assert.throws(() => register({ paths: ["webhook"] }, route), notListed(route));
});

test("a route at the path of another resource is refused", () => {
  assert.throws(
    () => register({ resources: [deliveries] }, "/posts/:id/retry"),
    notListed("/posts/:id/retry"),
  );
});

test("the path of a resource that is not exposed has to be listed", () => {
  const route = "/webhook-deliveries/:id/retry";
  assert.throws(() => register({ resources: [hidden] }, route), notListed(route));
  register({ resources: [hidden], paths: ["webhook-deliveries"] }, route);
});

test("a module that serves the operations of the model registers routes at any path", () => {
  register({ servesOperations: true }, "/posts/:id");
});

test("a resource cannot take a path that a module lists", () => {
  assert.throws(() => register({ paths: ["posts"] }, "/posts"), /posts is a path of the server's own/);
});
