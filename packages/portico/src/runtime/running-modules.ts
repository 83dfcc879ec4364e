// The running parts of all modules: starts and stops their tasks together.

import type { HttpModule } from "../http/http-module.ts";
import type { RequestRecorder } from "../http/logging/request-log.ts";
import { PeriodicTask } from "../jobs/periodic-task.ts";
import { purgeWork } from "../jobs/purge.ts";
import { AllSteps } from "../lib/all-steps.ts";
import type { Model } from "../model/model.ts";
import type { Module, RunningModule, ServerContext } from "./module.ts";

export class RunningModules {
  readonly #modules: readonly RunningModule[];
  readonly #tasks: readonly PeriodicTask[];
  readonly #writers: readonly PeriodicTask[];
  readonly http: readonly HttpModule[];
  readonly recorders: readonly RequestRecorder[];

  private constructor(modules: readonly (RunningModule & HttpModule)[], { store, report }: ServerContext) {
    const retention = modules.flatMap((each) => each.retention ?? []);
    const work = [...modules.flatMap((each) => each.tasks ?? []), purgeWork(store, retention, report)];
    this.#modules = modules;
    this.#tasks = work.map((each) => new PeriodicTask(each, report));
    const writers = modules.flatMap((each) => each.writers ?? []);
    this.#writers = writers.map((each) => new PeriodicTask(each, report));
    this.http = modules;
    this.recorders = modules.flatMap((each) => each.recorders ?? []);
  }

  /** Creates the running part of each module. Tasks are not started yet. */
  static async create(modules: readonly Module[], context: ServerContext): Promise<RunningModules> {
    const running = await Promise.all(
      modules.map(async (module) => {
        const { servesOperations = false } = module;
        return {
          ...(await module.start?.(context)),
          servesOperations,
          paths: allowedPaths(module, context.model),
        };
      }),
    );
    return new RunningModules(running, context);
  }

  startTasks(): void {
    for (const each of [...this.#tasks, ...this.#writers]) each.start();
  }

  /** Stops the tasks, except writers, and finishes work in progress, while the last requests are handled. */
  async stop(): Promise<void> {
    const steps = new AllSteps();
    await Promise.all(this.#tasks.map((each) => steps.run(() => each.stop())));
    await Promise.all(this.#modules.map((each) => steps.run(() => each.stop?.())));
    steps.end();
  }

  /**
   * Stops the writers and writes what requests left in memory. Call it after the last request, before the database is
   * closed.
   */
  async flush(): Promise<void> {
    const steps = new AllSteps();
    await Promise.all(this.#writers.map((each) => steps.run(() => each.stop())));
    await Promise.all(this.#modules.map((each) => steps.run(() => each.flush?.())));
    steps.end();
  }
}

/** First segments of the paths at which a module may register routes: those it lists, and those of its resources. */
export function allowedPaths({ paths = [], resources = [] }: Module, model: Model): readonly string[] {
  const own = resources.map(({ name }) => model.resource.get(name)!).filter(({ isExposed }) => isExposed);
  return [...paths, ...own.map(({ segment }) => segment)];
}
