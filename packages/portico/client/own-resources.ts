// The server's own resources. Made by the printer of `portico types`; a test compares them.

export interface OwnResources {
  readonly users: {
    readonly name: "user";
    readonly row: {
      readonly id: string;
      readonly name: string;
      readonly email: string;
      readonly role: string;
      readonly active: boolean;
      readonly createdAt: string;
      readonly updatedAt: string;
    };
    readonly selectable: object;
    readonly references: object;
    readonly links: object;
    readonly create: {
      name: string;
      email: string;
      role?: string;
      active?: boolean;
    };
    readonly update: Partial<{
      name: string;
      email: string;
      role?: string;
      active?: boolean;
    }>;
    readonly once: unknown;
    readonly filters: {
      readonly email?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
    };
    readonly sort: "createdAt" | "name" | "email";
    readonly paging: "page";
    readonly search: true;
    readonly softDelete: false;
    readonly operations: "list" | "get" | "create" | "replace" | "update" | "delete";
    readonly parent: never;
    readonly nestedUnder: never;
    readonly actions: object;
    readonly collectionActions: object;
  };
  readonly invitations: {
    readonly name: "invitation";
    readonly row: {
      readonly id: string;
      readonly email: string;
      readonly role: string;
      readonly status: "accepted" | "withdrawn" | "expired" | "pending";
      readonly inviterId: string | null;
      readonly expiresAt: string | null;
      readonly acceptedAt: string | null;
      readonly withdrawnAt: string | null;
      readonly createdAt: string;
      readonly updatedAt: string;
    };
    readonly selectable: object;
    readonly references: {
      readonly inviter: "users";
    };
    readonly links: object;
    readonly create: {
      email: string;
      role?: string;
    };
    readonly update: Partial<{
      email: string;
      role?: string;
    }>;
    readonly once: unknown;
    readonly filters: {
      readonly email?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
      readonly status?:
        | "accepted"
        | "withdrawn"
        | "expired"
        | "pending"
        | readonly ("accepted" | "withdrawn" | "expired" | "pending")[]
        | null
        | {
            readonly in?: readonly ("accepted" | "withdrawn" | "expired" | "pending")[] | undefined;
            readonly ne?:
              | "accepted"
              | "withdrawn"
              | "expired"
              | "pending"
              | readonly ("accepted" | "withdrawn" | "expired" | "pending")[]
              | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
    };
    readonly sort: "createdAt";
    readonly paging: "cursor";
    readonly search: false;
    readonly softDelete: false;
    readonly operations: "list" | "get" | "create" | "delete";
    readonly parent: never;
    readonly nestedUnder: never;
    readonly actions: {
      readonly mails: {
        readonly input: object;
        readonly output: {
          readonly id: string;
          readonly email: string;
          readonly role: string;
          readonly status: "accepted" | "withdrawn" | "expired" | "pending";
          readonly inviterId: string | null;
          readonly expiresAt: string | null;
          readonly acceptedAt: string | null;
          readonly withdrawnAt: string | null;
          readonly createdAt: string;
          readonly updatedAt: string;
        };
      };
    };
    readonly collectionActions: object;
  };
  readonly apiKeys: {
    readonly name: "apiKey";
    readonly row: {
      readonly id: string;
      readonly name: string;
      readonly prefix: string;
      readonly type: "secret" | "publishable";
      readonly scopes: readonly string[];
      readonly rateLimit: unknown;
      readonly status: "revoked" | "expired" | "expiring_soon" | "active";
      readonly ownerId: string | null;
      readonly expiresAt: string | null;
      readonly revokedAt: string | null;
      readonly lastUsedAt: string | null;
      readonly rotatedFromId: string | null;
      readonly rotatedToId: string | null;
      readonly createdAt: string;
      readonly updatedAt: string;
    };
    readonly selectable: object;
    readonly references: {
      readonly owner: "users";
    };
    readonly links: object;
    readonly create: {
      name: string;
      type?: "secret" | "publishable";
      scopes?: readonly string[];
      rateLimit?: unknown;
      ownerId?: string | null;
      expiresAt?: string | null;
    };
    readonly update: Partial<{
      name: string;
      type?: "secret" | "publishable";
      scopes?: readonly string[];
      rateLimit?: unknown;
      ownerId?: string | null;
      expiresAt?: string | null;
    }>;
    readonly once: { key: string; warning: string };
    readonly filters: {
      readonly status?:
        | "revoked"
        | "expired"
        | "expiring_soon"
        | "active"
        | readonly ("revoked" | "expired" | "expiring_soon" | "active")[]
        | null
        | {
            readonly in?: readonly ("revoked" | "expired" | "expiring_soon" | "active")[] | undefined;
            readonly ne?:
              | "revoked"
              | "expired"
              | "expiring_soon"
              | "active"
              | readonly ("revoked" | "expired" | "expiring_soon" | "active")[]
              | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
      readonly ownerId?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
    };
    readonly sort: "createdAt";
    readonly paging: "cursor";
    readonly search: false;
    readonly softDelete: false;
    readonly operations: "list" | "get" | "create" | "replace" | "update" | "delete";
    readonly parent: never;
    readonly nestedUnder: "users" | "tenants";
    readonly actions: {
      readonly rotations: {
        readonly input: {
          overlapSeconds?: number;
        };
        readonly output: {
          readonly id: string;
          readonly name: string;
          readonly prefix: string;
          readonly type: "secret" | "publishable";
          readonly scopes: readonly string[];
          readonly rateLimit: unknown;
          readonly status: "revoked" | "expired" | "expiring_soon" | "active";
          readonly ownerId: string | null;
          readonly expiresAt: string | null;
          readonly revokedAt: string | null;
          readonly lastUsedAt: string | null;
          readonly rotatedFromId: string | null;
          readonly rotatedToId: string | null;
          readonly createdAt: string;
          readonly updatedAt: string;
        } & { key: string; warning: string };
      };
    };
    readonly collectionActions: object;
  };
  readonly requestLogs: {
    readonly name: "requestLog";
    readonly row: {
      readonly id: string;
      readonly method: string;
      readonly route: string;
      readonly status: number;
      readonly durationMs: number;
      readonly keyId: string;
      readonly requestId: string;
      readonly createdAt: string;
      readonly updatedAt: string;
    };
    readonly selectable: object;
    readonly references: object;
    readonly links: object;
    readonly create: {
      method: string;
      route: string;
      status: number;
      durationMs: number;
      keyId: string;
      requestId: string;
    };
    readonly update: Partial<{
      method: string;
      route: string;
      status: number;
      durationMs: number;
      keyId: string;
      requestId: string;
    }>;
    readonly once: unknown;
    readonly filters: {
      readonly keyId?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
      readonly status?:
        | number
        | readonly number[]
        | null
        | {
            readonly in?: readonly number[] | undefined;
            readonly ne?: number | readonly number[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
      readonly createdAt?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
            readonly gte?: string | undefined;
            readonly gt?: string | undefined;
            readonly lte?: string | undefined;
            readonly lt?: string | undefined;
          }
        | undefined;
    };
    readonly sort: "createdAt";
    readonly paging: "cursor";
    readonly search: false;
    readonly softDelete: false;
    readonly operations: "list" | "get";
    readonly parent: never;
    readonly nestedUnder: never;
    readonly actions: object;
    readonly collectionActions: object;
  };
  readonly oauthClients: {
    readonly name: "oauthClient";
    readonly row: {
      readonly id: string;
      readonly name: string;
      readonly clientId: string;
      readonly type: "public" | "confidential";
      readonly authMethod: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt" | null;
      readonly redirectUris: readonly string[];
      readonly grantTypes: readonly (
        | "authorization_code"
        | "refresh_token"
        | "client_credentials"
        | "urn:ietf:params:oauth:grant-type:device_code"
      )[];
      readonly scopes: readonly string[];
      readonly jwks: unknown;
      readonly jwksUri: string | null;
      readonly requiresConsent: boolean;
      readonly mayIntrospect: boolean;
      readonly secretId: string | null;
      readonly ownerId: string | null;
      readonly createdAt: string;
      readonly updatedAt: string;
    };
    readonly selectable: object;
    readonly references: object;
    readonly links: object;
    readonly create: {
      name: string;
      type: "public" | "confidential";
      authMethod?: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt" | null;
      redirectUris?: readonly string[];
      grantTypes?: readonly (
        | "authorization_code"
        | "refresh_token"
        | "client_credentials"
        | "urn:ietf:params:oauth:grant-type:device_code"
      )[];
      scopes: readonly string[];
      jwks?: unknown;
      jwksUri?: string | null;
      requiresConsent?: boolean;
      mayIntrospect?: boolean;
    };
    readonly update: Partial<{
      name: string;
      type: "public" | "confidential";
      authMethod?: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt" | null;
      redirectUris?: readonly string[];
      grantTypes?: readonly (
        | "authorization_code"
        | "refresh_token"
        | "client_credentials"
        | "urn:ietf:params:oauth:grant-type:device_code"
      )[];
      scopes: readonly string[];
      jwks?: unknown;
      jwksUri?: string | null;
      requiresConsent?: boolean;
      mayIntrospect?: boolean;
    }>;
    readonly once: { clientSecret?: string; warning?: string };
    readonly filters: {
      readonly clientId?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
      readonly type?:
        | "public"
        | "confidential"
        | readonly ("public" | "confidential")[]
        | null
        | {
            readonly in?: readonly ("public" | "confidential")[] | undefined;
            readonly ne?: "public" | "confidential" | readonly ("public" | "confidential")[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
    };
    readonly sort: "createdAt" | "name";
    readonly paging: "cursor";
    readonly search: false;
    readonly softDelete: false;
    readonly operations: "list" | "get" | "create" | "replace" | "update" | "delete";
    readonly parent: never;
    readonly nestedUnder: never;
    readonly actions: {
      readonly rotations: {
        readonly input: {
          overlapSeconds?: number;
        };
        readonly output: {
          readonly id: string;
          readonly name: string;
          readonly clientId: string;
          readonly type: "public" | "confidential";
          readonly authMethod:
            | "none"
            | "client_secret_basic"
            | "client_secret_post"
            | "private_key_jwt"
            | null;
          readonly redirectUris: readonly string[];
          readonly grantTypes: readonly (
            | "authorization_code"
            | "refresh_token"
            | "client_credentials"
            | "urn:ietf:params:oauth:grant-type:device_code"
          )[];
          readonly scopes: readonly string[];
          readonly jwks: unknown;
          readonly jwksUri: string | null;
          readonly requiresConsent: boolean;
          readonly mayIntrospect: boolean;
          readonly secretId: string | null;
          readonly ownerId: string | null;
          readonly createdAt: string;
          readonly updatedAt: string;
        } & { clientSecret?: string; warning?: string };
      };
    };
    readonly collectionActions: object;
  };
  readonly webhookEndpoints: {
    readonly name: "webhookEndpoint";
    readonly row: {
      readonly id: string;
      readonly url: string;
      readonly description: string | null;
      readonly eventTypes: readonly string[];
      readonly status: "enabled" | "disabled";
      readonly disabledReason: "gone" | "failing" | "credential_revoked" | "manual" | null;
      readonly createdAt: string;
      readonly updatedAt: string;
    };
    readonly selectable: object;
    readonly references: object;
    readonly links: object;
    readonly create: {
      url: string;
      description?: string | null;
      eventTypes: readonly string[];
      status?: "enabled" | "disabled";
    };
    readonly update: Partial<{
      url: string;
      description?: string | null;
      eventTypes: readonly string[];
      status?: "enabled" | "disabled";
    }>;
    readonly once: { secret: string; warning: string };
    readonly filters: {
      readonly status?:
        | "enabled"
        | "disabled"
        | readonly ("enabled" | "disabled")[]
        | null
        | {
            readonly in?: readonly ("enabled" | "disabled")[] | undefined;
            readonly ne?: "enabled" | "disabled" | readonly ("enabled" | "disabled")[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
    };
    readonly sort: "createdAt";
    readonly paging: "cursor";
    readonly search: false;
    readonly softDelete: false;
    readonly operations: "list" | "get" | "create" | "replace" | "update" | "delete";
    readonly parent: never;
    readonly nestedUnder: never;
    readonly actions: {
      readonly rotations: {
        readonly input: {
          overlapSeconds?: number;
        };
        readonly output: {
          readonly id: string;
          readonly url: string;
          readonly description: string | null;
          readonly eventTypes: readonly string[];
          readonly status: "enabled" | "disabled";
          readonly disabledReason: "gone" | "failing" | "credential_revoked" | "manual" | null;
          readonly createdAt: string;
          readonly updatedAt: string;
        } & { secret: string; warning: string };
      };
    };
    readonly collectionActions: object;
  };
  readonly webhookDeliveries: {
    readonly name: "webhookDelivery";
    readonly row: {
      readonly id: string;
      readonly endpointId: string;
      readonly eventId: string;
      readonly eventType: string;
      readonly status: "pending" | "succeeded" | "failed";
      readonly attempts: number;
      readonly nextAttemptAt: string | null;
      readonly lastStatus: number | null;
      readonly lastError: string | null;
      readonly durationMs: number | null;
      readonly createdAt: string;
      readonly updatedAt: string;
    };
    readonly selectable: object;
    readonly references: object;
    readonly links: object;
    readonly create: {
      endpointId: string;
      eventId: string;
      eventType: string;
      status?: "pending" | "succeeded" | "failed";
      attempts?: number;
      nextAttemptAt?: string | null;
      lastStatus?: number | null;
      lastError?: string | null;
      durationMs?: number | null;
    };
    readonly update: Partial<{
      endpointId: string;
      eventId: string;
      eventType: string;
      status?: "pending" | "succeeded" | "failed";
      attempts?: number;
      nextAttemptAt?: string | null;
      lastStatus?: number | null;
      lastError?: string | null;
      durationMs?: number | null;
    }>;
    readonly once: unknown;
    readonly filters: {
      readonly endpointId?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
      readonly status?:
        | "pending"
        | "succeeded"
        | "failed"
        | readonly ("pending" | "succeeded" | "failed")[]
        | null
        | {
            readonly in?: readonly ("pending" | "succeeded" | "failed")[] | undefined;
            readonly ne?:
              | "pending"
              | "succeeded"
              | "failed"
              | readonly ("pending" | "succeeded" | "failed")[]
              | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
      readonly eventType?:
        | string
        | readonly string[]
        | null
        | {
            readonly in?: readonly string[] | undefined;
            readonly ne?: string | readonly string[] | undefined;
            readonly isNull?: boolean | undefined;
          }
        | undefined;
    };
    readonly sort: "createdAt";
    readonly paging: "cursor";
    readonly search: false;
    readonly softDelete: false;
    readonly operations: "list" | "get";
    readonly parent: never;
    readonly nestedUnder: never;
    readonly actions: {
      readonly retries: {
        readonly input: object;
        readonly output: {
          readonly id: string;
          readonly endpointId: string;
          readonly eventId: string;
          readonly eventType: string;
          readonly status: "pending" | "succeeded" | "failed";
          readonly attempts: number;
          readonly nextAttemptAt: string | null;
          readonly lastStatus: number | null;
          readonly lastError: string | null;
          readonly durationMs: number | null;
          readonly createdAt: string;
          readonly updatedAt: string;
        };
      };
    };
    readonly collectionActions: object;
  };
}
