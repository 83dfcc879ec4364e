import { choice, resource, text } from "portico";

export const labels = resource("label", {
  fields: {
    name: text({ min: 1, max: 50, unique: true }),
    colour: choice(["red", "green", "blue"], { default: "blue" }),
  },
  filter: ["name"],
  sort: ["name"],
  public: ["list", "get"],
});
