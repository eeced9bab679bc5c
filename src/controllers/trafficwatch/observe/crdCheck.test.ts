import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { ApiError, TransportError } from '../../../runtime/client/errors.ts';
import type { TransportRequest } from '../../../runtime/client/transport.ts';
import { CrdCheck, LOOK_EVERY_MS, PUBLISHED_AFTER_MS } from './crdCheck.ts';
import { CrdWarnings } from '../act/crdWarnings.ts';
import { reconcile } from '../reconcile.ts';
import { aWatch, NOW } from '../testing/observations.ts';
import { aScene, type Scene } from '../testing/scene.ts';

const GROUP_VERSION = 'apis/traffic.example.com/v1alpha1';
const KIND = { group: 'traffic.example.com', version: 'v1alpha1', kind: 'TrafficWatch' };
const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true };
const WITHOUT_LABEL = {
  properties: {
    spec: { properties: { maxBandwidthPercent: {}, placement: {}, deployment: ANYTHING } },
    status: ANYTHING,
  },
};

/** What is published: undefined where nothing is. */
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

/** One that looks when it is asked: the field is gone for long enough. */
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

  it('warns of what is missing and what to do, once, and says when it is there again', async () => {
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

  it('names few of many fields', async () => {
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

  it('looks once for all who ask, unless the last look was a moment ago', async () => {
    const check = await aCheckThatLooks();
    await Promise.all([looked(check), looked(check)]);
    await looked(check);
    expect(asked).toHaveLength(2);
    await clock.advance(2_000);
    await looked(check);
    expect(asked).toHaveLength(3);
  });

  it('knows nothing where the schema may not be read or is not published, and says so once', async () => {
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

  it('does not answer where the API server does not', async () => {
    failure = new TransportError('gone', { failure: 'connection' });
    await expect(looked(await aCheckThatLooks())).rejects.toThrow('gone');
  });

  it('takes a field that is gone for dropped until the schema is sure to say so', async () => {
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

  it('takes a field that is gone again, after it was there, for dropped again', async () => {
    const check = aCheck();
    published = { schema: ANYTHING, hash: '1' };
    expect(await looked(check)).toBe(true);
    await clock.advance(PUBLISHED_AFTER_MS);
    expect(await looked(check)).toBe(false);
    check.forget('shop/web');
    expect(await looked(check)).toBe(true);
  });
});

describe('CrdWarnings', () => {
  it('tell each TrafficWatch once an hour, and when the problem is another', async () => {
    const scene = aScene();
    const tell = () => reconcile(scene, 'shop/web');
    const warnings = () => scene.told.filter(([, reason]) => reason === 'CrdOutdated').length;
    await tell();
    expect(warnings()).toBe(0);
    scene.crd.problem = 'drops spec.label';
    await tell();
    await tell();
    expect(warnings()).toBe(1);
    scene.crd.problem = 'drops spec.label, status.ready';
    await tell();
    expect(warnings()).toBe(2);
    await scene.clock.advance(3_600_000);
    await tell();
    expect(warnings()).toBe(3);
    scene.leader = false;
    scene.crd.problem = 'another';
    await tell();
    expect(warnings()).toBe(3);
  });

  it('tell an object of the same name that came later', () => {
    const scene = aScene();
    const told: unknown[] = [];
    const crd = { problem: 'p' };
    const warnings = new CrdWarnings({ crd, clock: scene.clock, events: { event: (about) => void told.push(about) } });
    const again = aWatch({ metadata: { uid: 'another' } });
    for (const watch of [aWatch(), aWatch(), again]) warnings.tell(watch);
    expect(told).toEqual([aWatch(), again]);
  });
});

describe('a label that is gone from the spec', () => {
  const OLD = 'shared.traffic.example.com/unfit';
  const inUse = (): Scene => {
    const scene = aScene();
    scene.watches.set(aWatch({ status: { labelKey: OLD, ready: true } }));
    return scene;
  };
  const keysWritten = (scene: Scene): string[] =>
    scene.calls
      .filter((call) => call.what === 'Node')
      .flatMap((call) => Object.keys((call.body as { metadata: { labels: object } }).metadata.labels));

  it('since an older CRD has no place for it, leaves the labels under the key in use', async () => {
    const scene = inUse();
    scene.crd.drops = () => Promise.resolve(true);
    await reconcile(scene, 'shop/web');
    expect(new Set(keysWritten(scene))).toEqual(new Set([OLD]));
  });

  it('since somebody took it away, is a rename', async () => {
    const scene = inUse();
    await reconcile(scene, 'shop/web');
    expect(keysWritten(scene)).toContain('web.traffic.example.com/unfit');
  });
});
