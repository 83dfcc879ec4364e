// The size of a response whose fields are read one by one.

import { AnswerTooLarge, maxAnswerBytes } from "../../query/answer-size.ts";

export class ResponseSize {
  #bytes = 0;

  /** @throws AnswerTooLarge if the response is already too large */
  requireRoom(): void {
    if (this.#bytes > maxAnswerBytes) throw new AnswerTooLarge();
  }

  /** Adds the text of a field. @throws AnswerTooLarge if the response becomes too large */
  add(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    this.requireRoom();
  }
}
