/** An error that the person who runs the command can fix. It is printed as one line; the exit code is 1. */
export class CreationError extends Error {
  override readonly name = "CreationError";
}
