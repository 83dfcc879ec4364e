// The appearance of the pages on which people sign in, consent and manage their account.

import { inChromium, withAuthenticator } from "../support/chromium.ts";
import { emailTo, linkIn } from "../support/emails.ts";
import { authorizeUrl, type CreatedClient, makeClient, makeUser, post, type User } from "../support/oauth.ts";
import { serve } from "../support/scenario.ts";
import { press, walks } from "./appearance.ts";
import { allow, application, fillInSignIn } from "./application.ts";

inChromium("appearance", (chromium) => {
  let user: User;
  let client: CreatedClient;
  const back = application();
  const scope = "openid profile email offline_access posts:read posts:write";
  // Passkeys require a host name.
  const server = serve("sqlite", {
    env: { HOST: "localhost" },
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      const words = ["--type", "public", "--grant-types", "authorization_code,device_code,refresh_token"];
      const scopes = ["--scopes", scope.replaceAll(" ", ",")];
      client = await makeClient(server, ...words, ...scopes, "--redirect-uri", back.callback);
    },
  });

  const authorizationUrl = (): string =>
    authorizeUrl(server, client, scope, { redirect_uri: back.callback }).url;

  const walk = walks(chromium, server, () => [new URL(back.origin).host]);

  walk("an application requests access", async (page, check) => {
    await page.goto(authorizationUrl());
    await check("sign-in", "'self'");
    await fillInSignIn(page, user, "wrong");
    await check("sign-in, refused", "'self'");
    await fillInSignIn(page, user);
    await check("consent");
    await allow(page);
    await back.waitForCallback(page);
    await page.goto(`${server.url}/oauth/logout`);
    await check("sign out");
    await press(page, "Sign out");
    await check("signed out");
    await page.goto(authorizationUrl().replace("callback", "elsewhere"));
    await check("error");
  });

  walk("a device is connected", async (page, check) => {
    const code = page.getByLabel("Code shown on your device");
    const { body } = await post(server, "/device_authorization", { client_id: client.clientId, scope });
    await page.goto(body.verification_uri);
    await check("device code");
    await code.fill("BBBB-BBBB");
    await press(page, "Continue");
    await check("device code, refused");
    await code.fill(body.user_code);
    await press(page, "Continue");
    await check("device confirmation");
    await press(page, "The codes match");
    await fillInSignIn(page, user);
    await allow(page);
    await check("device connected");
  });

  walk("the account", async (page, check) => {
    await withAuthenticator(page);
    await page.goto(authorizationUrl());
    await fillInSignIn(page, user);
    await allow(page);
    await back.waitForCallback(page);
    await page.goto(`${server.url}/oauth/grants`);
    await check("grants");
    // This also revokes grants from other browsers.
    await press(page, "Revoke access of Planner");
    await check("no grants");
    await page.getByRole("link", { name: "Where you are signed in" }).click();
    await check("sessions");
    await page.getByRole("link", { name: "Passkeys" }).click();
    await check("no passkeys", "'self'");
    await press(page, "Add a passkey");
    await page.getByRole("button", { name: "Remove My passkey" }).waitFor();
    await check("passkeys", "'self'");
    await page.getByRole("link", { name: "Your account" }).click();
    await check("account");
    await press(page, "Send a confirmation email");
    await check("account, mail sent");
    await page.goto(linkIn(await emailTo(server, user.email, "account.email_link")));
    await check("confirm the email address");
    await press(page, "Yes, confirm it");
    await check("email address confirmed");
  });

  walk("a password is forgotten", async (page, check) => {
    await page.goto(authorizationUrl());
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    await check("forgotten password");
    await page.getByLabel("Email address").fill(user.email);
    await press(page, "Send the link");
    await check("link sent");
    await page.goto(linkIn(await emailTo(server, user.email, "account.password_link")));
    await check("new password");
    await page.getByLabel("New password").fill("another horse battery");
    await press(page, "Change the password");
    await check("password changed");
  });
});
