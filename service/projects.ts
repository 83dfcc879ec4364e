import { resource, text } from "portico";

export const projects = resource("project", {
  fields: {
    name: text({ min: 1, max: 200 }),
    slug: text({
      min: 1,
      max: 100,
      pattern: /[a-z0-9]+(-[a-z0-9]+)*/,
      unique: true,
      default: ({ name }) => slugOf(String(name)),
    }),
  },
  filter: ["slug"],
  sort: ["createdAt", "name"],
  search: ["name"],
});

/** `"Déjà vu!"` -> `"deja-vu"` */
function slugOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 100)
    .replace(/^-+|-+$/g, "");
  // Names in other scripts get different slugs.
  return (
    slug ||
    `project-${[...name].map((character) => character.codePointAt(0)!.toString(36)).join("")}`.slice(0, 100)
  );
}
