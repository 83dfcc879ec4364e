// Compiled statements, cached by the shape of what they were compiled from.

import { BoundedMap } from "../lib/bounded-map.ts";
import type { ResourceModel } from "../model/model.ts";

/** Compiled statements cached for each resource and operation; a typical one is a few kilobytes of text and closures. */
const maxShapeWeight = 500;
/** Characters of the shape of a typical statement; a longer shape counts as several. */
const typicalShapeLength = 100;

/** Compiled statements by resource and by the shape of the plan. */
export class Shapes<Compiled> {
  readonly #byResource = new WeakMap<ResourceModel, BoundedMap<string, Compiled>>();

  get(resource: ResourceModel, shape: string, compile: () => Compiled): Compiled {
    let ofResource = this.#byResource.get(resource);
    if (!ofResource) {
      ofResource = new BoundedMap(maxShapeWeight, (text) => Math.ceil(text.length / typicalShapeLength) || 1);
      this.#byResource.set(resource, ofResource);
    }
    const known = ofResource.get(shape);
    if (known) return known;
    const statement = compile();
    ofResource.set(shape, statement);
    return statement;
  }
}
