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
    "Create a new key for signing tokens, used after a minute. Tokens signed with the old key stay valid.",
  options: {},
  async run(args) {
    const assembly = await assemble(args.project);
    const signingKeyFile = assembly.settings.signingKey;
    if (signingKeyFile !== undefined)
      throw new OperatorError(
        `PORTICO_SIGNING_KEY sets the signing keys; add a new first key to ${signingKeyFile} instead`,
      );
    const encryption = new Encryption(secretsFor(assembly.settings));
    const { kid, signsFrom } = await withStore(assembly, (store) => rotateSigningKey(store, encryption));
    const from = new Date(signsFrom * 1000).toISOString();
    return { json: { kid, signsFrom: from }, lines: [`Created the signing key ${kid}, used from ${from}.`] };
  },
};

export const commands: readonly Command[] = [signingKeyRotate];
