// The differences between the package.json of a project and that of a new one, as steps.

import type { PackageFile } from "./package-file.ts";
import type { UpgradeStep } from "./step.ts";

/** The scripts of a new project; a test compares them with the template of create-portico. */
export const projectScripts: Readonly<Record<string, string>> = {
  start: "portico serve",
  dev: "portico dev",
  migrate: "portico migrate",
  test: 'node --test "test/**/*.test.ts"',
  types: "tsc",
};

export function packageSteps(file: PackageFile | undefined): readonly UpgradeStep[] {
  if (!file) return [{ about: "package.json", problem: "there is none", remedy: "npm init --yes" }];
  const missing = Object.entries(projectScripts).filter(([name]) => file.scripts[name] === undefined);
  return [
    ...(file.isModule
      ? []
      : [
          {
            about: "package.json",
            problem: 'its type is not "module", so that imports of other files fail',
            remedy: "npm pkg set type=module",
          } as const,
        ]),
    ...missing.map(
      ([name, script]): UpgradeStep => ({
        about: "package.json",
        problem: `there is no script ${name}`,
        remedy: `npm pkg set scripts.${name}='${script}'`,
      }),
    ),
  ];
}
