import { Problem } from "../../errors.ts";
import { ConstraintError } from "../../store/database.ts";

/** Awaits a write for a user. @returns false if the user was deleted before the write */
export async function falseIfDeleted(write: Promise<boolean>): Promise<boolean> {
  try {
    return await write;
  } catch (error) {
    const isMissingReference = error instanceof ConstraintError && error.kind === "reference";
    const isNotFound = error instanceof Problem && error.code === "not_found";
    if (isMissingReference || isNotFound) return false;
    throw error;
  }
}
