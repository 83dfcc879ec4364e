// portico upgrade

import packageJson from "../../../package.json" with { type: "json" };
import { OperatorError } from "../../errors.ts";
import type { Command } from "../command.ts";
import { readPackageFile } from "../upgrade/package-file.ts";
import { packageSteps } from "../upgrade/package-steps.ts";
import { projectSteps } from "../upgrade/project-steps.ts";
import type { UpgradeStep } from "../upgrade/step.ts";
import { compareVersions, isVersion, stepsBetween } from "../upgrade/version-steps.ts";

const { version } = packageJson;

const upgrade: Command = {
  name: "upgrade",
  summary:
    "List what the project must change for this version: its code, package.json, declarations and database.",
  options: {
    from: {
      value: "VERSION",
      help: "the version that the project was written for (default: portico.upgradedTo in package.json)",
    },
  },
  async run(args) {
    const { folder } = args.project;
    const file = readPackageFile(folder);
    const from = versionOption(args.text("from")) ?? file?.upgradedTo;
    if (from !== undefined && compareVersions(from, version) > 0)
      throw new OperatorError(
        `the project was upgraded to ${from}, and this is Portico ${version}; run npm install portico@^${from}`,
      );
    const steps = [
      ...(await projectSteps(args.project)),
      ...packageSteps(file),
      ...stepsBetween(from, version),
    ];
    const isRecorded = file?.upgradedTo === version;
    return {
      json: { version, from: from ?? null, steps, isRecorded },
      lines: [title(from), "", ...linesOf(steps), ...conclusion(steps, isRecorded)],
    };
  },
};

function versionOption(text: string | undefined): string | undefined {
  if (text === undefined || isVersion(text)) return text;
  throw new OperatorError(`--from is '${text}'; it must be a version, such as ${version}`);
}

function title(from: string | undefined): string {
  const origin = from === undefined ? "a project of an unknown version" : `a project of ${from}`;
  return `What ${origin} must change for Portico ${version}:`;
}

function linesOf(steps: readonly UpgradeStep[]): string[] {
  if (steps.length === 0) return ["Nothing."];
  return steps.flatMap(({ about, problem, remedy }, index) => [
    `${index + 1}. ${about}: ${problem}`,
    ...(remedy === undefined ? [] : [`   ${remedy}`]),
  ]);
}

/** How to record that all steps are done. */
function conclusion(steps: readonly UpgradeStep[], isRecorded: boolean): string[] {
  if (isRecorded) return [];
  const condition = steps.length === 0 ? "Record it:" : "When all is done, record it:";
  return ["", `${condition} npm pkg set portico.upgradedTo=${version}`];
}

export const commands: readonly Command[] = [upgrade];
