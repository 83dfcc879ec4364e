// Options for authenticators, and verification of their responses (WebAuthn, sections 7.1 and 7.2). The library takes tens
// of megabytes, so it is loaded with the first passkey.

import type { NewPasskey, Passkey } from "../../auth/users/passkeys.ts";
import type { Issuer } from "../endpoints/issuer.ts";

/** ES256, EdDSA, RS256 (RFC 9053): the algorithms that are offered and accepted. */
const algorithms = [-7, -8, -257];
const maxResponseLength = 16_000;
const timeoutMs = 300_000;

/** Options of `navigator.credentials.get`. They name no credentials: the authenticator offers those that it has. */
export function requestOptions(rpId: string, challenge: string): object {
  return { challenge, rpId, timeout: timeoutMs, userVerification: "required", allowCredentials: [] };
}

interface Owner {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** Options of `navigator.credentials.create`: a discoverable credential without attestation. */
export function creationOptions(
  issuer: Issuer,
  rpId: string,
  challenge: string,
  owner: Owner,
  existing: readonly Pick<Passkey, "credentialId">[],
): object {
  return {
    challenge,
    rp: { id: rpId, name: issuer.brand.name },
    user: { id: Buffer.from(owner.id).toString("base64url"), name: owner.email, displayName: owner.name },
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    attestation: "none",
    excludeCredentials: existing.map(({ credentialId: id }) => ({ type: "public-key", id })),
    timeout: timeoutMs,
  };
}

/** A credential as the script of the page serializes it. The library validates its members. */
export interface PresentedPasskey {
  readonly id: string;
  readonly response: Readonly<Record<string, unknown>>;
}

/** Parses the form field with a credential; undefined if it holds none. */
export function parsePresented(text: string | null): PresentedPasskey | undefined {
  if (text === null || text.length > maxResponseLength) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || !("id" in parsed) || !("response" in parsed))
      return undefined;
    const { id, response } = parsed;
    if (typeof id !== "string" || typeof response !== "object" || response === null) return undefined;
    return parsed as PresentedPasskey;
  } catch {
    return undefined;
  }
}

/** The new passkey; undefined if the response does not match the challenge. */
export async function verifyRegistration(
  issuer: Issuer,
  rpId: string,
  expectedChallenge: string,
  presented: PresentedPasskey,
): Promise<Omit<NewPasskey, "name"> | undefined> {
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const { decodeAttestationObject, isoBase64URL } = await import("@simplewebauthn/server/helpers");
  try {
    const attestation = decodeAttestationObject(
      isoBase64URL.toBuffer(String(presented.response["attestationObject"])),
    );
    // To verify certificates, which were not requested, the library would send requests to hosts that they name.
    if (attestation.get("fmt") !== "none" && attestation.get("attStmt").get("x5c") !== undefined)
      return undefined;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: presented as never,
      expectedChallenge,
      expectedOrigin: issuer.origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return undefined;
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey).toString("base64url"), counter };
  } catch {
    // The library throws for every invalid response.
    return undefined;
  }
}

/** The new signature counter of the passkey; undefined if the response does not match the challenge. */
export async function verifyAuthentication(
  issuer: Issuer,
  rpId: string,
  expectedChallenge: string,
  presented: PresentedPasskey,
  { credentialId, publicKey, counter }: Passkey,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: presented as never,
      expectedChallenge,
      expectedOrigin: issuer.origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: {
        id: credentialId,
        publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")),
        counter,
      },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}
