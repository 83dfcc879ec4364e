// An operation as HTML: what it does, what it takes and returns, examples, and a form that sends a request.

import { type Html, html } from "../lib/html.ts";
import type { JsonSchema } from "../model/json-schema.ts";
import type { ParameterObject, ResponseObject } from "../openapi/description.ts";
import type { Contents, DescribedOperation } from "./contents.ts";
import { blocks, inline } from "./markdown.ts";
import { languages } from "./sample-code.ts";
import { isFile, parametersOf, type SampleRequest, sampleRequest, successOf } from "./sample-request.ts";
import { fieldView, type Linked, membersView, typeView } from "./schema-view.ts";

export function operationView(described: DescribedOperation, linked: Linked): Html {
  const { title, method, path, operation } = described;
  const { operationId: id, description, deprecated } = operation;
  const request = sampleRequest(described, linked.contents);
  return html`<section class="operation" aria-labelledby="${id}">
<div class="about">
<h2 id="${id}" tabindex="-1"><a class="anchor" href="#${id}">${title}</a></h2>
<p class="request"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>${
    deprecated ? html` <span class="badge warning">deprecated</span>` : undefined
  }</p>
${deprecated ? deprecationView(operation["x-sunset"]) : undefined}${description === undefined ? undefined : blocks(description)}${accessView(described)}
${parametersView(described, linked)}${bodyView(described, linked)}${responsesView(described, linked)}</div>
<div class="examples">
${samplesView(id, request)}${exampleResponse(described, linked)}${tryView(described, request, linked)}</div>
</section>
`;
}

function deprecationView(sunset: string | undefined): Html {
  const end = sunset === undefined ? "" : ` It may be gone from ${sunset.slice(0, 10)} on.`;
  return html`<p class="notice">Do not use it in new programs.${end}</p>\n`;
}

/** Who may use the operation. */
function accessView({ operation }: DescribedOperation): Html {
  const security = operation.security ?? [];
  const scopes = [...new Set(security.flatMap((each) => each.oauth2 ?? []))];
  if (security.some((each) => Object.keys(each).length === 0))
    return html`<p class="access">Public: needs no secret credential.</p>`;
  if (scopes.length === 0) return html`<p class="access">Any credential can use it.</p>`;
  return html`<p class="access">Scope: ${scopes.map((scope) => html`<code>${scope}</code> `)}</p>`;
}

const locations = [
  ["path", "Path parameters"],
  ["query", "Query parameters"],
  ["header", "Request headers"],
] as const;

function parametersView(described: DescribedOperation, linked: Linked): Html {
  const parameters = parametersOf(described, linked.contents);
  return html`${locations.map(([location, title]) => {
    const located = parameters.filter((each) => each.in === location);
    if (located.length === 0) return html``;
    return html`<h3>${title}</h3>
<dl class="fields">
${located.map((each) => parameterView(each, linked))}</dl>
`;
  })}`;
}

function parameterView(parameter: ParameterObject, linked: Linked): Html {
  const { name, description, schema, required = false, deprecated = false } = parameter;
  return fieldView({ name, description, schema, isRequired: required, isDeprecated: deprecated }, linked);
}

function bodyView({ operation }: DescribedOperation, linked: Linked): Html | undefined {
  if (!operation.requestBody) return undefined;
  const { content, description, required } = linked.contents.resolve(operation.requestBody);
  const bodies = Map.groupBy(Object.entries(content), ([, { schema }]) => JSON.stringify(schema));
  const views = [...bodies.values()].map((media) => {
    const types = media.map(([type]) => html`<code>${type}</code> `);
    const schema = media[0]?.[1].schema;
    return html`<p class="media">${types}${schema ? typeView(schema, linked) : undefined}</p>
${schema && membersView(linked.contents.resolve(schema), linked)}`;
  });
  return html`<h3>Request body${required ? undefined : " (optional)"}</h3>
${description === undefined ? undefined : blocks(description)}${views}`;
}

