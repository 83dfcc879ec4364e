// The size of an answer whose fields are read one by one.

import { AnswerTooLarge, maxAnswerBytes } from "../../query/answer-size.ts";

export class ResponseSize {
  #bytes = 0;

  /** @throws AnswerTooLarge where there is no room for another field */
  requireRoom(): void {
    if (this.#bytes > maxAnswerBytes) throw new AnswerTooLarge();
  }

  /** Counts the text of a field. @throws AnswerTooLarge where the answer would be too large with it */
  add(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    this.requireRoom();
  }
}
