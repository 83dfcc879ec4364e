/** A set that nobody can change: its methods that would do so throw. `new FrozenSet(["posts:read"])` */
export class FrozenSet<Value> extends Set<Value> {
  constructor(values: Iterable<Value> = []) {
    super();
    for (const value of values) super.add(value);
    Object.freeze(this);
  }

  override add(): never {
    throw frozen();
  }

  override delete(): never {
    throw frozen();
  }

  override clear(): never {
    throw frozen();
  }
}

function frozen(): TypeError {
  return new TypeError("This set cannot be changed; copy it with new Set(...)");
}
