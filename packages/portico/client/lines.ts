/**
 * The lines of a stream, without line ends.
 *
 * @param idleMs the time without data after which the stream counts as broken, in milliseconds
 * @throws Error if the stream breaks or ends within a line, or no data arrives for `idleMs`
 */
export async function* linesOf(body: ReadableStream<Uint8Array>, idleMs: number): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let isIdle = false;
  let rest = "";
  const stop = (): void => void reader.cancel().catch(() => {});
  try {
    for (;;) {
      const timer = setTimeout(() => {
        isIdle = true;
        stop();
      }, idleMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (isIdle) throw new Error(`Nothing arrived for ${idleMs} ms.`);
      if (done && rest === "") return;
      if (done) throw new Error("The last line is incomplete.");
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    // The caller may stop in the middle.
    stop();
  }
}
