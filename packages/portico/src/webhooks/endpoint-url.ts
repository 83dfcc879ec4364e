// Which URLs an endpoint can have.

import { isIP } from "node:net";
import { isPublicAddress } from "../net/public-address.ts";

/**
 * What is wrong with the URL of an endpoint, as the end of a sentence; undefined if nothing is. Names are resolved when a
 * delivery is sent.
 *
 * @param isPrivateAllowed whether plain HTTP and addresses that are not public are allowed
 */
export function endpointUrlError(text: string, isPrivateAllowed: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "must be an https URL";
  if (url.protocol === "http:" && !isPrivateAllowed) return "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.hash !== "") return "must not contain a fragment (#)";
  const address = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0 && !isPrivateAllowed && !isPublicAddress(address))
    return "must not be at a private address";
  return undefined;
}
