import { describe, expect, it } from 'vitest';
import { shareRecord, withSharedHosts } from './sharedHosts.ts';
import type { Source, SourceHost } from './source.ts';

const A = [{ recordType: 'A' as const, targets: ['192.0.2.1'] }];
const B = [{ recordType: 'A' as const, targets: ['192.0.2.2'] }];
const host = (name: string, services: string[], leadsNowhere = false): SourceHost => ({
  host: name,
  services,
  leadsNowhere,
});
const route = (namespace: string, hosts: SourceHost[], targets = A, kind: Source['kind'] = 'HTTPRoute'): Source => ({
  ...{ kind, apiVersion: '', namespace, name: 'web', uid: '', createdAt: '', annotations: {} },
  ...{ hosts, targets },
});

describe('routes with one host and the same addresses', () => {
  it('have what all of their namespace lead to', () => {
    const sources = [
      route('shop', [host('a', []), host('b', ['b'])]),
      route('infra', [host('a', ['auth', 'api'], true)]),
      route('shop', [host('a', ['web', 'infra/auth'])]),
      route('infra', [host('a', ['late'])]),
    ];
    expect(withSharedHosts(sources).map(({ hosts }) => hosts)).toEqual([
      [host('a', ['infra/auth', 'web']), host('b', ['b'])],
      [host('a', ['api', 'auth', 'late'], true)],
      [host('a', ['infra/auth', 'web'])],
      [host('a', ['api', 'auth', 'late'], true)],
    ]);
  });

  it('are joined once, however many there are', () => {
    const read = { hosts: 0 };
    const counting = (n: number): SourceHost => ({
      ...host('a', []),
      get services() {
        read.hosts += 1;
        return [`s${n}`];
      },
    });
    withSharedHosts(Array.from({ length: 2_000 }, (_, n) => route('shop', [counting(n)])));
    expect(read.hosts).toBe(2_000);
  });

  it('with other addresses do not', () => {
    const routes = [route('shop', [host('a', ['web'])]), route('shop', [host('a', ['api'])], B)];
    expect(withSharedHosts(routes)).toEqual(routes);
  });

  it('have no part of an Ingress', () => {
    const sources = [route('shop', [host('a', ['web'])]), route('shop', [host('a', ['api'])], A, 'Ingress')];
    expect(withSharedHosts(sources)).toEqual(sources);
  });

  it('share a record, and none with an Ingress', () => {
    expect(shareRecord(route('shop', []), route('infra', []))).toBe(true);
    expect(shareRecord(route('shop', []), route('infra', [], B))).toBe(false);
    expect(shareRecord(route('shop', [], A, 'Ingress'), route('infra', []))).toBe(false);
  });
});
