import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS } from '../../src/api/podplacement/schema.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { AVOIDED_AT_MOST } from '../../src/api/trafficwatch/statusSchema.ts';
import { NODES, PODS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { measured, seconds } from '../harness/measured.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import type { RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { Flips } from './injection/flips.ts';
import {
  admitted,
  aPod,
  condition,
  disk,
  giveRoom,
  notUnfit,
  preferredOf,
  required,
  requiredTermsOf,
  startControllers,
  untilInjected,
  WAIT,
} from './injection/world.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** The placement AtCreation: a real API server with the policy, and a real scheduler. */
const WORKERS = ['n1', 'n2', 'n3', 'n4'];
/** How often labels flip while pods are created, and how many of these wait for the scheduler at any time. */
const FLIPS = 6;
const AT_ONCE = 4;
const podSelector = { matchLabels: { app: 'db' } };
const preferred = { weight: 100, preference: { matchExpressions: [notUnfit('db')] } };

let f: Fixture;
let c: Connected;
let controllers: RunningProcess[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: WORKERS });
  c = connect(f.controlPlane);
  await giveRoom(f, WORKERS, '2000');
  controllers = await startControllers(f);
  await installPlacementPolicy(f.client);
  await f.startOperator();
  const passes = { unfit: 1, fit: 1 };
  await f.createWatch('db', { maxBandwidthPercent: '10', placement: 'AtCreation', passes, podSelector });
  await untilInjected(f, c, 'db', 'db');
});
afterAll(async () => {
  for (const each of controllers) await each.stop();
  await c.transport.close();
  await f.stop();
});

const notNamed = (...names: string[]) =>
  names.map((name) => ({ key: 'metadata.name', operator: 'NotIn', values: [name] }));

/** Every node sends at 1 % of 1 Gbit/s; a smaller capacity makes the percent larger. */
async function setUnfit(node: string, isUnfit: boolean): Promise<void> {
  await f.annotateNode(node, { 'traffic.example.com/capacity': isUnfit ? '10Mbit' : null });
}

/** Makes these nodes unfit and the others fit, and waits until the labels and the API server say so. */
async function untilUnfit(...names: string[]): Promise<void> {
  for (const node of WORKERS) await setUnfit(node, names.includes(node));
  await vi.waitFor(async () => {
    const labels = await f.labels(unfitKey('db'));
    expect(WORKERS.filter((node) => labels[node] === 'true')).toEqual(names);
    expect((await f.watch('db')).status?.avoidedNodes ?? []).toEqual(names);
    const terms = requiredTermsOf(await admitted(c, aPod('probe', { app: 'db' })));
    expect(terms?.[0]?.matchFields ?? []).toEqual(notNamed(...names));
  }, WAIT);
}

const admit = (terms?: object[], app = 'db'): Promise<V1Pod> =>
  admitted(c, aPod('one', { app }, { affinity: terms && required(terms) }));

describe('the placement policy with AtCreation', () => {
  it('is not outdated: it knows the placement', async () => {
    await vi.waitFor(async () => {
      const found = await condition(f, 'db', 'InjectionUnavailable');
      expect(found).toMatchObject({ status: 'False', reason: 'PolicyInstalled' });
    }, 30_000);
  });

  it('adds a preference while no node is unfit', async () => {
    const pod = await admit();
    expect(pod.spec?.affinity?.nodeAffinity).toEqual({ preferredDuringSchedulingIgnoredDuringExecution: [preferred] });
  });

  const own = [{ matchExpressions: [disk] }, { matchFields: notNamed('n9') }];
  const both = [{ matchFields: notNamed('n1', 'n2') }, { matchExpressions: [notUnfit('db')] }];
  it.each<[string, object[] | undefined, object[]]>([
    ['a pod without terms', undefined, both],
    [
      'every term of the user, which each get a twin for nodes that are fit again',
      own,
      [
        { matchExpressions: [disk], matchFields: notNamed('n1', 'n2') },
        { matchFields: notNamed('n9', 'n1', 'n2') },
        { matchExpressions: [disk, notUnfit('db')] },
        { matchFields: notNamed('n9'), matchExpressions: [notUnfit('db')] },
      ],
    ],
    ['nothing the second time', both, both],
    [
      'a term that excludes only some of the names',
      [{ matchFields: notNamed('n2') }],
      [
        { matchFields: notNamed('n2', 'n1', 'n2') },
        { matchFields: notNamed('n2'), matchExpressions: [notUnfit('db')] },
      ],
    ],
    [
      'no term that requires the label',
      [{ matchExpressions: [notUnfit('db')] }],
      [{ matchExpressions: [notUnfit('db')] }],
    ],
    ['no term that matches no node', [{}], [{}]],
  ])('changes %s', async (_what, terms, expected) => {
    await untilUnfit('n1', 'n2');
    const pod = await admit(terms);
    expect(requiredTermsOf(pod)).toEqual(expected);
    expect(preferredOf(pod)).toEqual([preferred]);
  });

  it('does not keep a pod of a DaemonSet from its node', async () => {
    const pod = aPod('one', { app: 'db' });
    pod.metadata!.ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'a', uid: 'u', controller: true },
    ];
    const { spec } = await admitted(c, pod);
    expect(spec?.affinity?.nodeAffinity).toEqual({ preferredDuringSchedulingIgnoredDuringExecution: [preferred] });
  });

  it('adds the terms of every TrafficWatch that selects the pod', async () => {
    await f.createWatch('both', {
      maxBandwidthPercent: '10',
      placement: 'AtCreation',
      podSelector: { matchLabels: { app: 'two' } },
    });
    await f.createWatch('other', {
      maxBandwidthPercent: '10',
      placement: 'Required',
      podSelector: { matchLabels: { app: 'two' } },
    });
    await vi.waitFor(async () => {
      const terms = requiredTermsOf(await admit(undefined, 'two'));
      expect(terms).toContainEqual({ matchFields: notNamed('n1', 'n2'), matchExpressions: [notUnfit('other')] });
      expect(terms).toContainEqual({
        matchExpressions: expect.arrayContaining([notUnfit('both'), notUnfit('other')]) as object[],
      });
      const isForNew = ({ matchExpressions = [] }: { matchExpressions?: { key: string }[] }) =>
        matchExpressions.some(({ key }) => key.startsWith('cluster-autoscaler'));
      expect(terms?.filter((term) => !isForNew(term))).toHaveLength(2);
    }, WAIT);
    await f.deleteWatch('both');
    await f.deleteWatch('other');
  });
});

