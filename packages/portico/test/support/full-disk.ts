// Makes PostgreSQL fail as on a full disk.

import postgres from "postgres";

/**
 * @param tag of the commands that fail, such as `CREATE INDEX`
 * @returns a function that ends it
 */
export async function simulateFullDisk(databaseUrl: string, tag: string): Promise<() => Promise<void>> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await sql
    .unsafe(
      `create function fill_disk() returns event_trigger language plpgsql as $$ begin
         raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100'; end $$;
       create event trigger full_disk on ddl_command_end when tag in ('${tag}') execute function fill_disk()`,
    )
    .simple();
  return async () => {
    await sql.unsafe("drop event trigger full_disk; drop function fill_disk()").simple();
    await sql.end();
  };
}
