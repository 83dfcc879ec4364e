// Mutations with an Idempotency-Key: they run once, and repetitions of the request get the same response.

import type { Caller } from "../../declare/caller.ts";
import { type IdempotentRequest, idempotentRequest } from "../../idempotency/idempotent-request.ts";
import { type IdempotentRequests, isStoredProblem } from "../../idempotency/idempotent-requests.ts";
import type { GraphqlRequest } from "../document/request.ts";
import type { GraphqlResponse, RunOnce } from "./executor.ts";

/**
 * @param key the value of the header
 * @param onReplay called for a response that was given before
 * @throws Problem `malformed_request` for an invalid key
 */
export function runOnceWith(
  requests: IdempotentRequests,
  caller: Caller,
  key: string,
  request: GraphqlRequest,
  onReplay: () => void,
): RunOnce {
  const { query, operationName, variables, extensions } = request;
  const body = { query, operationName, variables, extensions };
  const parts = { method: "POST", path: "/graphql", ifMatch: undefined, body };
  const identified: IdempotentRequest = idempotentRequest(key, parts);
  return async (run, isJoint) => {
    let response: GraphqlResponse | undefined;
    const { answer, isReplayed } = await requests.run(
      caller,
      identified,
      async (writes) => {
        response = await run(writes);
        const isStored = response.failures.every(({ problem }) => isStoredProblem(problem));
        return { answer: { status: 200, headers: {}, body: response.text }, isStored };
      },
      { isJoint },
    );
    if (!isReplayed) return response!;
    onReplay();
    return { text: answer.body, hasData: true, failures: [], isUnavailable: false, cost: 0 };
  };
}
