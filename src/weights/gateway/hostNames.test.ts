import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { HostNames } from './hostNames.ts';

const NAMES = ['b', 'a.b', 'x.b', 'c.a.b', '*.b', '*.a.b', '*.c.a.b', 'ab', '*.ab', ''];

/** Compares each pair, as the Gateway API says it. `*.` stands for one label or more. */
function pairwise(hostnames: readonly string[], listeners: readonly string[]): Set<string> {
  const covers = (outer: string, inner: string): boolean =>
    outer === inner || (outer.startsWith('*.') && inner.replace(/^[*]/, '').endsWith(outer.slice(1)));
  const pairs = listeners.flatMap((listener) => {
    if (listener === '') return hostnames;
    if (hostnames.length === 0) return [listener];
    return hostnames.flatMap((host) => {
      if (covers(listener, host)) return [host];
      return covers(host, listener) ? [listener] : [];
    });
  });
  return new Set(pairs);
}

it('finds what comparing each pair finds', () => {
  const choices = NAMES.flatMap((one, n) => [[one], ...NAMES.slice(n + 1).map((other) => [one, other]), NAMES]);
  for (const listeners of choices) {
    const names = new HostNames(listeners);
    for (const hostnames of [[], ...choices.map((some) => some.filter((host) => host !== ''))]) {
      const found = new Set(names.inCommonWith(hostnames));
      expect(found, `${hostnames.join()} and ${listeners.join()}`).toEqual(pairwise(hostnames, listeners));
      expect(names.countInCommonWith(hostnames)).toBe(names.inCommonWith(hostnames).length);
    }
  }
});

it('compares names as DNS does', () => {
  expect(new HostNames(['Web.Example.org.']).inCommonWith(['*.example.org'])).toEqual(['web.example.org']);
});

describe('the memory of an index', () => {
  const COUNT = 5_000;
  /** Names of 126 labels, of which no two have a domain in common. */
  const long = Array.from({ length: COUNT }, (_, n) => `${'a.'.repeat(124)}x.${n}`);
  const retained = (): number => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return memoryUsage().heapUsed;
  };

  it('follows the number of names, not the number of their labels', () => {
    const before = retained();
    const names = new HostNames(long);
    expect([names.inCommonWith(['*.x.7']), names.countInCommonWith(['*.7'])]).toEqual([[long[7]], 1]);
    expect(names.covers('b.x.7')).toBe(false);
    expect((retained() - before) / COUNT).toBeLessThan(2_000);
    expect(names.covers(long[7]!)).toBe(true);
  });
});
