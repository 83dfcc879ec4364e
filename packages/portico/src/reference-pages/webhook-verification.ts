// Functions that verify a delivery of a webhook, for the pages. Tests run them.

const javaScript = `import { createHmac, timingSafeEqual } from "node:crypto";

// Returns the event, or throws if the delivery is not from the sender.
export function verifiedEvent(secret, headers, body) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age < 300)) throw new Error("The delivery is too old.");
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key)
    .update(\`\${id}.\${timestamp}.\${body}\`)
    .digest();
  const isSigned = headers["webhook-signature"].split(" ").some((signature) => {
    const [version, text = ""] = signature.split(",");
    const received = Buffer.from(text, "base64");
    return (
      version === "v1" &&
      received.length === expected.length &&
      timingSafeEqual(received, expected)
    );
  });
  if (!isSigned) throw new Error("The signature is wrong.");
  return JSON.parse(body);
}`;

const python = `import base64
import hashlib
import hmac
import json
import time


def verified_event(secret, headers, body):
    """Returns the event, or raises ValueError. The body is bytes."""
    id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if not abs(time.time() - int(timestamp)) < 300:
        raise ValueError("The delivery is too old.")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    signatures = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(each, expected) for each in signatures):
        raise ValueError("The signature is wrong.")
    return json.loads(body)`;

export const verification: Readonly<Record<string, string>> = { JavaScript: javaScript, Python: python };
