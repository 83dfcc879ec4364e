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
  /** The role of its user, or of the owner of a client that acts for itself; null for such a client without an owner. */
  readonly role: string | null;
}

/** Whom a token speaks for: a client, or a user who has granted access to it. */
export type TokenSubject = Pick<AccessClaims, "tenant_id" | "client_id" | "sub" | "grant_id">;

const statusTables = [oauthClients, oauthRecordsTable, users] as const;
type StatusDatabase = Kysely<DatabaseOf<typeof statusTables>>;

function client(db: StatusDatabase, { client_id, tenant_id }: ParametersOf<TokenSubject>) {
  return db
    .selectFrom("oauth_clients as c")
    .select("c.scopes")
    .where("c.client_id", "=", client_id)
    .where("c.tenant_no", "=", tenant_id);
}

/** The rights of a client that acts for itself. If it has an owner, the account must be active. */
const selectClientRights = (db: StatusDatabase, subject: ParametersOf<TokenSubject>) =>
  client(db, subject)
    .leftJoin("users as u", (join) =>
      join
        .onRef("u.tenant_no", "=", "c.tenant_no")
        .onRef("u.id", "=", "c.owner_id")
        .on("u.active", "=", sql.lit(true)),
    )
    .select("u.role")
    .where(({ eb, or }) => or([eb("c.owner_id", "is", null), eb("u.id", "is not", null)]));

/** The rights of a user, whose grant must still exist, and whose account must be active. */
const selectUserRights = (db: StatusDatabase, subject: ParametersOf<TokenSubject>) => {
  const grant = parameter(({ grant_id }: TokenSubject) => hashToken(grant_id ?? ""));
  return client(db, subject)
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
    .where("u.id", "=", subject.sub)
    .where("u.active", "=", sql.lit(true));
};

/** Whether the token itself was not revoked. */
function isNotRevoked(db: StatusDatabase) {
  const revocation = parameter(({ jti }: AccessClaims) => hashToken(jti));
  const revocations = db
    .selectFrom("oauth_records")
    .select(sql.lit(1).as("one"))
    .where("model", "=", sql.lit(revokedModel))
    .where("id", "=", revocation);
  return sql<boolean>`not exists ${revocations}`;
}

const selectClientStatus = defineQuery(statusTables, (db, claims: ParametersOf<AccessClaims>) =>
  selectClientRights(db, claims).where(isNotRevoked(db)),
);
const selectUserStatus = defineQuery(statusTables, (db, claims: ParametersOf<AccessClaims>) =>
  selectUserRights(db, claims).where(isNotRevoked(db)),
);
const selectClientSubject = defineQuery(statusTables, selectClientRights);
const selectUserSubject = defineQuery(statusTables, selectUserRights);

export class TokenStatus {
  readonly #store: Store;
  readonly #ofClient: Query<CurrentRights, AccessClaims>;
  readonly #ofUser: Query<CurrentRights, AccessClaims>;

  constructor(store: Store) {
    this.#store = store;
    this.#ofClient = selectClientStatus(store);
    this.#ofUser = selectUserStatus(store);
  }

  /** What a token may do now; undefined if it is no longer valid. */
  current(claims: AccessClaims): Promise<CurrentRights | undefined> {
    const query = claims.sub === claims.client_id ? this.#ofClient : this.#ofUser;
    return query.first(this.#store.database, claims);
  }

  /** What the subject of a token may do now, whether or not that token still counts; undefined if it is gone. */
  ofSubject(subject: TokenSubject): Promise<CurrentRights | undefined> {
    const select = subject.sub === subject.client_id ? selectClientSubject : selectUserSubject;
    return select(this.#store).first(this.#store.database, subject);
  }
}
