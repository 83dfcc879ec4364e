/** A change that a new version requires in a project. */
export interface UpgradeStep {
  readonly about: "code" | "package.json" | "declarations" | "settings" | "database";
  /** What is to change, and why. */
  readonly problem: string;
  /** What to do: a command or a sentence; undefined if `problem` says it. */
  readonly remedy?: string;
}
