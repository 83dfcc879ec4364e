import { readerTable } from "../events/reader-table.ts";

/** Where the process stands that queues deliveries. */
export const webhookReaderTable = readerTable("webhook_reader");
