// The components of a description: the schemas, responses, parameters, examples and headers that operations share.

import type { JsonSchema } from "../model/json-schema.ts";
import type {
  ComponentsObject,
  ExampleObject,
  HeaderObject,
  ParameterObject,
  Reference,
  ResponseObject,
} from "./description.ts";

interface Kinds {
  readonly schemas: JsonSchema;
  readonly responses: ResponseObject;
  readonly parameters: ParameterObject;
  readonly examples: ExampleObject;
  readonly headers: HeaderObject;
}

type Kind = keyof Kinds;

/** Collects components while operations are described. */
export class Components {
  readonly #byKind: { readonly [K in Kind]: Map<string, Kinds[K]> } = {
    schemas: new Map(),
    responses: new Map(),
    parameters: new Map(),
    examples: new Map(),
    headers: new Map(),
  };
  /** The names by the content of the component. */
  readonly #names = new Map<string, string>();

  /**
   * Adds a component, unless the same is there already.
   *
   * @param name what to call it, unless another component has the name; then a number follows it
   */
  add<K extends Kind>(kind: K, name: string, component: Kinds[K]): Reference {
    const components = this.#byKind[kind];
    const content = `${kind} ${name} ${JSON.stringify(component)}`;
    let known = this.#names.get(content);
    if (known === undefined) {
      known = name;
      for (let number = 2; components.has(known); number += 1) known = `${name}${number}`;
      components.set(known, component);
      this.#names.set(content, known);
    }
    return { $ref: `#/components/${kind}/${known}` };
  }

  /** All of them, sorted by their names. */
  toObject(securitySchemes: ComponentsObject["securitySchemes"]): ComponentsObject {
    const sorted = <T>(components: ReadonlyMap<string, T>): Readonly<Record<string, T>> =>
      Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)));
    const { schemas, responses, parameters, examples, headers } = this.#byKind;
    return {
      schemas: sorted(schemas),
      responses: sorted(responses),
      parameters: sorted(parameters),
      examples: sorted(examples),
      headers: sorted(headers),
      securitySchemes,
    };
  }
}
