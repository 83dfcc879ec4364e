// What all modules of a server share.

import { Principals } from "../auth/principal.ts";
import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import type { Engine } from "../engine/engine.ts";
import { EventLog } from "../event-log/event-log.ts";
import { EventReader } from "../events/event-reader.ts";
import { EventFeed } from "../events/feed.ts";
import { StoredNames } from "../events/stored-names.ts";
import { FileUrls } from "../files/file-urls.ts";
import { openStorage } from "../files/open-storage.ts";
import type { Log } from "../http/logging/log.ts";
import { RequestQuotas } from "../http/request-quotas.ts";
import { IdempotentRequests } from "../idempotency/idempotent-requests.ts";
import { StoredBytes } from "../idempotency/stored-bytes.ts";
import { Encryption } from "../lib/encryption.ts";
import type { Report } from "../lib/report.ts";
import { TokenBuckets } from "../limits/token-bucket.ts";
import { mountedAt } from "../oauth/endpoints/issuer.ts";
import { PositionCursors } from "../query/position-cursors.ts";
import type { Store } from "../store/store.ts";
import { SubscriptionHub } from "../subscriptions/hub.ts";
import { VisibleEvents } from "../subscriptions/visible-events.ts";
import { authorizationServer } from "./authorization.ts";
import type { Assembly } from "./compose.ts";
import type { ServerContext } from "./module.ts";
import { authUrl } from "./settings/settings.ts";

/** @param urls resolved once the server listens */
export async function serverContext(
  assembly: Assembly,
  store: Store,
  engine: Engine,
  { logger }: Log,
  secrets: readonly string[],
  urls: Promise<OAuthUrls>,
): Promise<ServerContext> {
  const { app, model, settings, reports, describedRoutes } = assembly;
  const server = authorizationServer(store, engine, assembly, secrets, urls, logger);
  const report: Report = (message, details) => logger.warn(details, message);
  const buckets = {
    credentials: new TokenBuckets(),
    anonymous: new TokenBuckets(),
    addresses: new TokenBuckets(),
  };
  const quotas = new RequestQuotas(buckets, settings.failedAuthQuota);
  const names = new StoredNames(model.resources);
  const events = new EventFeed(store, report, names);
  const hub = new SubscriptionHub({
    ...{ engine, events },
    maxSubscriptions: settings.maxSubscriptions,
    charge: (...charge) => quotas.chargeStream(...charge),
    onInternalError: (err) => logger.error({ err }, "a subscription failed"),
  });
  const eventReader = new EventReader(store, names);
  const visibleEvents = new VisibleEvents(engine, events);
  const storedBytes = new StoredBytes(store);
  const fileUrls = new FileUrls(secrets, settings.publicUrl);
  const storage = await openStorage(settings.storageUrl, settings.databaseUrl);
  // handled: it never fails.
  void urls.then(({ resource }) => {
    fileUrls.base = resource;
  });
  return {
    ...{ app, settings, model, store, engine, reports, events, quotas, hub, secrets, urls, logger, report },
    principals: new Principals(store, model, settings.keyQuota),
    ...{ eventReader, visibleEvents, describedRoutes },
    eventLog: new EventLog(eventReader, visibleEvents, new PositionCursors(secrets, "events")),
    storedBytes,
    files: { storage, urls: fileUrls },
    idempotentRequests: new IdempotentRequests(store, engine, new Encryption(secrets), storedBytes),
    oauth: { server, ...mountedAt(authUrl(settings, settings.publicUrl), settings.publicUrl) },
  };
}
