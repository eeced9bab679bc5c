import { expect, vi } from 'vitest';
import type { KubeObject, Resource } from '../../../src/runtime/client/resource.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { NODES, PODS, SERVICE_ACCOUNTS } from '../../../src/runtime/client/resources.ts';
import { defaultConnectivityOptions, type ConnectivityOptions } from '../../../src/connectivity/objects/names.ts';
import { serverClusterRole, serverRole } from '../../../src/connectivity/objects/objects.ts';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import type { Connected } from '../../harness/runtimeScene.ts';
import { whenAllowed } from '../rights.ts';
import type { ConnectivityServer } from './world.ts';

const NAMESPACE = 'default';
const ACCOUNT = 'netchecker-agent';
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };

/** A deployment in the namespace `default`. */
export const OPTIONS: ConnectivityOptions = {
  ...defaultConnectivityOptions(NAMESPACE),
  agentsNamespace: NAMESPACE,
  image: 'i',
};

/** Creates nodes, the ServiceAccount of the agents, and a running pod of it for each name. */
export async function createAgents(client: Client, nodeOf: Readonly<Record<string, string>>): Promise<void> {
  for (const name of new Set(Object.values(nodeOf))) await client.create(NODES, { metadata: { name } });
  await client.create(SERVICE_ACCOUNTS, { metadata: { name: ACCOUNT, namespace: NAMESPACE } });
  for (const [name, nodeName] of Object.entries(nodeOf)) {
    await client.create(PODS, {
      metadata: { name, namespace: NAMESPACE, labels: { app: 'netchecker-agent' } },
      spec: { serviceAccountName: ACCOUNT, nodeName, containers: [{ name: 'agent', image: 'agent' }] },
    });
    const status = { status: { phase: 'Running' } };
    const options = { fieldManager: 'test', subresource: 'status' };
    await client.mergePatch(PODS, { namespace: NAMESPACE, name }, status, options);
  }
}

/** Deletes a pod at once, as a kubelet does at the end. */
export async function deletePod({ transport }: Connected, name: string): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
  await transport.request({ method: 'DELETE', path: `/api/v1/namespaces/${NAMESPACE}/pods/${name}`, body });
}

/** A token of an agent's pod, as the kubelet mounts it. */
export async function tokenOf(
  { transport }: Connected,
  pod: string,
  audience: string,
  namespace = NAMESPACE,
): Promise<string> {
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: pod };
  const { status } = await transport.request<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${ACCOUNT}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience], expirationSeconds: 3_600, boundObjectRef },
    },
  });
  return status.token;
}

/** A user with exactly the rights of a deployed server; returns its kubeconfig. */
export async function limitedUser(plane: ControlPlane, client: Client, user: string): Promise<string> {
  for (const role of [serverClusterRole(OPTIONS), serverRole(OPTIONS)]) {
    const { kind = '', metadata = {}, rules = [] } = role;
    const namespace = metadata.namespace;
    await client.create(rbacResource(kind), role);
    await client.create(rbacResource(`${kind}Binding`), {
      metadata: { name: user, ...(namespace !== undefined && { namespace }) },
      roleRef: { apiGroup: RBAC.group, kind, name: metadata.name },
      subjects: [{ apiGroup: RBAC.group, kind: 'User', name: user }],
    } as KubeObject);
    for (const rule of rules) await whenAllowed(client, user, rule, { ...(namespace !== undefined && { namespace }) });
  }
  return plane.user(user);
}

function rbacResource(kind: string): Resource {
  return { ...RBAC, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind.startsWith('Role') };
}

/** A request of an agent; without a token no header. */
export interface Sent {
  readonly token: string | undefined;
  readonly node: string;
}

/** For what waits for an API server that starts, or answers late. */
export const WAIT = { timeout: 120_000, interval: 100 };

/** An agent reports again then: its reports are limited, or a TokenReview took more than the 1.5 s that it is given. */
const LATER = [429, 503];

/** Posts a report. */
export async function post(
  { port }: ConnectivityServer,
  pod: string,
  { token, node }: Sent,
): Promise<{ status: number; text: string; retryAfter: string | null }> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/agents/${pod}`, {
    method: 'POST',
    body: JSON.stringify({ report_interval: 60, nodename: node, podname: pod }),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') };
}

/**
 * Posts a report, again and again while the server says so.
 *
 * @param unverified called for each answer that the token could not be verified
 */
export function postInTime(
  server: ConnectivityServer,
  pod: string,
  sent: Sent,
  unverified: () => void = () => undefined,
): ReturnType<typeof post> {
  return vi.waitFor(async () => {
    const answer = await post(server, pod, sent);
    if (answer.status === 503) unverified();
    expect(LATER).not.toContain(answer.status);
    return answer;
  }, WAIT);
}
