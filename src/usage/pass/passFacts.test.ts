import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { InstantQuery } from '../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { device, PassScene } from './testing/passScene.ts';

let scene: PassScene;

beforeEach(() => {
  scene = new PassScene();
});

describe('facts of very many devices', () => {
  beforeEach(() => {
    scene.prometheus.devices = [
      device('a', 'eth0'),
      ...Array.from({ length: 7_000 }, (_, n) => device('other', `eth${n}`)),
    ];
  });

  it('are read in the background once a minute, not in each pass', async () => {
    for (let n = 0; n < 7; n++) {
      expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
      await scene.clock.advance(10_000);
    }
    expect([scene.prometheus.count('rates'), scene.prometheus.count('facts')]).toEqual([7, 2]);
  });

  it('are updated by the background query', async () => {
    await scene.next({ a: {} });
    scene.prometheus.devices[0] = device('a', 'eth0', { speed: '50' });
    await scene.clock.advance(60_000);
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 10 });
  });

  it.each([
    ['it has a new name', [device('a', 'eth5', { rate: '95' })]],
    [
      'the same, and it has still a rate under its old name',
      [device('a', 'eth0'), device('a', 'eth5', { rate: '95' })],
    ],
    ['its link is faster now, and full', [device('a', 'eth0', { rate: '950', speed: '1000' })]],
  ])('give no figure of a device that has changed since they were read: %s', async (_what, changed) => {
    await scene.next({ a: {} });
    scene.prometheus.devices.splice(0, 1, ...changed);
    for (const seconds of [10, 30, 19]) {
      await scene.clock.advance(seconds * 1_000);
      const usage = (await scene.next({ a: {} })).nodes.get('a');
      expect(usage).not.toHaveProperty('percent');
    }
    await scene.clock.advance(1_000);
    await scene.next({ a: {} });
    expect((await scene.next({ a: {} })).nodes.get('a')?.percent).toBeGreaterThanOrEqual(50);
  });

  it('are read at once for an added node', async () => {
    await scene.next({ a: {} });
    scene.prometheus.devices.push(device('b', 'eth0'));
    await scene.next({ a: {}, b: {} });
    expect((await scene.next({ a: {}, b: {} })).nodes.get('b')).toMatchObject({ percent: 5 });
    expect(scene.prometheus.count('facts')).toBe(2);
  });

  it('are reused while reads fail, for at most five minutes', async () => {
    await scene.next({ a: {} });
    scene.prometheus.before = (_question: InstantQuery, kind) => {
      if (kind === 'facts') throw new PrometheusError('TooLarge', 'no');
    };
    await scene.clock.advance(299_000);
    expect(await scene.next({ a: {} })).toMatchObject({ ok: true });
    await scene.clock.advance(1_000);
    await expect(scene.next({ a: {} })).rejects.toMatchObject({ reason: 'TooLarge' });
  });
});

describe('facts of very many nodes', () => {
  const names = Array.from({ length: 1_001 }, (_, n) => `n${n}`);
  const nodes = Object.fromEntries(names.map((name) => [name, {}]));
  beforeEach(() => {
    scene.prometheus.devices = names.map((name) => device(name, 'eth0'));
  });

  it('are read one after the other, with the same result', async () => {
    let most = 0;
    let running = 0;
    scene.prometheus.before = async (_question, kind) => {
      if (kind !== 'facts') return;
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    };
    expect((await scene.next(nodes)).nodes.get('n1000')).toMatchObject({ percent: 5 });
    const facts = scene.prometheus.asked.filter(({ kind }) => kind === 'facts').map(({ expression }) => expression);
    expect(facts).toHaveLength(6);
    expect(most).toBe(1);
  });

  it('can take longer than a pass: the next pass joins the read', async () => {
    const gates: (() => void)[] = [];
    scene.prometheus.before = (_question, kind) =>
      kind === 'facts' ? new Promise<void>((resolve) => gates.push(resolve)) : undefined;
    const pass = () => {
      const timeout = new AbortController();
      const deadline = { signal: timeout.signal, timeoutMs: 8_000 };
      const finding = scene.collector.next(new Map(Object.entries(nodes)), scene.clock.now(), deadline);
      return { finding, end: () => timeout.abort(new PrometheusError('Deadline', 'too long')) };
    };
    for (let answered = 0; answered < 6; answered += 2) {
      const { finding, end } = pass();
      for (const next of [answered, answered + 1]) {
        await vi.waitFor(() => expect(gates).toHaveLength(next + 1));
        gates[next]!();
      }
      if (answered === 4) {
        expect((await finding).nodes.get('n7')).toMatchObject({ percent: 5 });
      } else {
        end();
        await expect(finding).rejects.toMatchObject({ reason: 'Deadline' });
      }
    }
    expect([scene.prometheus.count('facts'), scene.prometheus.count('rates')]).toEqual([1, 3]);
  });

  it('are not used if one of the answers is missing', async () => {
    scene.prometheus.before = ({ expression }, kind) => {
      if (kind === 'facts' && expression.includes('ethtool')) throw new PrometheusError('TooLarge', 'no');
    };
    await expect(scene.next(nodes)).rejects.toMatchObject({ reason: 'TooLarge' });
  });
});

describe('facts of few devices', () => {
  it('are read in each pass', async () => {
    scene.prometheus.devices = [device('a', 'eth0')];
    await scene.next({ a: {} });
    scene.prometheus.devices = [device('a', 'eth0', { speed: '50' })];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 10 });
  });
});
