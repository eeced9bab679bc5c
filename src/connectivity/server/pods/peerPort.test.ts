import type { V1Container } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { CONNECTIVITY_AGENT_FLAGS } from '../../../commands/connectivityAgent/command.ts';
import { flagName, variableName } from '../../../options/flagTable.ts';
import { agentDaemonSets } from '../../objects/agents.ts';
import { defaultConnectivityOptions, PEER_PORT } from '../../objects/names.ts';
import { peerPortOf } from './peerPort.ts';

const KEY = 'peerPort' satisfies keyof typeof CONNECTIVITY_AGENT_FLAGS;
const FLAG = flagName(KEY);
const NAMED = { ports: [{ name: 'peer', containerPort: 9_001, protocol: 'TCP' }] };
const variable = (value: string): Partial<V1Container> => ({ env: [{ name: variableName(KEY), value }] });

it.each<[string, Partial<V1Container>, number | undefined]>([
  ['a flag with two dashes', { args: ['connectivity-agent', `--${FLAG}=9000`] }, 9_000],
  ['a flag with one dash, and its value apart', { args: [`-${FLAG}`, '9000', '-v', '5'] }, 9_000],
  ['a flag in the command', { command: ['node', 'main.js', `--${FLAG}=9000`] }, 9_000],
  ['a flag twice: the last one counts', { args: [`--${FLAG}=1`, `--${FLAG}=9000`] }, 9_000],
  ['a flag and other statements', { args: [`--${FLAG}=9000`], ...variable('9002'), ...NAMED }, 9_000],
  ['a variable', { ...variable('9002'), ...NAMED }, 9_002],
  ['a named port', NAMED, 9_001],
  ['a named port of UDP only', { ports: [{ ...NAMED.ports[0]!, protocol: 'UDP' }] }, PEER_PORT],
  ['a flag that only the pod can resolve, and a named port', { args: [`--${FLAG}=$(PORT)`], ...NAMED }, 9_001],
  ['a flag that only the pod can resolve', { args: [`--${FLAG}=$(PORT)`] }, undefined],
  ['a variable from a field', { env: [{ name: variableName(KEY), valueFrom: {} }] }, undefined],
  ['no port between 1 and 65535', { args: [`--${FLAG}=65536`] }, undefined],
  ['nothing', { args: ['connectivity-agent', '--plane=Pod'] }, PEER_PORT],
])('the port of a pod that states %s', (_, container, port) => {
  expect(peerPortOf({ containers: [{ name: 'agent', ...container }] })).toBe(port);
});

it('is the port of the deployed agents', () => {
  const options = { ...defaultConnectivityOptions('system'), peerPort: 9_000 };
  for (const { spec } of agentDaemonSets(options)) expect(peerPortOf(spec?.template.spec)).toBe(9_000);
});

it('is the default of the flag without a statement', () => {
  expect(CONNECTIVITY_AGENT_FLAGS[KEY].default).toBe(String(PEER_PORT));
});
