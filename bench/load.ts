// What drives a server: the requests, the tool that sends them, and what it counted.

/** Requests that are sent as fast as they are answered, each for one of `paths` at random. */
export interface Load {
  /** What each is answered with. */
  readonly status: number;
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
  /** @throws Error where a connection breaks, or an answer is an error and should not be, or the reverse */
  drive(url: string, load: Load, seconds: number): Promise<Driven>;
}

/** What a tool counted, checked. The tools tell errors (4xx, 5xx) from other answers, and no more. */
export function driven(
  counted: {
    readonly requests: number;
    readonly seconds: number;
    readonly p99Ms: number;
    readonly refused: number;
    readonly failed: number;
  },
  { status }: Load,
): Driven {
  const { requests, seconds, p99Ms, refused, failed } = counted;
  const unexpected = status < 400 ? refused : requests - refused;
  if (unexpected > 0 || failed > 0 || requests === 0) {
    throw new Error(
      `of ${requests} requests, ${unexpected} were not answered with ${status} and ${failed} met a broken connection or a time-out`,
    );
  }
  return { requests, requestsPerSecond: requests / seconds, p99Ms };
}

/** Of a key or an access token. */
export function keyHeader(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}
