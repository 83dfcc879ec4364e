// Whether an access token still counts: neither it nor its grant was revoked, and its client and user exist.

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

interface ClientScopes {
  /** A JSON list. */
  readonly scopes: string;
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
  unrevokedClient(db, claims),
);

/** The same for a token of a user, whose grant and account must still exist. */
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
    .where(({ exists, lit, selectFrom }) =>
      exists(
        selectFrom("users")
          .select(lit(1).as("one"))
          .whereRef("users.tenant_no", "=", "c.tenant_no")
          .where("users.id", "=", claims.sub),
      ),
    );
});

export class TokenStatus {
  readonly #store: Store;
  readonly #ofClient: Query<ClientScopes, AccessClaims>;
  readonly #ofUser: Query<ClientScopes, AccessClaims>;

  constructor(store: Store) {
    this.#store = store;
    this.#ofClient = selectClientStatus(store);
    this.#ofUser = selectUserStatus(store);
  }

  /** The scopes of the token's client as a JSON list; undefined if the token does not count any more. */
  async clientScopes(claims: AccessClaims): Promise<string | undefined> {
    const query = claims.sub === claims.client_id ? this.#ofClient : this.#ofUser;
    return (await query.first(this.#store.database, claims))?.scopes;
  }
}
