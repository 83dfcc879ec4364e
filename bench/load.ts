// What drives a server: the requests, the tool that sends them, and what it counted.

/** Requests that are sent as fast as they are answered, each for one of `paths` at random. */
export interface Load {
  readonly method: "GET" | "POST";
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Driven {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

export interface LoadTool {
  readonly name: string;
  /** @throws Error where an answer is not 2xx or a connection breaks */
  drive(url: string, load: Load, seconds: number): Promise<Driven>;
}

/** What a tool counted, checked. */
export function driven(counted: {
  readonly requests: number;
  readonly seconds: number;
  readonly p99Ms: number;
  readonly refused: number;
  readonly failed: number;
}): Driven {
  const { requests, seconds, p99Ms, refused, failed } = counted;
  if (refused > 0 || failed > 0 || requests === 0) {
    throw new Error(
      `of ${requests} requests, ${refused} were not answered with 2xx and ${failed} met a broken connection or a time-out`,
    );
  }
  return { requests, requestsPerSecond: requests / seconds, p99Ms };
}