function responsesView({ operation }: DescribedOperation, linked: Linked): Html {
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, linked.contents.resolve(response)] as const,
  );
  const isError = (status: string): boolean => /^[45]/.test(status);
  const successes = responses.filter(([status]) => !isError(status));
  const errors = responses.filter(([status]) => isError(status));
  return html`<h3>Responses</h3>
<dl class="responses">
${successes.map(([status, response]) => successView(status, response, linked))}</dl>
<details>
<summary>Errors</summary>
<ul class="errors">
${errors.map(([status, response]) => errorView(status, response, linked))}</ul>
</details>
`;
}

function successView(
  status: string,
  { description, content = {}, headers = {} }: ResponseObject,
  linked: Linked,
): Html {
  const bodies = Object.entries(content).map(
    ([type, { schema }]) => html`<p class="media"><code>${type}</code> ${typeView(schema, linked)}</p>\n`,
  );
  const names = Object.keys(headers);
  const described = names.map(
    (name) =>
      html`<div class="field"><dt><code>${name}</code></dt><dd>${inline(linked.contents.resolve(headers[name]!).description)}</dd></div>\n`,
  );
  return html`<div class="field"><dt><span class="status">${status}</span></dt><dd>${blocks(description)}${bodies}${
    names.length === 0
      ? undefined
      : html`<details>\n<summary>Response headers</summary>\n<dl class="fields">\n${described}</dl>\n</details>\n`
  }</dd></div>
`;
}

/** The codes of a status. Their examples have their names. */
function errorView(status: string, { description, content = {} }: ResponseObject, linked: Linked): Html {
  const codes = Object.keys(content["application/json"]?.examples ?? {});
  const links = codes.map((code) => html`<a href="${linked.path}/errors#${code}"><code>${code}</code></a> `);
  return html`<li><span class="status">${status}</span> ${codes.length === 0 ? inline(description) : links}</li>\n`;
}

/** Examples in each language. The script of the page shows one at a time. */
export function samplesView(id: string, request: SampleRequest): Html {
  return html`<div class="samples">
${languages.map(
  ([name, codeOf]) => html`<div class="sample" id="${id}-${name}" data-language="${name}">
<h3>${name}</h3>
<pre><code>${codeOf(request)}</code></pre>
</div>
`,
)}</div>
`;
}

function exampleResponse({ operation }: DescribedOperation, { contents }: Linked): Html | undefined {
  const success = successOf(operation.responses, contents);
  if (!success || success.type === undefined || success.example === undefined) return undefined;
  const { example } = success;
  const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return html`<div class="answer">
<h3>Response ${success.status}</h3>
<pre><code>${text}</code></pre>
</div>
`;
}

/** A button for the script, with all that its form needs. The script adds the credential. */
function tryView(
  described: DescribedOperation,
  request: SampleRequest,
  { contents }: Linked,
): Html | undefined {
  const { title, method, path, server } = described;
  if (server !== contents.description.servers[0]!.url) return undefined;
  const parameters = parametersOf(described, contents).map(
    ({ name, in: location, required = false, schema, explode }) => ({
      ...{ name, in: location, required },
      ...choicesOf(schema),
      ...(schema.type === "array" && explode === true && { isRepeated: true }),
    }),
  );
  const form = { method, path, parameters, body: formBody(described, request, contents) };
  return html`<button type="button" class="try" aria-expanded="false" aria-label="Try it: ${title}" data-form="${JSON.stringify(form)}">Try it</button>
`;
}

function choicesOf(schema: JsonSchema): { readonly choices?: readonly unknown[] } {
  if (Array.isArray(schema.enum)) return { choices: schema.enum };
  return schema.type === "boolean" ? { choices: [true, false] } : {};
}

function formBody(
  { operation }: DescribedOperation,
  { body }: SampleRequest,
  contents: Contents,
): object | undefined {
  if (!body) return undefined;
  if (body.kind === "json") return { type: body.type, text: JSON.stringify(body.value, null, 2) };
  if (body.kind === "text") return { type: body.type, text: body.text };
  const { schema } = contents.resolve(operation.requestBody!).content["multipart/form-data"]!;
  const { properties = {} } = contents.resolve(schema) as JsonSchema;
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  const texts = new Map(body.fields);
  return {
    type: "multipart/form-data",
    fields: fields.map(([name, property]) => {
      const text = texts.get(name);
      return { name, isFile: isFile(property), text: typeof text === "string" ? text : "" };
    }),
  };
}
