// The settings of the HTTP server.

import type { HttpServerOptions } from "../http/http-server.ts";
import { clientAddressReader } from "../net/client-address.ts";
import type { Settings } from "./settings/settings.ts";

const mebibyte = 1024 * 1024;

type HttpSettings = Pick<
  HttpServerOptions,
  | "publicUrl"
  | "corsOrigins"
  | "addressOf"
  | "isBehindProxy"
  | "maxConnections"
  | "bufferBytes"
  | "sendsServerTiming"
>;

export function httpSettings(settings: Settings): HttpSettings {
  const { publicUrl, corsOrigins, trustedProxies, maxConnections, bufferMib, sendsServerTiming } = settings;
  return {
    ...{ publicUrl, corsOrigins, maxConnections, sendsServerTiming },
    addressOf: clientAddressReader(trustedProxies),
    isBehindProxy: trustedProxies.length > 0,
    bufferBytes: bufferMib * mebibyte,
  };
}
