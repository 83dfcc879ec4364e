// A load: the requests, the tool that sends them, and its result.

/** Requests, each to a random one of `paths`. A connection sends the next one after each response. */
export interface Load {
  /** The expected status of every response. */
  readonly status: number;
  readonly method: "GET" | "POST";
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

export interface LoadTool {
  readonly name: string;
  /** @throws Error if a connection breaks, or if the responses are not errors or successes as expected */
  run(url: string, load: Load, seconds: number): Promise<LoadResult>;
}

/** Checks the counts of a tool. The tools distinguish errors (4xx, 5xx) from other responses only. */
export function checkedResult(
  counted: {
    readonly requests: number;
    readonly seconds: number;
    readonly p99Ms: number;
    readonly refused: number;
    readonly failed: number;
  },
  { status }: Load,
): LoadResult {
  const { requests, seconds, p99Ms, refused, failed } = counted;
  const unexpected = status < 400 ? refused : requests - refused;
  if (unexpected > 0 || failed > 0 || requests === 0) {
    throw new Error(
      `of ${requests} requests, ${unexpected} were not answered with ${status} and ${failed} met a broken connection or a time-out`,
    );
  }
  return { requests, requestsPerSecond: requests / seconds, p99Ms };
}

/** @param key an API key or an access token */
export function keyHeader(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}
