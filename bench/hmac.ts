// Compares the HMAC that signs cursors with `createHmac` of node:crypto: `node bench/hmac.ts` prints µs a signature.

import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { Hmac } from "../packages/portico/src/lib/hmac.ts";

const rounds = 5;
const signatures = 100_000;
/** As long as a typical cursor with the text of its list. */
const textLength = 220;

const secret = randomBytes(32).toString("hex");
const prepared = new Hmac(secret);
const key = createSecretKey(Buffer.from(secret));
const text = "x".repeat(textLength);

/** The fastest of some rounds: other programs only make a round slower. */
function microseconds(sign: (text: string) => string): string {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    for (let index = 0; index < signatures; index += 1) sign(text + index);
    best = Math.min(best, performance.now() - began);
  }
  return ((best / signatures) * 1_000).toFixed(2);
}

const results = {
  "lib/hmac.ts": microseconds((each) => prepared.sign(each)),
  createHmac: microseconds((each) => createHmac("sha256", key).update(each).digest("base64url")),
};
for (const [name, result] of Object.entries(results))
  process.stdout.write(`${name.padEnd(14)}${result} µs a signature\n`);
