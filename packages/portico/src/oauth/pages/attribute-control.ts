// The controls of a form that edits values of a row, by their kind.

import { capitalize, spaceCase } from "../../lib/case.ts";
import { type Html, html } from "../../lib/html.ts";
import type { Attribute } from "../../model/model.ts";

/** Longer texts, and those without a limit, get several lines. */
const maxLineLength = 200;

/** A value that a form edits. */
export interface EditedValue {
  readonly attribute: Attribute;
  /** What the control contains: `true`, `2026-11-21T09:30:00.000`; empty for no value. */
  readonly entered: string;
}

/** `birthDay` -> `Birth day` */
export function labelOf({ name }: Pick<Attribute, "name">): string {
  return capitalize(spaceCase(name));
}

/** A control with its label. References, lists and JSON have none. */
export function attributeControl({ attribute, entered }: EditedValue): Html | undefined {
  const { name, field, isOptional } = attribute;
  const label = labelOf(attribute);
  const required = isOptional ? undefined : html` required`;
  switch (field.kind) {
    case "choice":
      return select(
        attribute,
        field.choices.map((choice) => [choice, choice]),
        entered,
      );
    case "boolean":
      return select(
        attribute,
        [
          ["true", "Yes"],
          ["false", "No"],
        ],
        entered,
      );
    case "integer":
    case "number": {
      const { min, max } = field.options;
      const bounds = html`${min === undefined ? undefined : html` min="${min}"`}${max === undefined ? undefined : html` max="${max}"`}`;
      return html`<label>${label}
<input type="number" name="${name}" value="${entered}" step="${field.kind === "integer" ? 1 : "any"}"${bounds}${required}></label>
`;
    }
    case "date": {
      const { min, max } = field.options;
      const bounds = html`${min === undefined ? undefined : html` min="${min}"`}${max === undefined ? undefined : html` max="${max}"`}`;
      return html`<label>${label}
<input type="date" name="${name}" value="${entered}"${bounds}${required}></label>
`;
    }
    case "decimal":
      return html`<label>${label}
<input type="text" inputmode="decimal" name="${name}" value="${entered}" maxlength="${field.options.precision + 3}"${required}></label>
`;
    case "timestamp":
      return html`<label>${label} (UTC)
<input type="datetime-local" name="${name}" value="${entered}" step="0.001"${required}></label>
`;
    case "text": {
      const { min, max, format } = field.options;
      // An empty text is valid unless there is a minimum.
      const filled = min === undefined || min === 0 ? undefined : required;
      const length = max === undefined ? undefined : html` maxlength="${max}"`;
      if (format === undefined && (max === undefined || max > maxLineLength))
        return html`<label>${label}
<textarea name="${name}" rows="4"${length}${filled}>
${entered}</textarea></label>
`;
      const type = format === undefined ? "text" : { email: "email", uri: "url" }[format];
      return html`<label>${label}
<input type="${type}" name="${name}" value="${entered}"${length}${filled}></label>
`;
    }
    default:
      return undefined;
  }
}

function select(
  attribute: Attribute,
  choices: readonly (readonly [value: string, text: string])[],
  entered: string,
): Html {
  const { name, isOptional } = attribute;
  const all = isOptional || entered === "" ? [["", ""] as const, ...choices] : choices;
  const options = all.map(([value, text]) =>
    value === entered
      ? html`<option value="${value}" selected>${text}</option>\n`
      : html`<option value="${value}">${text}</option>\n`,
  );
  return html`<label>${labelOf(attribute)}
<select name="${name}">
${options}</select></label>
`;
}
