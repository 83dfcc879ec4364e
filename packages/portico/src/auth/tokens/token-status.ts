// Whether an access token still counts: neither it nor its grant was revoked, its client exists, and its user exists and
// is active.

import { type Kysely, sql } from "kysely";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { defineQuery, type ParametersOf, type Query } from "../../store/own-tables/query.ts";
import type { DatabaseOf } from "../../store/own-tables/table.ts";
import { parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { oauthClients } from "../clients/resource.ts";
import { users } from "../users/resource.ts";
import type { AccessClaims } from "./access-claims.ts";
import { hashToken } from "./hash-token.ts";
import { oauthRecordsTable } from "./oauth-records-table.ts";

/** The model of the records of revoked tokens. */
export const revokedModel = "RevokedToken";

/** What a token that counts may do, besides its own scopes. */
export interface CurrentRights {
  /** The scopes of its client as a JSON list. */
  readonly scopes: string;
  /** The role of its user; null for a client that acts for itself. */
  readonly role: string | null;
}

const statusTables = [oauthClients, oauthRecordsTable, users] as const;

/** The client of a token that is not revoked. */
function unrevokedClient(
  db: Kysely<DatabaseOf<typeof statusTables>>,
  { client_id, tenant_id }: ParametersOf<AccessClaims>,
) {
  const revocation = parameter(({ jti }: AccessClaims) => hashToken(jti));
  return db
    .selectFrom("oauth_clients as c")
    .select("c.scopes")
    .where("c.client_id", "=", client_id)
    .where("c.tenant_no", "=", tenant_id)
    .where(({ exists, lit, not, selectFrom }) =>
      not(
        exists(
          selectFrom("oauth_records")
            .select(lit(1).as("one"))
            .where("model", "=", sql.lit(revokedModel))
            .where("id", "=", revocation),
        ),
      ),
    );
}

const selectClientStatus = defineQuery(statusTables, (db, claims: ParametersOf<AccessClaims>) =>
  unrevokedClient(db, claims).select(sql.lit(null).as("role")),
);

/** The same for a token of a user, whose grant must still exist, and whose account must be active. */
const selectUserStatus = defineQuery(statusTables, (db, claims: ParametersOf<AccessClaims>) => {
  const grant = parameter((token: AccessClaims) => hashToken(token.grant_id ?? ""));
  return unrevokedClient(db, claims)
    .where(({ exists, lit, selectFrom }) =>
      exists(
        selectFrom("oauth_records")
          .select(lit(1).as("one"))
          .where("model", "=", sql.lit("Grant"))
          .where("id", "=", grant)
          .where("expires_at", ">", parameter(epochSeconds)),
      ),
    )
    .innerJoin("users as u", "u.tenant_no", "c.tenant_no")
    .select("u.role")
    .where("u.id", "=", claims.sub)
    .where("u.active", "=", sql.lit(true));
});

export class TokenStatus {
  readonly #store: Store;
  readonly #ofClient: Query<CurrentRights, AccessClaims>;
  readonly #ofUser: Query<CurrentRights, AccessClaims>;

  constructor(store: Store) {
    this.#store = store;
    this.#ofClient = selectClientStatus(store);
    this.#ofUser = selectUserStatus(store);
  }

  /** What the token may do now; undefined if it does not count any more. */
  current(claims: AccessClaims): Promise<CurrentRights | undefined> {
    const query = claims.sub === claims.client_id ? this.#ofClient : this.#ofUser;
    return query.first(this.#store.database, claims);
  }
}
