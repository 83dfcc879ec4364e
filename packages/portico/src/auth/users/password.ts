// Passwords of users, hashed by argon2id with the parameters that OWASP recommends first (19 MiB, 2 passes, 1 lane). They
// are stored in a table of their own and never part of a user's row.

import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { Session } from "../../store/database.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import { ownTable } from "../../store/own-tables/table.ts";
import type { Store } from "../../store/store.ts";

const memoryKiB = 19_456;
const passes = 2;
const parallelism = 1;
const tagLength = 32;

/** Allowed number of characters (NIST SP 800-63B requires a minimum of 8 and a maximum of at least 64). */
const passwordLength = { min: 8, max: 256 } as const;

export const passwordsTable = ownTable(
  "passwords",
  { tenant_no: "tenant", user_id: "text", hash: "text", updated_at: "timestamp" },
  {
    primaryKey: ["tenant_no", "user_id"],
    foreignKeys: [{ column: "user_id", table: "users", onDelete: "cascade" }],
  },
);

interface StoredPassword {
  readonly tenantId: string;
  readonly userId: string;
  readonly hash: string;
  readonly updatedAt: string;
}

const upsertPassword = defineQuery([passwordsTable], (db, input: ParametersOf<StoredPassword>) =>
  db
    .insertInto("passwords")
    .values({
      tenant_no: input.tenantId,
      user_id: input.userId,
      hash: input.hash,
      updated_at: input.updatedAt,
    })
    .onConflict((conflict) =>
      conflict.columns(["tenant_no", "user_id"]).doUpdateSet(({ ref }) => ({
        hash: ref("excluded.hash"),
        updated_at: ref("excluded.updated_at"),
      })),
    ),
);

/** The hash of a password in PHC form: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await tagOf(password, nonce, { memory: memoryKiB, passes, parallelism });
  const text = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${text(nonce)}$${text(tag)}`;
}

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

function tagOf(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  return promisify(argon2)("argon2id", {
    message: Buffer.from(password.normalize("NFKC")),
    nonce,
    tagLength,
    ...cost,
  });
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;
/** Verified if there is no hash, so that this takes as long. */
const dummyHash = `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`;

/** Whether a password matches a hash. Without a hash, returns false after the same time. */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const [, memory, times, lanes, nonce, tag] = phcPattern.exec(hash ?? dummyHash) ?? [];
  if (nonce === undefined || tag === undefined)
    throw new Error("the format of a stored password hash is unknown");
  const cost = { memory: Number(memory), passes: Number(times), parallelism: Number(lanes) };
  const actual = await tagOf(password.slice(0, passwordLength.max), Buffer.from(nonce, "base64"), cost);
  return timingSafeEqual(actual, Buffer.from(tag, "base64")) && typeof hash === "string";
}

/** Why a new password is refused; undefined for a valid one. */
export function passwordError(password: string): string | undefined {
  const { min, max } = passwordLength;
  if (password.length >= min && password.length <= max) return undefined;
  return `the password must have ${min} to ${max} characters`;
}

/** Sets the password of a user in the transaction of `session`. */
export async function setPassword(
  store: Store,
  session: Session,
  user: { readonly tenantId: string; readonly userId: string },
  hash: string,
): Promise<void> {
  const { tenantId, userId } = user;
  await upsertPassword(store).run(session, { tenantId, userId, hash, updatedAt: new Date().toISOString() });
}
