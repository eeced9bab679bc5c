import { describe, expect, it } from 'vitest';
import { MOST_URLS } from '../../api/connectivitycheck/schema.ts';
import { combined, settingsOf } from './checkSettings.ts';

const urls = (count: number, host: string) => Array.from({ length: count }, (_, n) => `http://${host}/${n}`);
const check = (spec: object) =>
  settingsOf({ apiVersion: 'traffic.example.com/v1alpha1', kind: 'ConnectivityCheck', spec });

describe('the work of an agent in several checks', () => {
  it('has all URLs of a check, and each of them once', () => {
    const all = urls(MOST_URLS, 'a.example');
    expect(combined([check({ probes: { urls: all } }), check({ probes: { urls: all } })]).urls).toEqual(all);
  });

  it('has at most 50 URLs', () => {
    const checks = ['a', 'b', 'c'].map((host) => check({ probes: { urls: urls(MOST_URLS, host) } }));
    expect(combined(checks).urls).toHaveLength(50);
  });

  it('is done at the shortest interval, with the probes of all', () => {
    const quick = check({ interval: '10s', probes: { dns: false, mtu: false } });
    const slow = check({ interval: '1m', probes: { dns: false, apiServer: false } });
    expect(combined([slow, quick])).toEqual({
      intervalSeconds: 10,
      probes: { dns: false, apiServer: true, mtu: true },
      urls: [],
    });
  });
});
