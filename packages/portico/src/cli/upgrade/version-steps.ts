// The changes that a version requires in projects and that no check of `portico upgrade` can find.

import type { UpgradeStep } from "./step.ts";

interface VersionSteps {
  /** The version that made the change. */
  readonly version: string;
  readonly steps: readonly Omit<UpgradeStep, "about">[];
}

/** Oldest first. */
export const versionSteps: readonly VersionSteps[] = [
  {
    version: "0.1.0",
    steps: [
      {
        problem: "caller.userId and caller.role are null for a caller without a user; they were undefined",
        remedy: "compare them with null in policies, hooks and actions",
      },
      {
        problem:
          "event types are post.updated, post.deleted and api_key.created; they were post.changed, post.removed and apiKey.created",
        remedy: "change the receivers of webhooks and the filters of subscriptions",
      },
      {
        problem: "in GraphQL, the type of clients is OAuthClient, and lists of scopes are [String!]!",
        remedy: "regenerate the types of GraphQL clients",
      },
    ],
  },
];

/** The steps of the versions after `from`, up to `to`. @param from undefined for a project of an unknown version */
export function stepsBetween(from: string | undefined, to: string): readonly UpgradeStep[] {
  return versionSteps
    .filter(({ version }) => from === undefined || compareVersions(version, from) > 0)
    .filter(({ version }) => compareVersions(version, to) <= 0)
    .flatMap(({ version, steps }) =>
      steps.map(({ problem, remedy }): UpgradeStep => {
        const step = { about: "code", problem: `since ${version}: ${problem}` } as const;
        return remedy === undefined ? step : { ...step, remedy };
      }),
    );
}

/** Whether the text is a version such as `0.1.0` or `0.2.0-beta.1`. */
export function isVersion(text: string): boolean {
  return /^\d{1,6}\.\d{1,6}\.\d{1,6}(-[\w.-]{1,50})?$/.test(text);
}

/** Negative if the first version is the older one. A prerelease counts as its release, whose steps it has. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split("-", 1)[0]!.split(".").map(Number));
  for (const [index, number] of left!.entries()) if (number !== right![index]) return number - right![index]!;
  return 0;
}
