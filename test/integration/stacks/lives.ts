import type { V1PersistentVolumeClaimTemplate } from '@kubernetes/client-node';
import type { ComponentSpec, TrafficStackSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import type { Expected } from './judge/content.ts';
import { component } from './scene.ts';

/** The kind of the upgrades of a stack. */
export type Course = 'plain' | 'rollback' | 'gate';
/** A version of a component: pods of the version `bad` do not start. */
export type Version = number | 'bad';

/** The components of each stack, in the order of their versions. */
const NAMES = ['db', 'cache', 'api', 'auth', 'web', 'jobs', 'report', 'edge'] as const;
type Short = (typeof NAMES)[number];
/** Components that get a bad version: the number of the version, and its short name. */
export const MAY_FAIL: readonly (readonly [number, Short])[] = [
  [0, 'db'],
  [2, 'api'],
  [5, 'jobs'],
];
export const COUNT = NAMES.length;
/** The deadline of a bad version. */
const DEADLINE = '4s';
/** Nodes with this label have the pods of high availability. */
export const ROLE = { role: 'master' };
export const NODES_OF_ROLE = 2;

/** The image of a component of each stack. */
export const imageOf = (short: Short, version: Version): string => `${short}:${version}`;

/**
 * Eight components in five stages: some have files, some high availability, and two of the StatefulSets have claims.
 *
 * @param query of the gate
 */
export function stackSpec(
  stack: string,
  versions: readonly Version[],
  course: Course,
  query: string,
): TrafficStackSpec {
  return {
    highAvailability: { nodeSelector: ROLE },
    ...(course === 'rollback' && { upgrade: { rollback: true } }),
    ...(course === 'gate' && { upgrade: { query } }),
    components: componentsOf(stack, versions),
  };
}

function componentsOf(stack: string, versions: readonly Version[]): ComponentSpec[] {
  const name = (short: Short): string => `${stack}-${short}`;
  const part = (short: Short, dependsOn: Short[], over: Parameters<typeof component>[1] = {}) => {
    const version = versions[NAMES.indexOf(short)] ?? 0;
    const image = imageOf(short, version);
    const config = configOf(stack, short, image);
    return component(name(short), {
      ...over,
      ...{ image, dependsOn: dependsOn.map(name), ...(version === 'bad' && { deadline: DEADLINE }) },
      workload: {
        ...over.workload,
        ...(config && { config: [{ name: 'etc', mountPath: '/etc/app', files: config }] }),
      },
    });
  };
  const alone = { highAvailability: false };
  const claims = { volumeClaimTemplates: [CLAIM] };
  const headless = [{ headless: true, ports: [{ port: 5432 }] }];
  return [
    part('edge', ['web'], { kind: 'DaemonSet' }),
    part('report', ['jobs', 'auth'], alone),
    part('jobs', ['api'], { ...alone, kind: 'StatefulSet', workload: { ...claims, volumeClaimPolicy: 'Delete' } }),
    part('web', ['api', 'auth']),
    part('auth', ['db'], alone),
    part('api', ['db', 'cache'], { workload: { services: [{ ports: [{ port: 80 }] }] } }),
    part('cache', [], { kind: 'DaemonSet' }),
    part('db', [], { kind: 'StatefulSet', workload: { ...claims, services: headless } }),
  ];
}

const CLAIM: V1PersistentVolumeClaimTemplate = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

/** The claims of a stack that stay: the claims of db, which has the default policy. */
export function retainedClaims(stack: string): string[] {
  const ordinals = Array.from({ length: NODES_OF_ROLE }, (_, ordinal) => ordinal);
  return ordinals.map((ordinal) => `/registry/persistentvolumeclaims/default/data-${stack}-db-${ordinal}`);
}

/** The files of a component with expressions. */
function configOf(stack: string, short: Short, image: string): Record<string, string> | undefined {
  const of = (other: Short): string => `components["${stack}-${other}"]`;
  if (short === 'api') return { image, servers: `\${${of('db')}.addresses.join(",")}`, replicas: '${self.replicas}' };
  return short === 'web' ? { image, api: `\${${of('api')}.service}:\${${of('api')}.port}` } : undefined;
}

/** The same, as they must be. */
const filesOf = (name: string, image: string): Record<string, string> | undefined => {
  const [stack, short] = name.split('-');
  const db = Array.from({ length: NODES_OF_ROLE }, (_, ordinal) => `${stack}-db-${ordinal}.${stack}-db.default.svc`);
  if (short === 'api') return { image, servers: db.join(','), replicas: `${NODES_OF_ROLE}` };
  return short === 'web' ? { image, api: `${stack}-api.default.svc:80` } : undefined;
};

export const EXPECTED: Expected = { filesOf, nodes: NODES_OF_ROLE };
