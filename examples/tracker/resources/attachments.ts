import { file, resource } from "portico";
import { issues } from "./projects.ts";

export const attachments = resource("attachment", {
  parent: issues,
  fields: { file: file({ max: "10 MB", types: ["image/*", "application/pdf", "text/plain"] }) },
});
