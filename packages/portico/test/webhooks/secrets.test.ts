// The secrets of endpoints after PORTICO_SECRET has been replaced.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onEachDatabase, Portico } from "../support/server.ts";
import { until, verify } from "../support/webhook-receiver.ts";
import { serveWebhooks } from "../support/webhooks.ts";

const [older, newer, newest] = ["older", "newer", "newest"].map((each) => each.padEnd(32, "-"));

onEachDatabase("the secrets of webhook endpoints", (database) => {
  const env = { PORTICO_WEBHOOK_SCHEDULE: "0,1,1,1,1" };
  const { server, receiver, endpointAt, deliveriesOf } = serveWebhooks(database, {
    env: { ...env, PORTICO_SECRET: older! },
  });
  const restart = async (secrets: string): Promise<void> => {
    const { workspace, portico } = server;
    await portico.stop();
    const options = { env: { ...env, PORTICO_SECRET: secrets }, key: portico.key };
    server.portico = await Portico.start(workspace, options);
  };

  test("stay readable if the server has started once with the new value before the old one", async () => {
    const { secret } = await endpointAt("/kept");
    await restart(`${newer},${older}`);
    await server.create("/posts", { title: "With both" });
    verify(secret, (await receiver.waitFor("/kept"))[0]!);
    await restart(newer!);
    await server.create("/posts", { title: "With the new one" });
    verify(secret, (await receiver.waitFor("/kept", 2))[1]!);
  });

  test("that are lost stop no other endpoint, and their deliveries say what to do", async () => {
    const { id } = await endpointAt("/lost");
    await restart(newest!);
    const { secret } = await endpointAt("/sound");
    const post = await server.create("/posts", { title: "Without its secret" });
    verify(secret, (await receiver.waitFor("/sound"))[0]!);
    const [failed] = await until(deliveriesOf, id, ([one]) => one?.attempts > 0);
    assert.match(failed.lastError, /secret .* cannot be decrypted.*Rotate/);
    assert.match(server.portico.output, /PORTICO_SECRET/);
    const rotated = await server.create(`/v1/webhook-endpoints/${id}/rotations`, {});
    const [received] = await receiver.waitFor("/lost");
    assert.equal(received!.body.data.id, post.id);
    verify(rotated.secret, received!);
  });
});
