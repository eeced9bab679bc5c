import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../runtime/process/clock.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import type { TransportRequest } from '../../../../runtime/client/transport.ts';
import { PATIENCE_MS } from './answers.ts';
import { Targets } from './targets.ts';

const REF = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const selector = { matchLabels: { app: 'web' } };

let clock: FakeClock;
let exists: boolean;
let asked: string[];
let targets: Targets;

beforeEach(() => {
  clock = new FakeClock(0);
  exists = true;
  asked = [];
  const request = async <R>({ method, path }: TransportRequest): Promise<R> => {
    asked.push(path);
    if (!exists) throw new ApiError({ status: 404, reason: 'NotFound', method, path });
    return Promise.resolve({ spec: { selector } } as R);
  };
  targets = new Targets({ transport: { request }, clock });
});

describe('Targets', () => {
  it('asks once a minute for a known target', async () => {
    expect(await targets.targetOf('shop/web', REF)).toEqual({ selector });
    await clock.advance(59_000);
    await targets.targetOf('shop/web', REF);
    expect(asked).toHaveLength(1);
    await clock.advance(2_000);
    await targets.targetOf('shop/web', REF);
    expect(asked).toHaveLength(2);
  });

  it('asks every 5 s for an unknown one', async () => {
    exists = false;
    expect(await targets.targetOf('shop/web', REF)).toMatchObject({ reason: 'TargetNotFound' });
    exists = true;
    await clock.advance(6_000);
    expect(await targets.targetOf('shop/web', REF)).toEqual({ selector });
  });

  it('asks at once for another reference, and after the TrafficWatch was deleted', async () => {
    await targets.targetOf('shop/web', REF);
    await targets.targetOf('shop/web', { ...REF, name: 'api' });
    targets.forget('shop/web');
    await targets.targetOf('shop/web', { ...REF, name: 'api' });
    expect(asked.map((path) => path.split('/').at(-1))).toEqual(['web', 'api', 'api']);
  });

  it('does not hold up the labels for longer than a second while the API of the target does not answer, and says so', async () => {
    const silent = new Targets({ transport: { request: () => new Promise(() => undefined) }, clock });
    const waiting = silent.targetOf('shop/web', REF);
    await clock.advance(PATIENCE_MS);
    const problem = { reason: 'TargetUnreadable', message: expect.stringContaining('Deployment shop/web') as string };
    expect(await waiting).toMatchObject(problem);
    expect(await silent.targetOf('shop/web', REF)).toMatchObject(problem);
  });
});
