import { app } from "portico";
import { notes } from "./resources/notes.ts";

export default app({
  name: "{{title}}",
  // /openapi.json and /docs name it. A public API has an SPDX identifier, such as MIT, or a url.
  license: { name: "All rights reserved", identifier: "LicenseRef-AllRightsReserved" },
  resources: [notes],
});
