// The steps that the declarations, the settings and the database of a project need. Nothing is changed.

import { existsSync } from "node:fs";
import { planRoles } from "../../auth/users/role-upgrade.ts";
import { OperatorError } from "../../errors.ts";
import { buildApi } from "../../graphql/schema/schema.ts";
import { type Assembly, composeApp, withStore } from "../../runtime/compose.ts";
import { loadApp, type Project } from "../../runtime/config.ts";
import { readSettings } from "../../runtime/settings/settings.ts";
import { hasOldLayout } from "../../store/layout/change-layout.ts";
import { databaseFile } from "../../store/open.ts";
import { migrate, pendingChanges } from "../../store/schema/migrate.ts";
import type { UpgradeStep } from "./step.ts";

/** The first fault of the declarations or settings, as a start would report it; otherwise what the database needs. */
export async function projectSteps(project: Project): Promise<readonly UpgradeStep[]> {
  const app = await fallible("declarations", () => loadApp(project.folder));
  if ("problem" in app) return [app];
  const settings = await fallible("settings", () => readSettings(project.environment, app.settings));
  if ("problem" in settings) return [settings];
  const assembly = await fallible("declarations", () => {
    const assembled = composeApp(app, settings);
    buildApi(assembled.model);
    return assembled;
  });
  if ("problem" in assembly) return [assembly];
  const steps = await fallible("database", () => databaseSteps(assembly));
  return "problem" in steps ? [steps] : steps;
}

async function databaseSteps(assembly: Assembly): Promise<readonly UpgradeStep[]> {
  const { settings, tables, model } = assembly;
  const file = databaseFile(settings.databaseUrl);
  // Opening it would create it.
  if (file !== undefined && !existsSync(file)) return [];
  if (await hasOldLayout(settings.databaseUrl, tables, async () => {})) {
    return [
      {
        about: "database",
        problem: "it has the layout of an earlier version",
        remedy: "make a backup, stop its servers, then run npx portico migrate --layout",
      },
    ];
  }
  return withStore(assembly, async (store) => {
    const isSandbox = settings.mode === "sandbox";
    // Refuses tenants without an owner, and says how to name them.
    await planRoles(store, model, { names: [], isSandbox });
    const pending = await pendingChanges(store, tables);
    if (pending.length > 0) return [pendingStep(pending.length, isSandbox)];
    const { statements } = await migrate(store, tables, { isDryRun: true, isContraction: true });
    return statements.length === 0 || isSandbox ? [] : [contractionStep(statements.length)];
  });
}

function pendingStep(count: number, isSandbox: boolean): UpgradeStep {
  return {
    about: "database",
    problem: `${count} pending schema ${count === 1 ? "change" : "changes"}`,
    remedy: isSandbox ? "npx portico migrate, or start the server" : "npx portico migrate",
  };
}

function contractionStep(count: number): UpgradeStep {
  return {
    about: "database",
    problem: `${count} schema ${count === 1 ? "change waits" : "changes wait"} until no server of an earlier version runs`,
    remedy: "npx portico migrate --contract",
  };
}

/** The result, or the step that an operator's error describes. */
async function fallible<Result extends object>(
  about: UpgradeStep["about"],
  work: () => Result | Promise<Result>,
): Promise<Result | UpgradeStep> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OperatorError) return { about, problem: error.message };
    throw error;
  }
}
