import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../runtime/server/selfSigned.ts';
import { hasNamespace } from '../../api/podplacement/webhook.ts';
import { desiredWebhook, trusts } from './configuration.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 0, 1);
const certificate = (commonName: string, endsAt = NOW + HOUR_MS): string =>
  selfSigned({ commonName, dnsNames: ['a'], notBefore: NOW - HOUR_MS, notAfter: endsAt }).cert;
const webhook = (over: Partial<Parameters<typeof desiredWebhook>[0]> = {}) =>
  desiredWebhook({
    address: { service: { namespace: 'system', name: 'hook', port: 443 } },
    namespaces: ['shop', 'bank'],
    excluded: ['kube-system', 'system'],
    own: [OWN],
    caBundle: undefined,
    now: NOW,
    ...over,
  });
const bundle = (...pems: string[]): string => Buffer.from(pems.join('')).toString('base64');
const OWN = certificate('pod-1');
/** The certificates that the bundle still has after pod-1 wrote it. */
const kept = (...others: string[]): string[] =>
  others.filter((pem) => trusts(webhook({ caBundle: bundle(...others) }), pem));

describe('the webhook', () => {
  it('gets the pods of namespaces with a PodPlacement, and of no other', () => {
    const desired = webhook({ namespaces: ['shop', 'kube-system', 'bank', 'system'] });
    expect(desired.namespaceSelector).toEqual({
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['bank', 'shop'] }],
    });
    expect(['bank', 'shop', 'kube-system', 'x'].map((name) => hasNamespace(desired, name))).toEqual([
      ...[true, true],
      ...[false, false],
    ]);
    // Each namespace has the label.
    expect(webhook({ namespaces: ['system'] }).namespaceSelector?.matchExpressions).toEqual([
      { key: 'kubernetes.io/metadata.name', operator: 'DoesNotExist' },
    ]);
  });

  it('never keeps a pod from being created', () => {
    expect(webhook()).toMatchObject({ failurePolicy: 'Ignore', timeoutSeconds: 2, sideEffects: 'None' });
    expect(webhook().matchConditions).toEqual([
      { name: 'not-on-a-node-yet', expression: `object.spec.?nodeName.orValue('') == ''` },
    ]);
  });

  it('is trusted with the certificates of all replicas, whichever wrote last', () => {
    const other = certificate('pod-2');
    const first = webhook({ caBundle: bundle(other) }).clientConfig.caBundle;
    expect(webhook({ own: [other], caBundle: first }).clientConfig.caBundle).toBe(first);
    expect(webhook({ caBundle: first }).clientConfig.caBundle).toBe(first);
  });

  it.each<[string, string[], number]>([
    ['keeps certificates of other replicas', [certificate('pod-2'), certificate('pod-3')], 2],
    ['keeps the two newest of one name', [1, 2, 3].map((hours) => certificate('pod-2', NOW + hours * HOUR_MS)), 2],
    ['drops those that ended', [certificate('pod-2', NOW - 1_000)], 0],
    ['drops its own of an earlier process', [certificate('pod-1', NOW + 2 * HOUR_MS)], 0],
    ['drops what is no certificate', ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'], 0],
    ['keeps 20 at most', Array.from({ length: 25 }, (_each, index) => certificate(`pod-${index + 2}`)), 20],
  ])('%s', (_what, others, count) => {
    expect(kept(...others)).toHaveLength(count);
  });

  it('has a bundle of its own certificate if the present one is unreadable', () => {
    expect(webhook({ caBundle: 'x!' }).clientConfig.caBundle).toBe(bundle(OWN));
  });
});
