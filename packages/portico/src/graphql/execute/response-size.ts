// The size of a response whose fields are read one by one. Counting the bytes of a text that was put together makes V8
// copy it, so the texts are counted only when they might be too long.

import { AnswerTooLarge, maxAnswerBytes, maxCharacterBytes } from "../../query/answer-size.ts";

export class ResponseSize {
  /** An upper bound of the bytes; their number if no text is uncounted. */
  #maxBytes = 0;
  #countedBytes = 0;
  #uncounted: string[] = [];

  /** @throws AnswerTooLarge if the response is already too large */
  requireRoom(): void {
    if (this.#maxBytes > maxAnswerBytes) throw new AnswerTooLarge();
  }

  /** Adds the text of a field. @throws AnswerTooLarge if the response becomes too large */
  add(text: string): void {
    this.#uncounted.push(text);
    this.#maxBytes += text.length * maxCharacterBytes;
    if (this.#maxBytes > maxAnswerBytes) this.#count();
    this.requireRoom();
  }

  #count(): void {
    for (const text of this.#uncounted) this.#countedBytes += Buffer.byteLength(text);
    this.#uncounted = [];
    this.#maxBytes = this.#countedBytes;
  }
}
