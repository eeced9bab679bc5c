import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { V1Deployment } from '@kubernetes/client-node';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import type { Condition } from '../../src/runtime/controller/conditions.ts';
import { resourcePath } from '../../src/runtime/client/resource.ts';
import { DEPLOYMENTS, NODES } from '../../src/runtime/client/resources.ts';
import type { ControlPlane } from '../harness/controlPlane.ts';
import type { Fixture } from '../harness/fixture.ts';
import type { Hostile } from './hostileWatches.ts';

/** The answer of the API server to a text. */
export interface Answer {
  readonly status: number;
  readonly message: string;
}

/** Sends a text that no JSON.stringify would write, as an administrator. */
function send(plane: ControlPlane, method: 'POST' | 'PATCH', path: string, text: string): Promise<Answer> {
  const [ca, cert, key] = ['ca.crt', 'admin.crt', 'admin.key'].map((name) =>
    readFileSync(`${plane.directory}/${name}`),
  );
  const headers = { 'Content-Type': method === 'POST' ? 'application/json' : 'application/merge-patch+json' };
  return new Promise((resolve, reject) => {
    const call = request(plane.url + path, { method, ca, cert, key, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        const body = Buffer.concat(chunks).toString();
        resolve({ status, message: status < 300 ? '' : messageOf(body) });
      });
    });
    call.once('error', reject).end(text);
  });
}

function messageOf(body: string): string {
  try {
    return (JSON.parse(body) as { message?: string }).message ?? body;
  } catch {
    return body;
  }
}

/** Creates it, and writes its odd status over the status that it has, where it has one. */
export async function create({ controlPlane }: Fixture, { name, text, status }: Hostile): Promise<Answer> {
  const answer = await send(controlPlane, 'POST', resourcePath(TRAFFIC_WATCHES, { namespace: 'default' }), text);
  if (answer.status < 300 && status !== undefined) {
    const path = resourcePath(TRAFFIC_WATCHES, { namespace: 'default', name }, 'status');
    await send(controlPlane, 'PATCH', path, status);
  }
  return answer;
}

/** The outcome of a TrafficWatch that the API server took. */
export type Fate =
  | { readonly kind: 'Deployment' }
  | { readonly kind: 'Stalled'; readonly reason: string; readonly message: string }
  | { readonly kind: 'Open'; readonly said: string };

/** Every TrafficWatch of `default` by name, with what became of it so far. */
export async function fates({ client }: Fixture): Promise<Map<string, Fate>> {
  const deployments = await client.list(DEPLOYMENTS, { namespace: 'default' });
  const watches = await client.list(TRAFFIC_WATCHES, { namespace: 'default' });
  return new Map(watches.map((watch) => [watch.metadata?.name ?? '', fateOf(watch, deployments)]));
}

function fateOf(watch: TrafficWatch, deployments: readonly V1Deployment[]): Fate {
  const conditions = conditionsOf(watch);
  const stalled = conditions.find((c) => c.type === 'Stalled');
  if (stalled?.status === 'True') return { kind: 'Stalled', reason: stalled.reason, message: stalled.message };
  const { uid } = watch.metadata ?? {};
  const own = deployments.some((d) => d.metadata?.ownerReferences?.some((owner) => owner.uid === uid));
  // Made, and told so: what is not stalled must say so.
  if (own && stalled?.status === 'False') return { kind: 'Deployment' };
  return { kind: 'Open', said: JSON.stringify(conditions).slice(0, 1_000) };
}

function conditionsOf(watch: TrafficWatch): Condition[] {
  const conditions: unknown = (watch.status as { conditions?: unknown } | null | undefined)?.conditions;
  return Array.isArray(conditions) ? conditions.filter((c): c is Condition => typeof c === 'object' && c !== null) : [];
}

/** The state that must not change during any test: objects by name and version, labels by node. */
export interface Bystanders {
  readonly deployments: Readonly<Record<string, string | undefined>>;
  readonly spec: unknown;
  readonly labels: Readonly<Record<string, unknown>>;
}

/** The Deployments of these names, the spec of the TrafficWatch `nearby`, and its labels and persons' on the nodes. */
export async function bystanders(f: Fixture, names: readonly string[]): Promise<Bystanders> {
  const { client } = f;
  const deployments = await client.list(DEPLOYMENTS, { namespace: 'default' });
  const versions = deployments
    .filter(({ metadata }) => names.includes(metadata?.name ?? ''))
    .map(({ metadata }): [string, string | undefined] => [metadata?.name ?? '', metadata?.resourceVersion]);
  const nodes = await client.list(NODES);
  const labels = nodes.map((node): [string, unknown] => {
    return [node.metadata?.name ?? '', othersLabels(node.metadata?.labels ?? {})];
  });
  const { metadata, spec } = await f.watch('nearby');
  return {
    deployments: Object.fromEntries(versions),
    spec: [metadata?.generation, spec],
    labels: Object.fromEntries(labels),
  };
}

/** But for those that the odd ones may rightly have. */
function othersLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const mine = (key: string): boolean => /^(nearby|person)\./.test(key) || !key.endsWith('.traffic.example.com/unfit');
  return Object.fromEntries(Object.entries(labels).filter(([key]) => mine(key)));
}

/** Label keys of the operator's kind on any node. */
export async function unfitKeys({ client }: Fixture): Promise<string[]> {
  const keys = (await client.list(NODES)).flatMap((node) => Object.keys(node.metadata?.labels ?? {}));
  return [...new Set(keys)].filter((key) => key.endsWith('.traffic.example.com/unfit')).sort();
}
