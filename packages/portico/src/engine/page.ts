// A page as protocols get it: the rows as text, and cursors, which are created only when they are read.

import type { Condition } from "../query/condition.ts";
import type { CursorCodec } from "../query/cursor.ts";
import { listKey } from "../query/cursor.ts";
import type { StoredPage } from "../query/page.ts";
import type { ListRequest, Position, Read } from "../query/read.ts";
import { containerConditions } from "./containers.ts";

/** A list of one tenant: what its statements read, and the cursors that are valid for it. */
export class RequestedList {
  readonly #tenantId: string;
  readonly #request: ListRequest;
  readonly #codec: CursorCodec;
  readonly #conditions: readonly Condition[];
  #key: string | undefined;

  constructor(tenantId: string, request: ListRequest, codec: CursorCodec) {
    this.#tenantId = tenantId;
    this.#request = request;
    this.#codec = codec;
    const { within, conditions } = request;
    this.#conditions = within ? [...containerConditions(within), ...conditions] : conditions;
  }

  /** What the store reads. @throws Problem `invalid_cursor` */
  read(): Read {
    const { resource, selection, words, sort, page } = this.#request;
    const rest = { resource, selection, conditions: this.#conditions, words, sort };
    if (page.style !== "cursor") return { ...rest, page };
    const { style, limit, cursor, isBackward, includesCursors = false } = page;
    const position = cursor === undefined ? undefined : this.#codec.decode(this.#identity, sort, cursor);
    return { ...rest, page: { style, limit, position, isBackward, includesPositions: includesCursors } };
  }

  cursorAt(position: Position): string {
    return this.#codec.encode(this.#identity, this.#request.sort, position);
  }

  /** The text that the cursors of this list are bound to. */
  get #identity(): string {
    if (this.#key !== undefined) return this.#key;
    const { resource, within, sort, words } = this.#request;
    const collection = within ? `${within.id}/${resource.segment}` : resource.segment;
    this.#key = listKey({
      tenantId: this.#tenantId,
      collection,
      sort,
      conditions: this.#conditions,
      words,
    });
    return this.#key;
  }
}

export class Page {
  readonly #stored: StoredPage;
  readonly #page: ListRequest["page"];
  readonly #list: RequestedList;

  constructor(stored: StoredPage, page: ListRequest["page"], list: RequestedList) {
    this.#stored = stored;
    this.#page = page;
    this.#list = list;
  }

  /** `[{...},{...}]`, with `rowSeparator` between two rows. */
  get rows(): string {
    return this.#stored.rows;
  }

  get count(): number {
    return this.#stored.count;
  }

  /** Whether there are more rows in the direction in which the page was read. */
  get hasMore(): boolean {
    return this.#stored.hasMore;
  }

  /** Whether the page has fewer rows than its limit because the response would be too large. */
  get isCut(): boolean {
    return this.#stored.isCut;
  }

  /** Number of rows in the whole list, for numbered pages. */
  get total(): number | undefined {
    return this.#stored.total;
  }

  /** Whether there are rows after this page. A page that was read backward from a cursor ends before the cursor's row. */
  get hasNext(): boolean {
    const page = this.#page;
    return page.style === "cursor" && page.isBackward ? page.cursor !== undefined : this.#stored.hasMore;
  }

  /** Whether there are rows before this page. */
  get hasPrevious(): boolean {
    const page = this.#page;
    if (page.style === "first") return false;
    if (page.style === "page") return page.number > 1;
    return page.isBackward ? this.#stored.hasMore : page.cursor !== undefined;
  }

  /** The cursor of the first row; undefined for an empty page, and for pages without cursors. */
  get startCursor(): string | undefined {
    return this.#stored.first && this.#list.cursorAt(this.#stored.first);
  }

  /** The cursor of the last row; undefined for an empty page, and for pages without cursors. */
  get endCursor(): string | undefined {
    return this.#stored.last && this.#list.cursorAt(this.#stored.last);
  }

  /** The position of every row, if the request includes their cursors. */
  get positions(): readonly Position[] {
    return this.#stored.positions ?? [];
  }

  /** The cursor of a row, if the request includes them. @throws RangeError for a row that the page does not have */
  cursorAt(index: number): string {
    const position = this.positions[index];
    if (!position) throw new RangeError(`the page has no cursor for row ${index}`);
    return this.#list.cursorAt(position);
  }
}
