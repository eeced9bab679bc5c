import { expect, it } from 'vitest';
import { objectKindOf } from '../../../api/trafficstack/objectKinds.ts';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { ObservedComponent } from '../model/observation.ts';
import { unreadyObject } from './objectReadiness.ts';

const SPEC: ComponentSpec = { name: 'edge', type: 'Objects', objects: { namespace: 'shop', manifests: [] } };
interface Live {
  readonly kind?: string;
  readonly generation?: number;
  readonly status?: object;
  readonly readyWhen?: string;
}
const component = (...all: Live[]): ObservedComponent => ({
  ...{ spec: SPEC, pods: [], variables: { common: { logLevel: 'info' } }, revision: 'r' },
  objects: all.map(({ kind = 'Thing', generation = 2, status, readyWhen }, index) => {
    const metadata = { namespace: 'shop', name: `n${index}`, generation };
    const live = { kind, metadata, ...(status !== undefined && { status }) } as KubeObject;
    const resource = { ...objectKindOf('a.org/v1/things/Thing')!, kind };
    return { resource, object: { metadata }, live, hash: '', isCurrent: true, readyWhen };
  }),
});
const ready = (status: string, over: object = {}) => ({
  conditions: [{ type: 'Ready', status, reason: 'R', message: 'why', ...over }],
});

it.each<[why: string, live: Live, message: string | undefined]>([
  ['a kind without a status is applied', {}, undefined],
  ['a status without conditions says nothing', { status: { replicas: 0 } }, undefined],
  ['Ready is True', { status: ready('True') }, undefined],
  ['Ready is False', { status: ready('False') }, 'is not ready: the condition Ready is False: R: why'],
  ['Ready is Unknown', { status: ready('Unknown') }, 'is not ready: the condition Ready is Unknown: R: why'],
  [
    'Ready is of an older generation',
    { status: ready('True', { observedGeneration: 1 }) },
    'has no condition Ready of its generation yet',
  ],
  [
    'the status is of an older generation',
    { status: { observedGeneration: 1, ...ready('True') } },
    'has no status of its generation yet',
  ],
  [
    'Available counts without Ready',
    { status: { conditions: [{ type: 'Available', status: 'False' }] } },
    'is not ready: the condition Available is False: ',
  ],
  ['other conditions do not count', { status: { conditions: [{ type: 'Synced', status: 'False' }] } }, undefined],
  ['a status may be anything', { status: 'Up' as never }, undefined],
  ['or nothing', { status: null as never }, undefined],
  ['conditions may be no list', { status: { conditions: { Ready: 'True' } } }, undefined],
  [
    'or a list of anything',
    { status: { conditions: [null, 'Ready', ...ready('False').conditions] } },
    'is not ready: the condition Ready is False: R: why',
  ],
  ['a claim waits for its first pod', { kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } }, undefined],
  ['a claim is lost', { kind: 'PersistentVolumeClaim', status: { phase: 'Lost' } }, 'has lost its volume'],
  [
    'of which readyWhen may read no status',
    { readyWhen: "object.status.phase == 'Up'", status: { observedGeneration: 1, phase: 'Up' } },
    'has no status of its generation yet',
  ],
  [
    'unless it compares the generations',
    { readyWhen: 'object.status.observedGeneration == 1', status: { observedGeneration: 1 } },
    undefined,
  ],
  ['or needs none', { readyWhen: 'true', status: { observedGeneration: 1, ...ready('False') } }, undefined],
  [
    'readyWhen decides alone',
    { readyWhen: "object.status.phase == 'Up'", status: { phase: 'Up', ...ready('False') } },
    undefined,
  ],
  ['readyWhen is false', { readyWhen: "common.logLevel == 'debug'" }, 'is not ready: readyWhen is false'],
  [
    'readyWhen needs a field that is not there yet',
    { readyWhen: "object.status.phase == 'Up'" },
    'is not ready: readyWhen: No such key: status',
  ],
  ['readyWhen gives something else', { readyWhen: 'object.kind' }, 'is not ready: readyWhen gives no bool'],
])('%s', (_why, live, message) => {
  const found = unreadyObject(component(live));
  expect(found?.message).toBe(message === undefined ? undefined : `${live.kind ?? 'Thing'} shop/n0 ${message}`);
});

it('names the first object that is not ready', () => {
  expect(unreadyObject(component({}, { readyWhen: 'false' }, { readyWhen: '1 == 2' }))?.what).toBe('Thing shop/n1');
});

it('gives hostile expressions the steps of one together', () => {
  const items = Array.from({ length: 30 }, (_, index) => index);
  const readyWhen = 'object.status.items.all(a, object.status.items.all(b, a + b >= 0))';
  const hostile = component(...Array.from({ length: 50 }, () => ({ readyWhen, status: { items } })));
  const before = performance.now();
  expect(unreadyObject(hostile)?.message).toContain('costs more than the objects of a component may take together');
  expect(performance.now() - before).toBeLessThan(2_000);
});
