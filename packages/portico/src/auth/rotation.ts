// The input of a rotation: for how long the replaced credential stays valid.

import { integer } from "../declare/field.ts";

const secondsOfDay = 86_400;
const maxOverlapDays = 30;

/** @param credential what is replaced: `key` or `secret` */
export function rotationInput(credential: string) {
  return {
    overlapSeconds: integer({
      min: 0,
      max: maxOverlapDays * secondsOfDay,
      default: secondsOfDay,
      description: `How long the old ${credential} stays valid.`,
    }),
  };
}
