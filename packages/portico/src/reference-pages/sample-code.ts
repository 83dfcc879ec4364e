// A request as a program sends it: by curl, in JavaScript and in Python.

import type { SampleBody, SampleRequest } from "./sample-request.ts";

/** The languages of examples, with the code for a request. */
export const languages: readonly (readonly [name: string, codeOf: (request: SampleRequest) => string])[] = [
  ["curl", curl],
  ["JavaScript", javaScript],
  ["Python", python],
];

/** For a POSIX shell. */
function curl({ method, url, headers, body }: SampleRequest): string {
  const hasMethod = method === "GET" || (method === "POST" && body !== undefined);
  const lines = [
    `curl ${hasMethod ? "" : `-X ${method} `}${shellText(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`),
    ...curlBody(body),
  ];
  return lines.join(" \\\n  ");
}

function curlBody(body: SampleBody | undefined): string[] {
  if (!body) return [];
  if (body.kind === "form")
    return body.fields.map(([name, value]) =>
      typeof value === "string"
        ? `--form-string ${shellText(`${name}=${value}`)}`
        : `-F ${shellText(`${name}=@${value.name};type=${value.type}`)}`,
    );
  const text = body.kind === "json" ? JSON.stringify(body.value, null, 2) : body.text;
  return [`-H ${shellText(`Content-Type: ${body.type}`)}`, `--data-binary ${shellText(text)}`];
}

/** A word of a POSIX shell, whatever it contains. */
function shellText(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** For browsers, and for Node as a module. */
function javaScript({ method, url, headers, body, returnsJson }: SampleRequest): string {
  const type = body && body.kind !== "form" ? { "Content-Type": body.type } : {};
  const allHeaders = Object.entries({ ...headers, ...type });
  const options = [
    ...(method === "GET" ? [] : [`method: ${JSON.stringify(method)},`]),
    ...(allHeaders.length === 0
      ? []
      : [
          "headers: {",
          ...allHeaders.map(([name, value]) => `  ${property(name)}: ${JSON.stringify(value)},`),
          "},",
        ]),
    ...javaScriptBody(body),
  ];
  const fetched = options.length === 0 ? "" : `, {\n${options.map((line) => `  ${line}`).join("\n")}\n}`;
  const lines = [
    ...(body?.kind === "form"
      ? ["const form = new FormData();", ...body.fields.map(([name, value]) => formLine(name, value)), ""]
      : []),
    `const response = await fetch(${JSON.stringify(url)}${fetched});`,
    "if (!response.ok) throw new Error(await response.text());",
    returnsJson ? "console.log(await response.json());" : "console.log(response.status);",
  ];
  return lines.join("\n");
}

function formLine(name: string, value: string | { readonly name: string; readonly type: string }): string {
  if (typeof value === "string") return `form.append(${JSON.stringify(name)}, ${JSON.stringify(value)});`;
  const file = `new File(["..."], ${JSON.stringify(value.name)}, { type: ${JSON.stringify(value.type)} })`;
  return `form.append(${JSON.stringify(name)}, ${file});`;
}

function javaScriptBody(body: SampleBody | undefined): string[] {
  if (!body) return [];
  if (body.kind === "form") return ["body: form,"];
  if (body.kind === "text") return [`body: ${JSON.stringify(body.text)},`];
  const [first = "", ...rest] = JSON.stringify(body.value, null, 2).split("\n");
  const last = rest.length === 0 ? `${first}),` : `${first}`;
  return [`body: JSON.stringify(${last}`, ...rest.slice(0, -1), ...rest.slice(-1).map((line) => `${line}),`)];
}

/** The name of a property, quoted where it must be. */
function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** With the package `requests`, as most examples in Python. */
function python({ method, url, headers, body, returnsJson }: SampleRequest): string {
  const type = body && !isPythonJson(body) && body.kind !== "form" ? { "Content-Type": body.type } : {};
  const allHeaders = Object.entries({ ...headers, ...type });
  const lines = [
    "import requests",
    "",
    `response = requests.${method.toLowerCase()}(`,
    `    ${pythonLiteral(url)},`,
    ...(allHeaders.length === 0 ? [] : [`    headers=${pythonLiteral(Object.fromEntries(allHeaders), 4)},`]),
    ...pythonBody(body),
    ")",
    "response.raise_for_status()",
    returnsJson ? "print(response.json())" : "print(response.status_code)",
  ];
  return lines.join("\n");
}

/** Whether the argument `json` sends a body: it always sends the type application/json. */
function isPythonJson(body: SampleBody): boolean {
  return body.kind === "json" && body.type === "application/json";
}

function pythonBody(body: SampleBody | undefined): string[] {
  if (!body) return [];
  if (body.kind === "json" && isPythonJson(body)) return [`    json=${pythonLiteral(body.value, 4)},`];
  if (body.kind === "json") return [`    data=${pythonLiteral(JSON.stringify(body.value))},`];
  if (body.kind === "text") return [`    data=${pythonLiteral(body.text)}.encode(),`];
  const files = body.fields.map(([name, value]) => {
    const content =
      typeof value === "string"
        ? `(None, ${pythonLiteral(value)})`
        : `(${pythonLiteral(value.name)}, b"...", ${pythonLiteral(value.type)})`;
    return `        ${pythonLiteral(name)}: ${content},`;
  });
  return ["    files={", ...files, "    },"];
}

const pythonConstants = new Map<unknown, string>([
  [null, "None"],
  [true, "True"],
  [false, "False"],
]);

/** A JSON value as Python writes it. @param indent spaces before its last line */
function pythonLiteral(value: unknown, indent = 0): string {
  const constant = pythonConstants.get(value);
  if (constant !== undefined) return constant;
  // Texts and numbers of JSON are literals of Python too; `ensure_ascii` is not needed in UTF-8.
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => pythonLiteral(each, indent + 4))
    : Object.entries(value).map(
        ([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each, indent + 4)}`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return `${open}${close}`;
  const inner = " ".repeat(indent + 4);
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${" ".repeat(indent)}${close}`;
}
