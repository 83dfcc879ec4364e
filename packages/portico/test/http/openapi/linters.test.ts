// The rules of Redocly and Spectral find nothing in a description, and its examples are valid.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import type { App } from "../../../src/declare/app.ts";
import { describeApi } from "../../../src/openapi/describe-api.ts";
import type { MediaType, OpenApiDescription } from "../../../src/openapi/description.ts";
import { composeApp } from "../../../src/runtime/compose.ts";
import { loadApp } from "../../../src/runtime/config.ts";
import { readSettings } from "../../../src/runtime/settings/settings.ts";
import { projectFolder } from "../../support/server.ts";
import { catalogue } from "./catalogue.ts";
import { DescribedApi } from "./described-api.ts";

function descriptionOf(app: App, environment: Readonly<Record<string, string>> = {}): OpenApiDescription {
  const { model, describedRoutes, settings } = composeApp(app, readSettings(environment, app.settings));
  const { publicUrl: resource } = settings;
  const urls = { resource, issuer: environment.AUTH_URL ?? `${resource}/oauth` };
  return describeApi({ app, model, urls, routes: describedRoutes });
}

describe("an OpenAPI description", () => {
  const descriptions: OpenApiDescription[] = [];

  before(async () => {
    descriptions.push(
      descriptionOf(await loadApp(projectFolder)),
      descriptionOf(catalogue, {
        PUBLIC_URL: "https://api.catalogue.test/base",
        AUTH_URL: "https://login.catalogue.test",
      }),
    );
  });

  test("passes the recommended rules of Redocly", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    for (const description of descriptions) {
      const source = JSON.stringify(description);
      const problems = await lintFromString({ source, absoluteRef: "/openapi.json", config });
      assert.deepEqual(
        problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
        [],
      );
    }
  });

  test("passes the recommended rules of Spectral", async () => {
    for (const [index, description] of descriptions.entries()) {
      const linter = new spectral.Spectral();
      // These take most of the time, and the examples of both are checked below as well.
      const slow = ["oas3-valid-media-example", "oas3-valid-schema-example"];
      linter.setRuleset({
        // Its own type is narrower than what it documents.
        extends: [[rulesets.oas as never, "recommended"]],
        rules: Object.fromEntries(index === 0 ? [] : slow.map((rule) => [rule, "off"])),
      });
      const problems = await linter.run(JSON.parse(JSON.stringify(description)));
      assert.deepEqual(
        problems.map(({ code, message, path }) => `${code}: ${message} ${path.join("/")}`),
        [],
      );
    }
  });

  test("has examples that its schemas accept", () => {
    for (const description of descriptions) {
      const api = new DescribedApi(description);
      let count = 0;
      for (const { schema, example } of mediaTypesOf(description)) {
        if (example === undefined) continue;
        count += 1;
        assert.deepEqual(api.errorsOf(schema, example), [], JSON.stringify(example));
      }
      assert.ok(count > 100, `only ${count} examples`);
    }
  });
});

/** Every media type of a description. */
function mediaTypesOf(value: unknown): MediaType[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "schema" in value && "example" in value ? [value as unknown as MediaType] : [];
  return [...own, ...Object.values(value).flatMap(mediaTypesOf)];
}
