// Listens on a port.

import type { FastifyInstance } from "fastify";
import { OperatorError } from "../errors.ts";

/** @throws OperatorError if the port is in use, or the host is not one of the machine */
export async function listenOn(
  server: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw listenFailure(error, host, port);
  }
}

/** The error to report for one of `listen`. */
export function listenFailure(error: unknown, host: string, port: number): OperatorError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return new OperatorError(`port ${port} on ${host} is taken; set PORT to another one`);
  return new OperatorError(`cannot listen on ${host}:${port}: ${(error as Error).message}`);
}
