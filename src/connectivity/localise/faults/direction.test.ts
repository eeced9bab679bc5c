import { expect, it } from 'vitest';
import { AgentsByPlace } from '../pairs/pair.ts';
import type { AgentView } from '../view.ts';
import { linkSubject } from './direction.ts';
import type { Fault } from './faults.ts';

const NOTHING = { ok: false, error: 'Timeout' } as const;
const peer = (node: string) => ({ node, address: '198.18.0.1', tcp: NOTHING, udp: { sent: 20, received: 0 } });

function agent(node: string, over: Partial<AgentView>): AgentView {
  return { node, plane: 'Pod', pod: node, state: 'Reporting', peers: [], targets: [], heard: [], ...over };
}

/** The subject of a link whose agent `a` reaches nothing at `b`. */
function subject(a: Partial<AgentView>, b: Partial<AgentView>): string {
  const agents = [agent('a', { peers: [peer('b')], ...a }), agent('b', b)];
  const pairs = [{ from: 'a', to: 'b', worst: peer('b'), quality: 'Failed' }];
  const fault = { kind: 'Failed', scope: { kind: 'Link', names: ['a', 'b'], plane: 'Pod' }, pairs } as unknown as Fault;
  const nodes = [{ name: 'a' }, { name: 'b' }];
  return linkSubject(fault, new AgentsByPlace({ nodes, agents }));
}

const [always, never] = [() => true, () => false];

it.each<[what: string, a: Partial<AgentView>, b: Partial<AgentView>, expected: string]>([
  ['b heard a, and b does not probe a', {}, { heard: ['a'] }, 'b -> a'],
  ['b did not hear a', {}, {}, 'a -> b'],
  ['a heard b, which was assigned a', { heard: ['b'] }, { heard: ['a'], watches: always }, 'a <-> b'],
  ['a heard b, and no assignment of b is known', { heard: ['b'] }, { heard: ['a'] }, 'a <-> b'],
  ['a claims to have heard b, which was not assigned a', { heard: ['b'] }, { heard: ['a'], watches: never }, 'b -> a'],
])('%s', (_what, a, b, expected) => {
  expect(subject(a, b)).toBe(expected);
});
