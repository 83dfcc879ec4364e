#!/usr/bin/env -S node --max-semi-space-size=4
// Starts the command line. Node keeps the stripped and compiled modules, so that a second start takes half the
// time and memory; the small young generation keeps a server under load from growing for nothing.

import { enableCompileCache } from "node:module";

enableCompileCache();
await import("../src/cli/portico.ts");
