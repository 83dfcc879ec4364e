// portico signing-key rotate

import { rotateSigningKey } from "../../auth/tokens/signing-keys.ts";
import { OperatorError } from "../../errors.ts";
import { Encryption } from "../../lib/encryption.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import { secretsFor } from "../../runtime/secrets.ts";
import type { Command } from "../command.ts";

const signingKeyRotate: Command = {
  name: "signing-key rotate",
  summary:
    "Make a new key that signs tokens from a minute on; the old one goes on verifying those it has signed.",
  options: {},
  async run(args) {
    const assembly = await assemble(args.project);
    const signingKeyFile = assembly.settings.signingKey;
    if (signingKeyFile !== undefined)
      throw new OperatorError(
        `the keys are those of PORTICO_SIGNING_KEY; put another one first in ${signingKeyFile}`,
      );
    const encryption = new Encryption(secretsFor(assembly.settings));
    const { kid, signsFrom } = await withStore(assembly, (store) => rotateSigningKey(store, encryption));
    const from = new Date(signsFrom * 1000).toISOString();
    return { json: { kid, signsFrom: from }, lines: [`The key ${kid} signs from ${from} on.`] };
  },
};

export const commands: readonly Command[] = [signingKeyRotate];
