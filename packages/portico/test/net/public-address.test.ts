// Which addresses a stranger may have asked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "../../src/net/public-address.ts";

const open = ["8.8.8.8", "1.1.1.1", "192.0.3.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"];
const special =
  "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255";
const special6 =
  ":: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:7f00:1 64:ff9b::7f00:1 fe80::1 fe80::1%eth0 fd00::1 fc00::1 ff02::1 2001:db8::1 2001::1 2002:7f00:1::";
const none = ["", "x", "127.1", "0x7f000001", "2130706433", "localhost", "[::1]"];

for (const address of open)
  test(`${address} is in the open internet`, () => assert.equal(isPublicAddress(address), true));
for (const address of [...special.split(" "), ...special6.split(" "), ...none])
  test(`'${address}' is not`, () => assert.equal(isPublicAddress(address), false));
