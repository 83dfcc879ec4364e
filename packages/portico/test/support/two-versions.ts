// Two versions of an app that serve one database at the same time, in live mode.

import { app } from "../../src/declare/app.ts";
import type { Resource } from "../../src/declare/resource.ts";
import { composeApp } from "../../src/runtime/compose.ts";
import { completeSettings } from "../../src/runtime/settings/settings.ts";
import { openStore } from "../../src/store/open.ts";
import { type Migration, type MigrationOptions, migrate } from "../../src/store/schema/migrate.ts";
import type { Table } from "../../src/store/schema/table.ts";
import type { Store } from "../../src/store/store.ts";
import { makeTenant } from "./scenario.ts";
import { type DatabaseName, makeWorkspace, Portico, type Workspace } from "./server.ts";

const live = {
  PORTICO_MODE: "live",
  PORTICO_SECRET: "e6b0c2f8d91a4735a2c4d6e8f0b1a3c5",
  PUBLIC_URL: "https://shop.example.com",
};

type Resources = readonly Resource[];

/** The tables of an app with these resources. */
export function tablesFor(resources: Resources): readonly Table[] {
  return composeApp(app({ name: "Versions", resources }), completeSettings({}, {})).tables;
}

export class TwoVersions {
  readonly workspace: Workspace;
  readonly store: Store;
  readonly old: Portico;
  readonly #newResources: Resources;
  #new: Portico | undefined;

  private constructor(workspace: Workspace, store: Store, old: Portico, newResources: Resources) {
    this.workspace = workspace;
    this.store = store;
    this.old = old;
    this.#newResources = newResources;
  }

  /** Starts the old version; `upgrade` migrates and starts the new one beside it. */
  static async startOld(database: DatabaseName, old: Resources, newer: Resources): Promise<TwoVersions> {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    await migrate(store, tablesFor(old));
    const { key } = await makeTenant(workspace, "*", { env: live });
    const server = await Portico.startApp(workspace, app({ name: "Old", resources: old }), {
      env: live,
      key,
    });
    return new TwoVersions(workspace, store, server, newer);
  }

  static async start(database: DatabaseName, old: Resources, newer: Resources): Promise<TwoVersions> {
    const versions = await TwoVersions.startOld(database, old, newer);
    await versions.upgrade();
    return versions;
  }

  /** The new version, after `upgrade`. */
  get new(): Portico {
    return this.#new!;
  }

  migrate(options?: MigrationOptions): Promise<Migration> {
    return migrate(this.store, tablesFor(this.#newResources), options);
  }

  /** Migrates, and starts the new version beside the old one. */
  async upgrade(): Promise<void> {
    await this.migrate();
    const declared = app({ name: "New", resources: this.#newResources });
    this.#new = await Portico.startApp(this.workspace, declared, { env: live, key: this.old.key });
  }

  async stop(): Promise<void> {
    await this.#new?.stop();
    await this.old.stop();
    await this.store.database.close();
    await this.workspace.remove();
  }
}
