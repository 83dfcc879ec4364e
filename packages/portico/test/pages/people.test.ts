// The pages on which people sign up, accept an invitation and manage members: their appearance, and their use without a
// script.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { inChromium } from "../support/chromium.ts";
import { emailTo, linkIn } from "../support/emails.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makePublicClient,
  makeUser,
  password,
  type User,
} from "../support/oauth.ts";
import { invitationLink, usersWithEmail } from "../support/people.ts";
import { expectAnswer, serve } from "../support/scenario.ts";
import { press, walks } from "./appearance.ts";
import { allow, application, fillInSignIn } from "./application.ts";

const cwd = resolve(import.meta.dirname, "../fixtures/people");

inChromium("pages for people", (chromium) => {
  let admin: User;
  let client: CreatedClient;
  const back = application();
  const server = serve("sqlite", {
    cwd,
    prepare: async (started) => {
      admin = await makeUser(started, "grace.brewster.hopper@computers.example.com");
      const promoted = { method: "PATCH", body: { role: "admin" } };
      expectAnswer(await started.request(`/users/${admin.id}`, promoted), { status: 200 });
      for (let number = 1; number <= 21; number += 1)
        await started.create("/users", { name: `Member ${number}`, email: `member${number}@example.com` });
      client = await makePublicClient(started, "openid", "--redirect-uri", back.callback);
    },
  });
  const walk = walks(chromium, server, () => [new URL(back.origin).host]);
  const authorizationUrl = (): string =>
    authorizeUrl(server, client, "openid", { redirect_uri: back.callback }).url;

  walk("a person signs up", async (page, check) => {
    await page.goto(authorizationUrl());
    await check("sign-in with sign-up");
    await page.getByRole("link", { name: "Create an account" }).click();
    await check("sign-up");
    await page.getByLabel("Email address").fill("new@example.com");
    await press(page, "Send the link");
    await check("sign-up, mail sent");
    await page.goto(linkIn(await emailTo(server, "new@example.com", "account.sign_up_link")));
    await check("new account");
    await page.getByLabel("Your name").fill("New Person");
    await page.getByLabel("Password").fill(password);
    await press(page, "Create the account");
    await check("account created");
    await page.goto(authorizationUrl());
    await fillInSignIn(page, { id: "", email: "new@example.com" });
    await allow(page);
    await back.waitForCallback(page);
  });

  walk("members are managed", async (page, check) => {
    await page.goto(authorizationUrl());
    await fillInSignIn(page, admin);
    await allow(page);
    await back.waitForCallback(page);
    await page.goto(`${server.url}/oauth/account`);
    await page.getByRole("link", { name: "Members" }).click();
    const invited = "somebody.with.a.name.that.does.not.end@departments.of.a.company.example.com";
    await page.getByLabel("Email address").fill(invited);
    await page.getByRole("combobox").first().selectOption("support");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByRole("button", { name: `Withdraw the invitation of ${invited}` }).waitFor();
    await check("members");
    await page.getByLabel("Email address").fill(invited);
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await check("members, refused");
    await page.getByRole("link", { name: "Next page" }).click();
    await check("members, second page");
    await page.goto(`${server.url}/oauth/members`);
    await page.getByLabel("Search by name or address").fill("Member 7");
    await press(page, "Search");
    await page.getByText("Change Member 7").click();
    await page.getByLabel("Role of Member 7").selectOption("support");
    await press(page, "Change the role");
    await page.getByText("Change Member 7").click();
    await check("members, one found");
    await press(page, "Deactivate Member 7");
    await page.getByText("Change Member 7").click();
    await page.getByRole("button", { name: "Activate Member 7" }).waitFor();
    const [member] = await usersWithEmail(server, "member7@example.com");
    assert.partialDeepStrictEqual(member, { role: "support", active: false });
  });

  walk("an invitation is accepted", async (page, check) => {
    await server.create("/v1/invitations", { email: "accepting@example.com", role: "support" });
    await page.goto(await invitationLink(server, "accepting@example.com"));
    await check("invitation");
    await page.getByLabel("Your name").fill("Accepting Person");
    await page.getByLabel("Password").fill(password);
    await press(page, "Create the account");
    await page.getByRole("heading", { name: "Your account is ready" }).waitFor();
    await page.goto(`${server.url}/oauth/invitation?token=x`);
    await check("invitation, refused");
  });
});
