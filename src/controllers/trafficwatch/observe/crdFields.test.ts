import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { ApiError, TransportError } from '../../../runtime/client/errors.ts';
import type { TransportRequest } from '../../../runtime/client/transport.ts';
import { CrdCheck, LOOK_EVERY_MS, PUBLISHED_AFTER_MS } from './crdFields.ts';
import { trafficWatchSchema, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { FINALIZER } from '../names.ts';
import { reconcile } from '../reconcile.ts';
import { aWatch, KEY, NOW } from '../testing/observations.ts';
import { aScene, writesOf, type Scene } from '../testing/scene.ts';

const GROUP_VERSION = 'apis/traffic.example.com/v1alpha1';
const KIND = { group: 'traffic.example.com', version: 'v1alpha1', kind: 'TrafficWatch' };
const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true };
const FIELDS = Object.keys(trafficWatchSchema.shape.spec.shape).filter((field) => field !== 'label');
const WITHOUT_LABEL = {
  properties: {
    spec: { properties: Object.fromEntries(FIELDS.map((field) => [field, ANYTHING])) },
    status: ANYTHING,
  },
};

/** The published schema; undefined if none is published. */
let published: { schema: object; hash: string } | undefined;
let failure: Error | undefined;
let asked: string[];
let logged: { level: number; msg: string; fields?: string[] }[];
let clock: FakeClock;

beforeEach(() => {
  published = { schema: ANYTHING, hash: '1' };
  failure = undefined;
  asked = [];
  logged = [];
  clock = new FakeClock(NOW);
});

function request<R>({ path }: TransportRequest): Promise<R> {
  asked.push(path);
  if (failure) return Promise.reject(failure);
  const serverRelativeURL = `/openapi/v3/${GROUP_VERSION}?hash=${published?.hash ?? ''}`;
  const index = { paths: published && { [GROUP_VERSION]: { serverRelativeURL } } };
  const kinds = { 'x-kubernetes-group-version-kind': [KIND] };
  const schemas = { List: {}, Ours: { ...published?.schema, ...kinds } };
  return Promise.resolve((path === '/openapi/v3' ? index : { components: { schemas } }) as R);
}

function aCheck(): CrdCheck {
  const stream = { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]) };
  return new CrdCheck({ transport: { request }, clock, logger: pino({ level: 'info' }, stream) });
}

const looked = (check: CrdCheck): Promise<boolean> => check.drops('spec.label', 'shop/web');

/** A CrdCheck that reads the schema in `drops`, because the field has been missing for long enough. */
async function aCheckThatLooks(): Promise<CrdCheck> {
  const check = aCheck();
  await looked(check);
  await clock.advance(PUBLISHED_AFTER_MS);
  return check;
}

describe('CrdCheck', () => {
  it('reads the whole document only when it has changed', async () => {
    const check = aCheck();
    const end = new AbortController();
    const running = check.run(end.signal);
    for (let look = 0; look < 3; look++) await clock.advance(LOOK_EVERY_MS);
    expect(asked.filter((path) => path === '/openapi/v3')).toHaveLength(4);
    expect(asked.filter((path) => path !== '/openapi/v3')).toEqual([`/openapi/v3/${GROUP_VERSION}`]);
    end.abort();
    await running;
  });

  it('warns once of missing fields and what to do, and logs when they are present again', async () => {
    published = { schema: WITHOUT_LABEL, hash: '1' };
    const check = aCheck();
    const end = new AbortController();
    const running = check.run(end.signal);
    await clock.advance(LOOK_EVERY_MS);
    expect(check.missing).toEqual(['spec.label']);
    expect(check.problem).toMatch(/drops spec\.label; apply the CRD of this version/);
    published = { schema: ANYTHING, hash: '2' };
    await clock.advance(LOOK_EVERY_MS);
    expect(check.problem).toBeUndefined();
    expect(logged.map(({ level, fields }) => [level, fields])).toEqual([
      [40, ['spec.label']],
      [30, undefined],
    ]);
    end.abort();
    await running;
  });

  it('names only some of many fields', async () => {
    const deployment = { properties: {} };
    published = {
      schema: { properties: { spec: { properties: { deployment } }, status: { properties: {} } } },
      hash: '1',
    };
    const check = await aCheckThatLooks();
    await looked(check);
    expect(check.missing.length).toBeGreaterThan(12);
    expect(check.problem).toMatch(/drops spec\.maxBandwidthPercent, .* and \d+ more; apply/);
    expect(Buffer.byteLength(check.problem ?? '')).toBeLessThan(1_024);
  });

  it('shares one check among concurrent calls', async () => {
    const check = await aCheckThatLooks();
    await Promise.all([looked(check), looked(check)]);
    expect(asked).toHaveLength(2);
    await looked(check);
    expect(asked).toHaveLength(3);
  });

  it('blocks writes until the first check has ended, and while fields are missing', async () => {
    const check = aCheck();
    expect(check.isInTheWay).toBe(true);
    await check.looked();
    expect(check.isInTheWay).toBe(false);
    published = { schema: WITHOUT_LABEL, hash: '2' };
    const outdated = aCheck();
    await outdated.looked();
    expect(outdated.isInTheWay).toBe(true);
  });

  it('does not block writes if the schema is forbidden', async () => {
    failure = new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path: '/openapi/v3' });
    const check = aCheck();
    await check.looked();
    expect([check.isInTheWay, check.problem]).toEqual([false, undefined]);
  });

  it('reports no field if the schema is forbidden or not published, and logs that once', async () => {
    const check = await aCheckThatLooks();
    failure = new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path: '/openapi/v3' });
    await looked(check);
    await looked(check);
    failure = undefined;
    published = undefined;
    await looked(check);
    expect(check.missing).toEqual([]);
    expect(logged.map(({ level }) => level)).toEqual([30]);
  });

  it('throws if the API server does not answer', async () => {
    failure = new TransportError('gone', { failure: 'connection' });
    await expect(looked(await aCheckThatLooks())).rejects.toThrow('gone');
  });

  it('counts a missing field as dropped until the published schema is reliable', async () => {
    const check = aCheck();
    published = { schema: ANYTHING, hash: '1' };
    expect(await looked(check)).toBe(true);
    await clock.advance(PUBLISHED_AFTER_MS - 1);
    expect(await looked(check)).toBe(true);
    published = { schema: WITHOUT_LABEL, hash: '2' };
    await clock.advance(1);
    expect(await looked(check)).toBe(true);
    published = { schema: ANYTHING, hash: '3' };
    await clock.advance(LOOK_EVERY_MS);
    expect(await looked(check)).toBe(false);
  });

  it('counts a field as dropped again if it is missing again', async () => {
    const check = aCheck();
    published = { schema: ANYTHING, hash: '1' };
    expect(await looked(check)).toBe(true);
    await clock.advance(PUBLISHED_AFTER_MS);
    expect(await looked(check)).toBe(false);
    check.forget('spec.label', 'shop/web');
    expect(await looked(check)).toBe(true);
  });
});

