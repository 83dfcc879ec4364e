// Preloaded (`node --import`) into a process that is to be killed in the middle of its work: with SIGKILL, when it has done
// its KILL_AT-th step. A step is a statement that writes to SQLite, a message to PostgreSQL, or a file that gets a name.

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { DatabaseSync, StatementSync } from "node:sqlite";

const killAt = Number(process.env.KILL_AT);
let steps = 0;

function countAfter(object, name, isStep = () => true) {
  const original = object[name];
  object[name] = function (...values) {
    const result = Reflect.apply(original, this, values);
    if (isStep(this, ...values)) {
      steps += 1;
      if (steps === killAt) process.kill(process.pid, "SIGKILL");
    }
    return result;
  };
}

const writes = (text) => !/^\s*(select|with|savepoint|release|pragma (?!writable_schema))/i.test(text);
countAfter(DatabaseSync.prototype, "exec", (_database, text) => writes(text));
for (const name of ["all", "run"])
  countAfter(StatementSync.prototype, name, (statement) => writes(statement.sourceSQL));
countAfter(net.Socket.prototype, "write");
for (const name of ["linkSync", "renameSync"]) countAfter(fs, name);
syncBuiltinESMExports();
