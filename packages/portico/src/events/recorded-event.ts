// An event as it was recorded with a write.

export interface RecordedEvent {
  /** Its place among all events; to resume is to go on after it. */
  readonly sequence: number;
  readonly tenantId: string;
  /** The name of the resource: `post`. */
  readonly resource: string;
  /** `post.created` */
  readonly kind: string;
  readonly rowId: string;
  /** The row after the write (before it, where it was removed), as JSON text. */
  readonly row: string;
}

/** Where to read on in the events of a tenant's resource, and where to end. */
export interface EventRange {
  readonly tenantId: string;
  readonly resource: string;
  readonly after: number;
  readonly until: number;
}
