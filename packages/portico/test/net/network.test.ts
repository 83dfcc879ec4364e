// The network of an address, by which limits count.

import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf } from "../../src/net/network.ts";

const networks: readonly (readonly [string, string])[] = [
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:192.0.2.7", "192.0.2.7"],
  ["::ffff:c000:207", "192.0.2.7"],
  ["0:0:0:0:0:ffff:192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2", "::ffff:192.0.2"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["2001:db8::3:4:5:6", "2001:db8:0:0"],
  ["2001:db8::2:3:4:5:6", "2001:db8:0:2"],
  ["2001::1", "2001:0:0:0"],
  ["1:2:3:4:5:6:7::", "1:2:3:4"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["::1", "0:0:0:0"],
  ["::", "0:0:0:0"],
  ["", ""],
];

for (const [address, network] of networks) {
  test(`'${address}' is counted as '${network}'`, () => assert.equal(networkOf(address), network));
}
