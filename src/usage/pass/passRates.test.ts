import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { device, PassScene } from './testing/passScene.ts';

let scene: PassScene;

beforeEach(() => {
  scene = new PassScene();
});

describe('rates, kept from pass to pass', () => {
  beforeEach(async () => {
    scene.prometheus.devices = [device('a', 'eth0'), device('b', 'eth0'), device('b', 'eth1'), device('c', 'eth0')];
    for (let pass = 0; pass < 3; pass++) await scene.next({ a: {}, b: {}, c: {} });
  });

  const change = (index: number, more: object): void => {
    scene.prometheus.devices[index] = { ...scene.prometheus.devices[index]!, ...more };
  };

  it('come from the newest answer', async () => {
    change(1, { rate: '25' });
    const { nodes } = await scene.next({ a: {}, b: {}, c: {} });
    expect([...nodes.values()].map(({ percent }) => percent)).toEqual([5, 15, 5]);
  });

  it('are missing if the newest answer has none', async () => {
    change(2, { rate: undefined });
    change(3, { rate: undefined });
    const { nodes } = await scene.next({ a: {}, b: {}, c: {} });
    expect([...nodes.values()].map(({ reason, devices }) => [reason, ...devices])).toEqual([
      ['Measured', 'eth0'],
      ['StaleSamples'],
      ['StaleSamples'],
    ]);
  });

  it('are unmatched if the node was removed but its series remain', async () => {
    scene.prometheus.devices.push(device('left', 'eth0', { total: undefined, speed: undefined }));
    for (let pass = 0; pass < 3; pass++) await scene.next({ a: {}, b: {}, c: {}, left: {} });
    for (let pass = 0; pass < 2; pass++) {
      expect(await scene.next({ a: {}, b: {}, c: {} })).toMatchObject({ unmatchedSeries: 1 });
    }
    expect(await scene.next({ a: {}, b: {}, c: {}, left: {} })).toMatchObject({ unmatchedSeries: 0 });
  });

  it('of a truncated answer are not used', async () => {
    scene.prometheus.breaksOffAfter = 2;
    await expect(scene.next({ a: {}, b: {}, c: {} })).rejects.toThrow('broke off');
    scene.prometheus.breaksOffAfter = undefined;
    change(0, { rate: undefined });
    const { nodes } = await scene.next({ a: {}, b: {}, c: {} });
    expect([...nodes.values()].map(({ percent }) => percent)).toEqual([undefined, 5, 5]);
  });

  it('come from the newest answer even if an older answer ends later', async () => {
    const late = Promise.withResolvers<undefined>();
    scene.prometheus.after = (kind) => (kind === 'rates' ? late.promise : undefined);
    const abandoned = scene.next({ a: {}, b: {}, c: {} });
    await Promise.resolve();
    scene.prometheus.after = () => undefined;
    await scene.next({ a: {}, b: {}, c: {} });
    late.resolve(undefined);
    await abandoned;
    for (let pass = 0; pass < 3; pass++) {
      const { nodes } = await scene.next({ a: {}, b: {}, c: {} });
      expect([...nodes.values()].map(({ percent }) => percent)).toEqual([5, 5, 5]);
    }
  });

  it('are not reported after the deadline of the pass: the next pass may be overwriting them', async () => {
    const timeout = new AbortController();
    const deadline = { signal: timeout.signal, timeoutMs: 8_000 };
    const last = {
      get capacity() {
        timeout.abort(new PrometheusError('Deadline', 'too long'));
        return undefined;
      },
    };
    const nodes = new Map<string, object>([...['a', 'b'].map((name) => [name, {}] as const), ['c', last]]);
    await expect(scene.collector.next(nodes, scene.clock.now(), deadline)).rejects.toMatchObject({
      reason: 'Deadline',
    });
  });

  it('follow an address to the node that has it now', async () => {
    scene.prometheus.devices = ['eth0', 'eth1'].map((name) => device('', name, { instance: '10.0.0.1:9100' }));
    const [a, b] = [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }];
    for (let pass = 0; pass < 3; pass++) await scene.next({ a, b });
    const { nodes } = await scene.next({ a: b, b: a });
    expect([...nodes.values()].map(({ reason, devices }) => [reason, ...devices])).toEqual([
      ['NoSeries'],
      ['Measured', 'eth0', 'eth1'],
    ]);
  });
});
