// Converts names of declarations to the forms used for tables, columns, paths and messages.

/** `apiKey` -> `api_key` */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `apiKeys` -> `api-keys` */
export function kebabCase(name: string): string {
  return snakeCase(name).replaceAll("_", "-");
}

/** `apiKey` -> `api key`, for messages */
export function spaceCase(name: string): string {
  return snakeCase(name).replaceAll("_", " ");
}

/** `key-rotations` -> `keyRotations` */
export function camelCase(segment: string): string {
  return segment.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `apiKey` -> `ApiKey` */
export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** `categories` -> `category`, `boxes` -> `box`, `posts` -> `post`; the type `Singular` of `declare/record.ts` too */
export function singular(name: string): string {
  if (name.endsWith("ies")) return `${name.slice(0, -3)}y`;
  if (/(ss|x|z|ch|sh)es$/.test(name)) return name.slice(0, -2);
  return name.replace(/s$/, "");
}

/** `category` -> `categories`, `box` -> `boxes`, `post` -> `posts` */
export function plural(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  if (/(s|x|z|ch|sh)$/.test(name)) return `${name}es`;
  return `${name}s`;
}
