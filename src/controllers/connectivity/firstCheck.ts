import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isConflict } from '../../runtime/client/errors.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { FIRST_CHECK, FIRST_CHECK_ANNOTATION } from './names.ts';

/**
 * Whether the first ConnectivityCheck was created, or was not needed. The annotation is on the Deployment, so that a
 * restarted operator knows it, too:
 *
 * | the Deployment of the server | what follows                                                  |
 * | ---------------------------- | ------------------------------------------------------------- |
 * | has the annotation           | nothing, whatever the user did with ConnectivityChecks since  |
 * | has none, or does not exist  | a ConnectivityCheck is created, unless the cluster has some   |
 */
export function isFirstCheckDone(deployment: KubeObject | undefined): boolean {
  return deployment?.metadata?.annotations?.[FIRST_CHECK_ANNOTATION] !== undefined;
}

/**
 * Creates a ConnectivityCheck of all nodes, if the cluster has none.
 *
 * @throws ApiError, TransportError, NotLeaderError
 */
export async function createFirstCheck(client: Client): Promise<void> {
  const checks = await client.list(CONNECTIVITY_CHECKS);
  if (checks.length > 0) return;
  try {
    await client.create(CONNECTIVITY_CHECKS, { metadata: { name: FIRST_CHECK }, spec: {} });
  } catch (error) {
    // Somebody else created it since.
    if (!isConflict(error)) throw error;
  }
}
