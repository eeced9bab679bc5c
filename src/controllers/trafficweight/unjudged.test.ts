import { describe, expect, it } from 'vitest';
import { gateway, HOST, OPEN, records, route, says, TAKEN, written, type World } from './testing/world.ts';

const TWO = [
  { ...OPEN, name: 'http' },
  { ...OPEN, name: 'new' },
];
const B = gateway('b', { address: '192.0.2.2', className: 'other' });
const GATEWAYS = [gateway('public', { listeners: TWO }), B];
/** With the weight 30, where the records before have 75. */
const SHARE = { annotations: { 'dns.adevinta.com/traffic-weight': '40' } };
const refused = (over: object = {}) => [says('Accepted', 'False', over)];
const earlier = { observedGeneration: 1 };

/** The records of a route that Gateways have accepted before, and of which this is now known. */
function after(now: World, before: World = { routes: [route('team-a')] }): Record<string, string> {
  return records({ gateways: GATEWAYS, ...now, endpoints: written({ gateways: GATEWAYS, ...before }) });
}

describe('a route keeps its host and its addresses, and its weight changes,', () => {
  it.each<[string, World]>([
    ['with another listener', { routes: [route('team-a', { ...SHARE, asked: [{ sectionName: 'new' }] })] }],
    ['with another Gateway', { routes: [route('team-a', { ...SHARE, asked: [{ name: 'b' }] })] }],
    [
      'while it is not known whether',
      { routes: [route('team-a', { ...SHARE, conditions: [says('Accepted', 'Unknown')] })] },
    ],
    ['with a refusal of its earlier form', { routes: [route('team-a', { ...SHARE, conditions: refused(earlier) })] }],
    ['with a ListenerSet', { routes: [route('team-a', { ...SHARE, asked: [{ kind: 'ListenerSet' }] })] }],
    ['without any status', { routes: [route('team-a', { ...SHARE, conditions: [] })] }],
    [
      'with a refusal that is older than its Gateway',
      {
        routes: [route('team-a', { ...SHARE, conditions: refused({ lastTransitionTime: '2026-06-01T11:59:58Z' }) })],
        gateways: [gateway('public', { created: '2026-06-01T11:59:58Z' })],
      },
    ],
    ['without its Gateway', { routes: [route('team-a', { ...SHARE, conditions: refused() })], gateways: [B] }],
  ])('%s', (_, now) => {
    expect(after(now)).toEqual({ [HOST]: '192.0.2.1 30' });
  });

  it('while one of two Gateways has not answered', () => {
    const asked = [{}, { name: 'b', sectionName: 'new' }];
    expect(after({ routes: [route('team-a', { ...SHARE, asked })] })).toEqual({ [HOST]: '192.0.2.1 30' });
  });

  it('also with an earlier acceptance of other hosts, until that is renewed', () => {
    const hostnames = [HOST, 'new.example.org'];
    const accepted = (observedGeneration: number) => [says('Accepted', 'True', { observedGeneration })];
    expect(after({ routes: [route('team-a', { hostnames, conditions: accepted(1) })] })).toEqual({
      [HOST]: '192.0.2.1 75',
    });
    expect(after({ routes: [route('team-a', { hostnames, conditions: accepted(2) })] })).toEqual({
      [HOST]: '192.0.2.1 75',
      'new.example.org': '192.0.2.1 75',
    });
  });
});

describe('a route loses a host', () => {
  it.each<[string, World]>([
    ['with a refusal', { routes: [route('team-a', { conditions: refused({ observedGeneration: 2 }) })] }],
    [
      'with a refusal by a controller that states no generation',
      { routes: [route('team-a', { conditions: refused() })] },
    ],
    [
      'with a refusal after its Gateway was created',
      {
        routes: [route('team-a', { conditions: refused() })],
        gateways: [gateway('public', { created: '2026-06-01T11:59:58Z' })],
      },
    ],
    [
      'ten minutes after its Gateway was created, since a controller does not renew a refusal',
      {
        routes: [route('team-a', { conditions: refused({ lastTransitionTime: '2026-06-01T11:40:00Z' }) })],
        gateways: [gateway('public', { created: '2026-06-01T11:49:00Z' })],
      },
    ],
    ['without a Gateway in its spec', { routes: [route('team-a', { asked: [{ group: '', kind: 'Service' }] })] }],
    [
      'that it no longer has, also without a new status',
      { routes: [route('team-a', { hostnames: ['b.example.org'], asked: [{ name: 'b' }, {}] })] },
    ],
  ])('%s', (_, now) => {
    expect(Object.keys(after(now))).not.toContain(HOST);
  });
});

it('a route without records gets them from the Gateways that have accepted it', () => {
  const routes = [route('team-a', { asked: [{}, { name: 'none' }, { name: 'b' }] })];
  expect(records({ routes, gateways: GATEWAYS })).toEqual({ [HOST]: '192.0.2.1 75' });
});

it('an address goes if the Gateway no longer has it, also while another Gateway has not answered', () => {
  const both = route('team-a', { asked: [{}, { name: 'b' }] });
  const parents = [{}, { name: 'b' }].map((over) => ({
    parentRef: { namespace: 'infra', name: 'public', ...over },
    conditions: TAKEN,
  }));
  const before = { routes: [{ ...both, status: { parents } }] };
  const moved = gateway('public', { address: '192.0.2.9' });
  expect(after({ routes: [both], gateways: [moved, B] }, before)).toEqual({ [HOST]: '192.0.2.2,192.0.2.9 75' });
  expect(after({ routes: [both], gateways: [moved] }, before)).toEqual({ [HOST]: '192.0.2.9 75' });
});

it('of a class that is not selected does not lose its records before the new Gateway has accepted it', () => {
  const spec = { gatewayClassNames: ['public'] };
  const moving = route('team-a', { asked: [{ name: 'b' }] });
  expect(after({ routes: [moving], spec })).toEqual({ [HOST]: '192.0.2.1 75' });
  const moved = route('team-a', { parent: { name: 'b' } });
  expect(after({ routes: [moved], spec })).toEqual({});
});

it('a route of a namespace whose labels are not known keeps its records', () => {
  expect(after({ routes: [route('team-a', SHARE)], namespaces: [] })).toEqual({ [HOST]: '192.0.2.1 30' });
});