describe('a CRD that lacks fields', () => {
  const outdated = (): Scene => {
    const scene = aScene();
    scene.crd.problem = 'the CRD is older, and drops spec.label';
    return scene;
  };

  it('makes a TrafficWatch Stalled, and only its status is written, once', async () => {
    const scene = outdated();
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual(['patch TrafficWatch/status']);
    const { status } = scene.api.calls.find(({ what }) => what === 'TrafficWatch/status')!.body as TrafficWatch;
    expect(status?.conditions?.find(({ type }) => type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'CrdOutdated',
      message: 'the CRD is older, and drops spec.label',
    });
    expect(status?.ready).toBe(false);
    expect(scene.told).toContainEqual(['Warning', 'CrdOutdated']);
    const told = scene.told.length;
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toHaveLength(1);
    expect(scene.told).toHaveLength(told);
  });

  it('delays reconciles until the first check has ended', async () => {
    const scene = aScene();
    const look = Promise.withResolvers<undefined>();
    scene.crd.looked = () => look.promise;
    const running = reconcile(scene, 'shop/web');
    await Promise.resolve();
    expect(scene.api.calls).toEqual([]);
    scene.crd.problem = 'drops spec.label';
    look.resolve(undefined);
    await running;
    expect(writesOf(scene)).toEqual(['patch TrafficWatch/status']);
  });

  it('does not block the deletion of a TrafficWatch', async () => {
    const scene = outdated();
    const metadata = { deletionTimestamp: new Date(NOW), finalizers: [FINALIZER] };
    scene.watches.set(aWatch({ metadata }));
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual(['patch TrafficWatch']);
  });
});

describe('a label that is missing from the spec', () => {
  const OLD = 'shared.traffic.example.com/unfit';
  const inUse = (): Scene => {
    const scene = aScene();
    scene.watches.set(aWatch({ status: { labelKey: OLD, ready: true } }));
    return scene;
  };
  const keysWritten = (scene: Scene): string[] =>
    scene.api.calls
      .filter((call) => call.what === 'Node')
      .flatMap((call) => Object.keys((call.body as { metadata: { labels: object } }).metadata.labels));

  it('keeps the labels under the key in use if an older CRD lacks the field', async () => {
    const scene = inUse();
    scene.crd.drops = () => Promise.resolve(true);
    await reconcile(scene, 'shop/web');
    expect(new Set(keysWritten(scene))).toEqual(new Set([OLD]));
  });

  it('is a rename if somebody removed it', async () => {
    const scene = inUse();
    await reconcile(scene, 'shop/web');
    expect(keysWritten(scene)).toContain(KEY);
  });
});

describe('a mode that is missing from the spec', () => {
  const observed = (): Scene => {
    const scene = aScene();
    scene.watches.set(aWatch({ status: { mode: 'Observe', ready: true } }));
    return scene;
  };

  it('stays Observe if an older CRD lacks the field: a dry run does not become real', async () => {
    const scene = observed();
    scene.crd.drops = () => Promise.resolve(true);
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual(['patch TrafficWatch/status']);
  });

  it('becomes Enforce if somebody removed it', async () => {
    const scene = observed();
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toContain('patch Node');
  });
});