describe('pods that are created while labels flip', () => {
  it('exclude each node that is unfit at their creation, and run on others', async () => {
    await untilUnfit('n1');
    const flips = new Flips(unfitKey('db'));
    const ends = [await follow(f.controlPlane, NODES, flips.sawNode), await follow(f.controlPlane, PODS, flips.sawPod)];
    const names: string[] = [];
    const begin = Date.now();
    const waiting = (): number => names.length - flips.landings(names).size;
    for (let flip = 0; flip < FLIPS; flip++) {
      // In turn, the next node becomes unfit and the one before it fit.
      const isUnfit = flip % 2 === 0;
      await setUnfit(WORKERS[(isUnfit ? flip / 2 + 1 : (flip - 1) / 2) % WORKERS.length]!, isUnfit);
      while (flips.count <= flip) {
        const name = `flip-${names.length}`;
        names.push(name);
        await f.client.create(PODS, aPod(name, { app: 'db' }));
        await vi.waitFor(() => expect(waiting()).toBeLessThan(AT_ONCE), { ...WAIT, interval: 5 });
      }
    }
    await vi.waitFor(() => expect(flips.landings(names).size).toBe(names.length), WAIT);
    for (const end of ends) await end();
    const landings = [...flips.landings(names).values()];
    const numberOf = (landing: string) => landings.filter((each) => each === landing).length;
    measured(
      `${names.length} pods while labels flipped ${flips.count} times in ${seconds(Date.now() - begin)}: ` +
        `${numberOf('unfit')} on a node that was unfit at their creation, ${numberOf('recovered')} on one that was fit since`,
    );
    expect(flips.unnamed(names)).toEqual([]);
    // The scheduler's cache of nodes is some milliseconds behind: by the second term, a pod may still go to a node that has
    // just turned unfit, as with Required. Otherwise it goes to none.
    expect(numberOf('unfit')).toBeLessThanOrEqual(names.length / 200);
  });
});

describe('the longest list', () => {
  const names = Array.from({ length: AVOIDED_AT_MOST }, (_, n) => `node-${n}.${'x'.repeat(50)}.example.com`);

  it('is within the cost budget of the policy, for a pod with twenty terms of its own, and the second time', async () => {
    await f.stopOperator();
    const ref = { namespace: 'default', name: 'db' };
    const options = { fieldManager: 'person', subresource: 'status' };
    const placement = { namespace: 'default', name: POD_PLACEMENT_NAME };
    const { spec } = await f.client.get(POD_PLACEMENTS, placement);
    const entries = spec.entries?.map((entry) => ({ ...entry, avoidedNodes: names }));
    await f.client.mergePatch(POD_PLACEMENTS, placement, { spec: { entries } }, { fieldManager: 'person' });
    await vi.waitFor(
      async () => expect(requiredTermsOf(await admit())?.[0]?.matchFields).toEqual(notNamed(...names)),
      WAIT,
    );
    const own = Array.from({ length: 20 }, (_, n) => ({ matchExpressions: [{ ...disk, key: `disk-${n}` }] }));
    const terms = requiredTermsOf(await admit(own))!;
    expect(terms).toHaveLength(40);
    expect(terms[0]).toEqual({ ...own[0], matchFields: notNamed(...names) });
    // Beyond its budget the policy is ignored, and adds no preference.
    const again = await admit(terms);
    expect([requiredTermsOf(again), preferredOf(again)]).toEqual([terms, [preferred]]);
    await expect(
      f.client.mergePatch(TRAFFIC_WATCHES, ref, { status: { avoidedNodes: [...names, 'more'] } }, options),
    ).rejects.toMatchObject({ status: 422 });
  });
});
