// The form that sends a request to an operation. The key stays in this variable: it is never stored, logged, or part of a
// URL. The form and its request are one module, because they share the key, so the file is longer than most.

let key = "";

/** Characters of a response that are shown. */
const maxShown = 100_000;
/** The time after which a request is given up, in milliseconds. */
const timeLimit = 30_000;

/**
 * @typedef {{ name: string, in: "path" | "query" | "header", required: boolean, choices?: unknown[], isRepeated?: boolean }} Parameter
 * @typedef {{ name: string, isFile: boolean, text: string }} FormField
 * @typedef {{ type: string, text?: string, fields?: FormField[] }} Body
 * @typedef {{ method: string, path: string, parameters: Parameter[], body?: Body }} Operation
 */

/** Lets the buttons of the page open the forms of their operations. */
export function addRequestForms() {
  for (const button of document.querySelectorAll("button.try")) {
    if (!(button instanceof HTMLElement)) continue;
    /** @type {HTMLFormElement | undefined} */
    let form;
    button.addEventListener("click", () => {
      if (!form) {
        form = formFor(JSON.parse(button.dataset.form ?? "{}"), button);
        button.after(form);
      } else form.hidden = !form.hidden;
      button.setAttribute("aria-expanded", String(!form.hidden));
      if (form.hidden) return;
      const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("key"));
      field.value = key;
      field.focus();
    });
  }
}

let forms = 0;

/**
 * @param {Operation} operation
 * @param {HTMLElement} button
 */
function formFor(operation, button) {
  const form = document.createElement("form");
  const id = `request-${++forms}`;
  form.className = "request-form";
  form.noValidate = false;
  form.autocomplete = "off";
  const keyField = input("password", "key");
  keyField.autocomplete = "off";
  keyField.spellcheck = false;
  keyField.addEventListener("input", () => {
    key = keyField.value.trim();
  });
  form.append(labelled("API key or access token", keyField, `${id}-key`, false));
  operation.parameters.forEach((parameter, index) => {
    const field = fieldFor(parameter, `parameter-${index}`);
    form.append(labelled(parameter.name, field, `${id}-${index}`, parameter.required));
  });
  form.append(...bodyFields(operation.body, id));
  const send = document.createElement("button");
  send.className = "send";
  send.textContent = `Send ${operation.method}`;
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  const output = document.createElement("div");
  output.className = "output";
  form.append(send, status, output);
  form.setAttribute("aria-label", button.ariaLabel ?? "");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send.disabled = true;
    output.replaceChildren();
    status.textContent = "Sending …";
    sendRequest(operation, form)
      .then(
        (answer) => showAnswer(answer, status, output),
        ({ name, message }) => {
          status.textContent = name === "TimeoutError" ? "There was no answer in 30 seconds." : message;
        },
      )
      .finally(() => {
        send.disabled = false;
      });
  });
  return form;
}

/**
 * @param {string} type
 * @param {string} name
 */
function input(type, name) {
  const field = document.createElement("input");
  field.type = type;
  field.name = name;
  return field;
}

/**
 * @param {Parameter} parameter
 * @param {string} name
 */
function fieldFor({ choices, required }, name) {
  if (!choices) {
    const field = input("text", name);
    field.required = required;
    return field;
  }
  const field = document.createElement("select");
  field.name = name;
  field.append(...["", ...choices.map(String)].map((text) => new Option(text)));
  field.required = required;
  return field;
}

/**
 * @param {string} text
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} field
 * @param {string} id
 * @param {boolean} isRequired
 */
function labelled(text, field, id, isRequired) {
  const label = document.createElement("label");
  field.id = id;
  label.htmlFor = id;
  label.textContent = isRequired ? `${text} (required)` : text;
  const row = document.createElement("div");
  row.append(label, field);
  return row;
}

/**
 * @param {Body | undefined} body
 * @param {string} id
 */
function bodyFields(body, id) {
  if (!body) return [];
  if (body.fields)
    return body.fields.map(({ name, isFile, text }, index) => {
      const field = input(isFile ? "file" : "text", `field-${index}`);
      if (!isFile) field.value = text;
      return labelled(name, field, `${id}-field-${index}`, false);
    });
  const field = document.createElement("textarea");
  field.name = "body";
  field.value = body.text ?? "";
  field.rows = Math.min(20, field.value.split("\n").length + 1);
  field.spellcheck = false;
  return [labelled(`Body (${body.type})`, field, `${id}-body`, false)];
}

/**
 * @param {Operation} operation
 * @param {HTMLFormElement} form
 */
async function sendRequest({ method, path, parameters, body }, form) {
  const values = new FormData(form);
  const headers = new Headers();
  const query = new URLSearchParams();
  let filled = path;
  parameters.forEach((parameter, index) => {
    const value = String(values.get(`parameter-${index}`) ?? "").trim();
    if (value === "") return;
    if (parameter.in === "path") filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (parameter.in === "header") headers.set(parameter.name, value);
    else
      for (const each of parameter.isRepeated ? value.split(",") : [value])
        query.append(parameter.name, each.trim());
  });
  if (key !== "") headers.set("Authorization", `Bearer ${key}`);
  const content = body && bodyOf(body, values);
  if (body && !body.fields) headers.set("Content-Type", body.type);
  const url = `${document.body.dataset.api}${filled}${query.size > 0 ? `?${query}` : ""}`;
  const started = performance.now();
  const response = await fetch(url, {
    ...{ method, headers, body: content, credentials: "omit", redirect: "manual", cache: "no-store" },
    signal: AbortSignal.timeout(timeLimit),
  });
  const text = await beginningOf(response);
  return { method, url, response, text, milliseconds: Math.round(performance.now() - started) };
}

/**
 * @param {Body} body
 * @param {FormData} values
 */
function bodyOf(body, values) {
  if (!body.fields) {
    const text = String(values.get("body") ?? "");
    return text.trim() === "" ? undefined : text;
  }
  const content = new FormData();
  body.fields.forEach(({ name }, index) => {
    const value = values.get(`field-${index}`);
    if (value === null || value === "" || (value instanceof File && value.name === "")) return;
    content.append(name, value);
  });
  return content;
}

/**
 * Reads no more of a response than is shown.
 *
 * @param {Response} response
 */
async function beginningOf(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (reader && text.length < maxShown) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
  }
  reader?.cancel().catch(() => {});
  return reader ? `${text.slice(0, maxShown)}\n…` : text;
}

/**
 * @param {Awaited<ReturnType<typeof sendRequest>>} answer
 * @param {HTMLElement} status
 * @param {HTMLElement} output
 */
function showAnswer({ method, url, response, text, milliseconds }, status, output) {
  status.textContent = `${response.status} ${response.statusText}, ${milliseconds} ms`;
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = "Response headers";
  details.append(summary, block(headers));
  output.replaceChildren(block(`${method} ${url}`), details, ...(text === "" ? [] : [block(readable(text))]));
}

/** @param {string} text */
function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {string} text */
function block(text) {
  const pre = document.createElement("pre");
  const code = document.createElement("code");
  code.textContent = text;
  pre.append(code);
  // It may scroll.
  pre.tabIndex = 0;
  return pre;
}
