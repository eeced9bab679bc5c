import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isConflict } from '../../runtime/client/errors.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { apiVersionOf } from '../../runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import { FIRST_CHECK, FIRST_CHECK_ANNOTATION, FIRST_CHECK_DONE, FIRST_CHECK_MANAGER } from './names.ts';

/**
 * Creates the first ConnectivityCheck. An annotation on the Deployment of the server says that the check was created, or was not needed,
 * so that a restarted operator also knows it. The annotation has its own field manager, since a TrafficStack may keep the Deployment:
 *
 * | the Deployment of the server | what follows                                                  |
 * | ---------------------------- | ------------------------------------------------------------- |
 * | has the annotation           | nothing, whatever the user did with ConnectivityChecks since  |
 * | has none, or does not exist  | a ConnectivityCheck is created, unless the cluster has some   |
 *
 * @throws ApiError, TransportError, NotLeaderError
 */
export async function ensureFirstCheck(client: Client, deployment: KubeObject | undefined): Promise<void> {
  const done = deployment?.metadata?.annotations?.[FIRST_CHECK_ANNOTATION];
  if (done === undefined) await createFirstCheck(client);
  if (deployment !== undefined && done !== FIRST_CHECK_DONE) await noteFirstCheck(client, deployment);
}

/** Creates a ConnectivityCheck of all nodes, if the cluster has none. */
async function createFirstCheck(client: Client): Promise<void> {
  const checks = await client.list(CONNECTIVITY_CHECKS);
  if (checks.length > 0) return;
  try {
    await client.create(CONNECTIVITY_CHECKS, { metadata: { name: FIRST_CHECK }, spec: {} });
  } catch (error) {
    // Another client created it meanwhile.
    if (!isConflict(error)) throw error;
  }
}

/** Writes the annotation. Sends the uid, so that a Deployment that was deleted meanwhile is not created again. */
async function noteFirstCheck(client: Client, { metadata }: KubeObject): Promise<void> {
  const { name, namespace, uid } = metadata ?? {};
  const annotations = { [FIRST_CHECK_ANNOTATION]: FIRST_CHECK_DONE };
  const note: KubeObject = {
    ...{ apiVersion: apiVersionOf(DEPLOYMENTS), kind: DEPLOYMENTS.kind },
    metadata: { ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }), annotations },
  };
  await client.apply(DEPLOYMENTS, note, { fieldManager: FIRST_CHECK_MANAGER, force: true });
}
