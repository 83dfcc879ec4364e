// Cleanup in several steps, each of which runs whatever the others do.

export class AllSteps {
  readonly #errors: unknown[] = [];

  /** Runs a step. Its error is thrown by `end`. */
  async run(step: () => unknown): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#errors.push(error);
    }
  }

  /** @throws the error of the only step that failed; AggregateError if several failed */
  end(): void {
    const errors = this.#errors;
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} steps failed`);
  }
}
