// Creates a user with a password, in one transaction.

import { systemCaller } from "../auth/system-caller.ts";
import { hashPassword, passwordError, setPassword } from "../auth/users/password.ts";
import { users } from "../auth/users/resource.ts";
import type { RecordOf } from "../declare/record.ts";
import type { Engine } from "../engine/engine.ts";
import { OperatorError } from "../errors.ts";
import type { Store } from "../store/store.ts";

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly role?: string | undefined;
  /** The fields that the app adds to users. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** @throws OperatorError for a password that is too short or too long, Problem for an invalid address or one in use */
export async function createUser(
  engine: Engine,
  store: Store,
  tenantId: string,
  { email, name, password, role, fields }: NewUser,
): Promise<RecordOf<typeof users>> {
  const fault = passwordError(password);
  if (fault !== undefined) throw new OperatorError(fault);
  const hash = await hashPassword(password);
  return engine.inTransaction(systemCaller(engine.model, tenantId), async (rows, session) => {
    const user = await rows.create(users, { ...fields, email, name, ...(role !== undefined && { role }) });
    await setPassword(store, session, { tenantId, userId: user.id }, hash);
    return user;
  });
}
