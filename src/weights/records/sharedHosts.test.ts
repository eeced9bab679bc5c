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
  it('have what all of them lead to, by the names of each namespace', () => {
    const routes = [
      route('shop', [host('a', []), host('b', ['b'])]),
      route('shop', [host('a', ['web', 'infra/auth'])]),
      route('infra', [host('a', ['auth', 'api'], true)]),
    ];
    expect(withSharedHosts(routes).map(({ hosts }) => hosts)).toEqual([
      [host('a', ['infra/api', 'infra/auth', 'web'], true), host('b', ['b'])],
      [host('a', ['infra/api', 'infra/auth', 'web'], true)],
      [host('a', ['api', 'auth', 'shop/web'], true)],
    ]);
  });

  it('with other addresses do not', () => {
    const routes = [route('shop', [host('a', ['web'])]), route('shop', [host('a', ['api'])], B)];
    expect(withSharedHosts(routes)).toEqual(routes);
  });

  it('share a record, and none with an Ingress', () => {
    expect(shareRecord(route('shop', []), route('infra', []))).toBe(true);
    expect(shareRecord(route('shop', []), route('infra', [], B))).toBe(false);
    expect(shareRecord(route('shop', [], A, 'Ingress'), route('infra', []))).toBe(false);
  });
});
