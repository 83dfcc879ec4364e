// What Portico is compared with on single rows of the table: another server, or the database alone.

import type { LoadResult, LoadTool } from "./load.ts";
import type { Row } from "./rows.ts";

export interface Opponent {
  readonly title: string;
  /** What Portico promises to reach, in percent of the opponent. */
  readonly floorPercent?: number | undefined;
  /** Whether it is a limit, so that Portico's share of it is shown, and not how many times as fast Portico is. */
  readonly isLimit: boolean;
  isMeasuredOn(row: Row): boolean;
  /** @param expected the response of Portico @throws Error if its own has other content */
  requireSameResponse(row: Row, expected: string): Promise<void>;
  run(tool: LoadTool, row: Row, seconds: number): Promise<LoadResult>;
  stop(): Promise<void>;
}
