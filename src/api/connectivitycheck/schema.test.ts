import { describe, expect, it } from 'vitest';
import { problemTexts } from '../problems.ts';
import { connectivityCheckSchema } from './connectivityCheck.ts';

function problems(spec: object): string[] {
  const object = { metadata: { name: 'cluster' }, spec };
  const parsed = connectivityCheckSchema.safeParse(object);
  return parsed.success ? [] : problemTexts(object, parsed.error.issues);
}

describe('the spec of a ConnectivityCheck', () => {
  it.each([
    {},
    { interval: '5s' },
    { interval: '1h', peers: 1, planes: ['Pod'] },
    { peers: 50, planes: ['Host', 'Pod'], thresholds: { lossPercent: 100 } },
    { probes: { dns: false, urls: ['http://example.org', 'https://[2001:db8::1]:8443/healthz?x=a@b'] } },
    { nodeSelector: { matchLabels: { pool: 'infra' } } },
  ])('accepts %j', (spec) => expect(problems(spec)).toEqual([]));

  it.each([
    [{ interval: '4s' }, 'spec.interval is "4s": must be a duration from "5s" to "1h"'],
    [{ interval: '61m' }, 'spec.interval is "61m": must be a duration from "5s" to "1h"'],
    [{ peers: 0 }, 'spec.peers is 0: '],
    [{ peers: 51 }, 'spec.peers is 51: '],
    [{ peers: 1.5 }, 'spec.peers is 1.5: '],
    [{ planes: [] }, 'spec.planes is []: '],
    [{ planes: ['Pod', 'Pod'] }, 'spec.planes is ["Pod","Pod"]: must name each plane once: Pod, Host'],
    [{ planes: ['pod'] }, 'spec.planes.0 is "pod": '],
    [{ thresholds: { lossPercent: 0 } }, 'spec.thresholds.lossPercent is 0: '],
    [{ thresholds: { lossPercent: 101 } }, 'spec.thresholds.lossPercent is 101: '],
    [{ probes: { urls: ['ftp://a'] } }, 'spec.probes.urls.0 is "ftp://a": must be an http or https URL without user'],
    [{ probes: { urls: ['http://u:p@a/'] } }, 'spec.probes.urls.0 is "http://u:p@a/": must be an http or https URL'],
    [{ probes: { urls: Array.from({ length: 21 }, (_, n) => `http://a/${n}`) } }, 'spec.probes.urls is '],
    [{ nodeSelector: { matchLabels: { 'a b': 'c' } } }, 'the key must be a label key'],
  ])('rejects %j, with field and value', (spec, message) => {
    expect(problems(spec).join()).toContain(message);
  });
});
