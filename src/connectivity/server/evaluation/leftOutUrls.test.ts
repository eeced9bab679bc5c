import { beforeEach, describe, expect, it } from 'vitest';
import { Scene } from './testing/scene.ts';

let scene: Scene;

beforeEach(() => {
  scene = new Scene(['n1', 'n2', 'n3']);
});

describe('checks of the same nodes that ask for more URLs than agents request', () => {
  const check = (name: string) => {
    const urls = Array.from({ length: 20 }, (_, n) => `http://${name}.example/${n}`);
    return { metadata: { name }, spec: { probes: { urls } } };
  };
  /** Returns the log lines after each of the assignments. */
  async function logged(...names: readonly string[]): Promise<unknown[]> {
    scene.checks.objects = names.map(check);
    scene.log.length = 0;
    for (let n = 0; n < 3; n += 1) {
      scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'));
      await scene.clock.advance(15_000);
    }
    return scene.log.map((line) => JSON.parse(line) as unknown);
  }

  it('are logged once for the same URLs; checks that come last by name lose theirs', async () => {
    const line = { level: 'warn', limit: 50, count: 10, checks: ['c'], nodes: 3 };
    expect(await logged('c', 'b', 'a')).toMatchObject([line]);
    expect(await logged('a', 'b', 'c')).toEqual([]);
    expect(await logged('a', 'b')).toEqual([]);
    expect(await logged('a', 'b', 'c')).toMatchObject([line]);
    const { urls } = scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1')) ?? {};
    expect(urls?.filter((url) => url.includes('c.example'))).toHaveLength(10);
  });
});
