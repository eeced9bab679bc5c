import type {
  ComponentSpec,
  ComponentStatus,
  TrafficStackSpec,
} from '../../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL } from '../../../../src/controllers/trafficstack/names.ts';
import { component } from '../scene.ts';
import type { Expected } from './content.ts';
import type { Change } from './history.ts';
import { judge } from './judge.ts';

/** Entries of histories, for the tests of the judge. */
const UID = 'stack-1';
export const STACK = '/registry/traffic.example.com/trafficstacks/main';
export const [DB, WEB] = ['/registry/statefulsets/default/db', '/registry/deployments/default/web'];
const EXPECTED: Expected = { filesOf: (name, image) => (name === 'web' ? { image } : undefined), nodes: 2 };

export type Entry = readonly [key: string, object: object | undefined];

/** The violations that the judge names, without the revisions. */
export const violations = (...entries: Entry[]) =>
  judge(
    entries.map(([key, object], n): Change => ({ revision: n + 1, key, object: object })),
    EXPECTED,
  ).violations.map((sentence) => sentence.replace(/ \(revision \d+\)$/, ''));

export interface StackOptions {
  readonly db?: string;
  readonly web?: string;
  readonly spec?: Partial<TrafficStackSpec>;
  readonly status?: readonly Partial<ComponentStatus>[];
  readonly annotations?: Record<string, string>;
  readonly isEnding?: boolean;
  readonly claimPolicy?: 'Retain' | 'Delete';
}

/** web depends on db. */
export function stack(options: StackOptions = {}): Entry {
  const { db = 'db:1', web = 'web:1', spec, status = [], annotations, isEnding = false, claimPolicy } = options;
  const claims = claimPolicy === undefined ? {} : { workload: { volumeClaimPolicy: claimPolicy } };
  const components: ComponentSpec[] = [
    component('db', { kind: 'StatefulSet', image: db, ...claims }),
    component('web', { image: web, dependsOn: ['db'] }),
  ];
  const metadata = { uid: UID, annotations, ...(isEnding && { deletionTimestamp: '2026-01-01T00:00:00Z' }) };
  return [STACK, { metadata, spec: { components, ...spec }, status: { components: status } }];
}

/** The metadata of an object of a component. */
export const of = (name: string, uid: string) => ({
  metadata: { uid, namespace: 'default', labels: { [COMPONENT_LABEL]: name }, ownerReferences: [{ uid: UID }] },
});

/** A workload of two pods. */
export function workload(
  key: string,
  image: string,
  over: { available?: number; replicas?: number; files?: string } = {},
): Entry {
  const { available = 2, replicas = 2, files } = over;
  const name = key.slice(key.lastIndexOf('/') + 1);
  const kind = key.includes('statefulsets') ? 'StatefulSet' : 'Deployment';
  const status = { replicas, updatedReplicas: replicas, availableReplicas: available };
  const spec = { containers: [{ image }], ...(files !== undefined && { volumes: [{ configMap: { name: files } }] }) };
  return [key, { kind, ...of(name, name), spec: { replicas, template: { spec } }, status }];
}
