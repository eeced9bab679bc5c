import type { V1Ingress } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { APPLIED_HASH_ANNOTATION } from '../../runtime/apply/difference.ts';
import { OWNER_LABEL } from '../../weights/plan/plan.ts';
import type { DnsEndpoint } from '../../weights/records/endpoint.ts';
import { decide, ingress, weights, type World } from './testing/world.ts';

/*
 * Nothing selects the Ingresses of team-a any longer, maybe by a typing error. Their removal waits for a confirmation. A tenant of team-b, whose
 * Ingress is selected, asks for one of their hosts meanwhile.
 */
const HOSTS = ['a.example.org', 'b.example.org', 'c.example.org'];
const [HOST = ''] = HOSTS;
const PUBLIC = { annotationFilter: 'class=public' };
const left = HOSTS.map((host, n) => ingress('team-a', { name: `web-${n}`, host }));
const records = written(left);
const hostile = ingress('team-b', { host: HOST, age: 0, annotations: { class: 'public' } });
const waiting: World = { ingresses: [...left, hostile], endpoints: records, spec: PUBLIC, allowed: '' };

/** The DNSEndpoints of Ingresses that were selected, as the operator has written them. */
function written(ingresses: readonly V1Ingress[], owner = 'main'): DnsEndpoint[] {
  const metadata = { annotations: { [APPLIED_HASH_ANNOTATION]: 'x' }, labels: { [OWNER_LABEL]: owner } };
  return decide({ ingresses }).sources.flatMap(({ desired }) =>
    desired === undefined ? [] : [{ ...desired, metadata: { ...desired.metadata, ...metadata } }],
  );
}

const removed = (world: World): (string | undefined)[] => decide(world).removed.map(({ metadata }) => metadata?.name);

describe('while a removal waits, an object of another namespace takes none of its hosts', () => {
  const TAKEN = [`team-b ${HOST}: undefined Conflict`];

  it('that it asks for', () => {
    expect([weights(waiting), removed(waiting)]).toEqual([TAKEN, []]);
    expect(decide(waiting).unconfirmed?.hosts).toEqual(HOSTS);
  });

  it('that it publishes by a DNSEndpoint which it has written itself', () => {
    const [own] = written([hostile]);
    const forged = { ...own, metadata: { ...own?.metadata, annotations: {}, labels: {} } };
    expect(weights({ ...waiting, endpoints: [...records, forged] })).toEqual(TAKEN);
  });

  it('although another TrafficWeight has the removal', () => {
    const world = { ...waiting, endpoints: written(left, 'first'), others: { first: { annotationFilter: 'class=x' } } };
    expect(weights(world)).toEqual(TAKEN);
  });

  it('although another TrafficWeight has it, and takes the host out of its domain', () => {
    const [one] = left;
    const all = { ...one!, spec: { ...one!.spec, rules: left.flatMap(({ spec }) => spec?.rules ?? []) } };
    const endpoints = written([all], 'first');
    const others = { first: { bindingDomain: 'b.example.org' } };
    expect(weights({ ...waiting, ingresses: [all, hostile], endpoints, others })).toEqual(TAKEN);
  });

  it('until it is confirmed', () => {
    const { confirm = '' } = decide(waiting).unconfirmed ?? {};
    const world = { ...waiting, allowed: confirm };
    expect(weights(world)).toEqual([`team-b ${HOST}: 0 NoReadyEndpoints`]);
    expect(removed(world)).toEqual(['web-0', 'web-1', 'web-2']);
  });
});

describe('a selected object of the namespace of a removal', () => {
  const replaced = ingress('team-a', { name: 'new', host: HOST, age: 5, annotations: { class: 'public' } });
  const EXPECTED = [`team-a ${HOST}: 75 ClusterWeight`, `team-b ${HOST}: undefined OtherNamespace`];

  it.each<[string, Partial<World>, string[]]>([
    ['while it waits', {}, ['web-0']],
    ['while it needs no confirmation', { allowed: 'Any' }, ['web-0', 'web-1', 'web-2']],
    [
      'while another TrafficWeight has it',
      { endpoints: written(left, 'first'), others: { first: { annotationFilter: 'class=x' } } },
      [],
    ],
  ])('gets the host, although one of another namespace is older: %s', (_, over, gone) => {
    const world = { ...waiting, ingresses: [...left, replaced, hostile], ...over };
    expect(weights(world)).toEqual(EXPECTED);
    expect(removed(world)).toEqual(gone);
  });
});
