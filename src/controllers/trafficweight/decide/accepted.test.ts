import { expect, it } from 'vitest';
import type { HostExplanation } from '../../../api/trafficweight/trafficWeight.ts';
import { acceptedState } from './accepted.ts';
import { explained } from './hosts.ts';

const fine: HostExplanation = { host: 'a', ingress: 'team-a/a', weight: 40, reason: 'ClusterWeight' };
const refused: HostExplanation = { host: 'b', ingress: 'team-a/b', reason: 'Conflict', message: 'no' };
/** Hosts of routes that one tenant has created, two of each. */
const crowd = Array.from({ length: 3_000 }, (_, n): HostExplanation => {
  const message = `HTTPRoute team-a/web has the records of o${n}`;
  return { host: `o${n}`, httpRoute: `team-b/r${Math.floor(n / 2)}`, reason: 'OtherNamespace', message };
});
const LEFT_OUT =
  'HTTPRoutes that do not count for the weight of a host: 1500, the first HTTPRoute team-b/r0: HTTPRoute team-a/web has the records of o0';

const NONE: readonly string[] = [];

it('what is not read is named by its namespace, and is no health', () => {
  const beyond = ['team-b', 'team-a', 'team-b'];
  expect(acceptedState({ hosts: [fine], ingresses: 1, beyond })).toEqual({
    ...{ status: 'False', reason: 'NamespaceTooLarge' },
    message:
      '1 Ingresses and HTTPRoutes are accepted. Left out: 3 Ingresses and HTTPRoutes of the namespaces team-a, team-b, since the Ingresses, HTTPRoutes or ' +
      'DNSEndpoints there take more than 8 MiB, or one has more than 4,000 hosts. Their records are unchanged. Remove objects there, or make them smaller.',
  });
  const many = ['a', 'b', 'c', 'd'];
  expect(acceptedState({ hosts: [refused], ingresses: 1, beyond: many })).toMatchObject({ reason: 'Conflict' });
  expect(acceptedState({ hosts: [refused], ingresses: 1, beyond: many }).message).toContain(
    '4 Ingresses and HTTPRoutes of the namespaces a, b, c, ...,',
  );
});

it('routes of other namespaces are counted, the first is named, and the others are accepted', () => {
  expect(acceptedState({ hosts: [fine, ...crowd], ingresses: 1_501, beyond: NONE })).toEqual({
    ...{ status: 'True', reason: 'AllAccepted' },
    message: `All Ingresses and HTTPRoutes are accepted: 1501. ${LEFT_OUT}`,
  });
});

it('routes of other namespaces come after what is not accepted', () => {
  expect(acceptedState({ hosts: [...crowd, refused], ingresses: 1_501, beyond: NONE })).toEqual({
    ...{ status: 'False', reason: 'Conflict' },
    message: `1 of 1501 Ingresses and HTTPRoutes are not accepted, the first team-a/b: no. ${LEFT_OUT}`,
  });
});

it('hosts that other objects have are explained after those with another problem', () => {
  const unready: HostExplanation = { ...fine, host: 'z', reason: 'NoReadyEndpoints', message: 'no ready endpoint' };
  const list = explained([fine, ...crowd, refused, unready]);
  expect(list).toHaveLength(20);
  expect(list.slice(0, 3).map(({ reason }) => reason)).toEqual(['NoReadyEndpoints', 'Conflict', 'OtherNamespace']);
  expect(explained([fine, crowd[0]!]).map(({ host }) => host)).toEqual(['o0', 'a']);
});
