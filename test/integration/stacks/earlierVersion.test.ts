import { readFileSync } from 'node:fs';
import type { V1OwnerReference } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { helmTemplate } from '../../../scripts/chart/helm.ts';
import { FIELD_MANAGER } from '../../../src/controllers/measurement/names.ts';
import { STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import type { KubeObject, Resource } from '../../../src/runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { appliedBy } from './earlier/applied.ts';
import { operatorArgs } from './earlier/operatorArgs.ts';
import { identity, Installation, OPERATOR, ownersOf } from './installation.ts';
import { LEASE_RIGHTS, WAIT, type StackScene } from './scene.ts';

/**
 * The upgrade from the last version without TrafficStacks, with the default values of both charts: the objects that it wrote, as a
 * real API server stored them, see earlier/record.ts.
 */
const USER = 'stack-earlier-version';
const RECORDED = JSON.parse(readFileSync(new URL('earlier/testdata/a947d565.json', import.meta.url), 'utf8')) as {
  readonly objects: readonly KubeObject[];
};
const RESOURCES: readonly Resource[] = [
  ...[NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS, SERVICES],
  ...[DAEMONSETS, DEPLOYMENTS],
];
/** What a stack takes over, by kind and name. The rest stays with the measurement: the namespace of the exporter, and the targets. */
const OF_STACK = [
  'ConfigMap prometheus-config',
  'DaemonSet node-exporter',
  'Deployment prometheus',
  'Service node-exporter',
  'Service prometheus',
  'ServiceAccount node-exporter',
  'ServiceAccount prometheus',
];
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER, [], [LEASE_RIGHTS]);
  s = i.scene;
  const { metadata } = await s.f.client.get(DEPLOYMENTS, OPERATOR);
  for (const object of RECORDED.objects) {
    await s.f.client.apply(resourceOf(object), replayed(object, metadata?.uid ?? ''), { fieldManager: FIELD_MANAGER });
  }
  await i.measures();
});
afterAll(() => i.stop());

function resourceOf({ kind }: KubeObject): Resource {
  const found = RESOURCES.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`a ${kind} was recorded, and is not looked at here`);
  return found;
}

/** As that version applied it, owned by the Deployment of the operator that is here. */
function replayed(object: KubeObject, owner: string): KubeObject {
  const applied = appliedBy(object, FIELD_MANAGER);
  const owners = applied.metadata?.ownerReferences?.map((each): V1OwnerReference => ({ ...each, uid: owner }));
  return { ...applied, metadata: { ...applied.metadata, ...(owners && { ownerReferences: owners }) } };
}

/** All that this operator has written, as `kind name`, sorted. */
async function written(): Promise<Map<string, KubeObject>> {
  const lists = await Promise.all(
    RESOURCES.map(async (resource) =>
      (await s.f.client.list(resource)).map((each) => [`${resource.kind} ${each.metadata?.name}`, each] as const),
    ),
  );
  const isWritten = ({ metadata }: KubeObject): boolean =>
    metadata?.managedFields?.some(({ manager }) => manager?.startsWith('traffic-operator-') === true) === true;
  return new Map(
    lists
      .flat()
      .filter(([, each]) => isWritten(each))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** What counts the changes of a pod template: the generation of a Deployment counts its annotations, too. */
const revisionOf = ({ metadata }: KubeObject) =>
  metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? metadata?.generation;
const uids = (objects: ReadonlyMap<string, KubeObject>) =>
  [...objects].map(([id, { metadata }]) => [id, metadata?.uid]);

it('the objects are those that the earlier version wrote, with its managed fields', async () => {
  const objects = await written();
  const ids = RECORDED.objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`);
  expect([...objects.keys()]).toEqual(ids.sort());
  expect(ids).toEqual(expect.arrayContaining(OF_STACK));
  for (const { kind, metadata } of RECORDED.objects) {
    const live = objects.get(`${kind} ${metadata?.name}`);
    expect(appliedFields(live?.metadata)).toEqual(appliedFields(metadata));
  }
});

/** Without the uids of owners, which are the keys of their references. */
function appliedFields(metadata: KubeObject['metadata']): unknown {
  const entry = metadata?.managedFields?.find((each) => each.manager === FIELD_MANAGER && each.operation === 'Apply');
  return JSON.parse(
    JSON.stringify(entry?.fieldsV1 ?? 'nothing').replaceAll(/\{\\"uid\\":\\"[^"]+\\"\}/g, 'uid'),
  ) as unknown;
}

it('the stack default adopts them: nothing is made anew, and no pod restarts', async () => {
  const before = { exporter: await i.daemonSet(), prometheus: await i.deployment() };
  const pods = await i.pods();
  const objects = await written();
  expect(pods).toHaveLength(3);
  await i.startWith(operatorArgs(helmTemplate()));
  await s.ready('default');

  expect((await s.stack('default')).spec.components).toMatchObject([
    { name: 'node-exporter', type: 'NodeExporter', mode: 'Auto' },
    { name: 'prometheus', type: 'Prometheus', mode: 'Auto' },
  ]);
  for (const name of ['node-exporter', 'prometheus']) {
    expect((await s.component(name, 'default'))?.uses).toBeUndefined();
  }
  for (const [after, earlier] of [
    [await i.daemonSet(), before.exporter],
    [await i.deployment(), before.prometheus],
  ] as const) {
    expect([...identity(after), revisionOf(after)]).toEqual([...identity(earlier), revisionOf(earlier)]);
  }
  expect(await i.pods()).toEqual(pods);
  // No object is made anew, none is added, and none is left behind.
  expect(uids(await written())).toEqual(uids(objects));
});

it('the stack is the owner of what it has adopted, and of nothing else', async () => {
  const objects = await written();
  const owned = [...objects].filter(([, each]) => each.metadata?.labels?.[STACK_LABEL] === 'default');
  expect(owned.map(([id]) => id)).toEqual(OF_STACK);
  for (const [, each] of owned) expect(ownersOf(each)).toEqual(['TrafficStack default']);
  const { status } = await s.stack('default');
  const inventory = status?.inventory?.flatMap((entry) => entry.objects.map(({ kind, name }) => `${kind} ${name}`));
  expect(inventory?.sort()).toEqual(OF_STACK);
  // One manager goes on: no field is left to another one, which nobody would ever change.
  for (const [, each] of owned) {
    const managers = each.metadata?.managedFields?.flatMap(({ manager, operation }) =>
      operation === 'Apply' ? [manager] : [],
    );
    expect(managers).toEqual([FIELD_MANAGER]);
  }
});

it('nothing is deleted, and afterwards nothing is written', async () => {
  const writes = () =>
    writesOf(s.f.controlPlane, USER).filter(({ resource }) => /^(daemonsets|deployments)$/.test(resource));
  expect(writesOf(s.f.controlPlane, USER).filter(({ verb }) => verb.startsWith('delete'))).toEqual([]);
  expect(
    writes()
      .map(({ verb, resource }) => `${verb} ${resource}`)
      .sort(),
  ).toEqual(['patch daemonsets', 'patch deployments']);
  // What starts anew sees all of it as it is.
  await s.f.stopOperator();
  await i.startWith(operatorArgs(helmTemplate()));
  await s.ready('default');
  await vi.waitFor(async () => expect((await s.component('prometheus', 'default'))?.state).toBe('Ready'), WAIT);
  expect(writes()).toHaveLength(2);
});
