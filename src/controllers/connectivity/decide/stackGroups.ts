import type { StackOwnership, StackTypes } from '../../contract/stackOwnership.ts';
import type { ComponentGroup } from '../components/components.ts';
import type { DeploymentOptions } from '../flags.ts';

/** The groups that a stack may keep. */
export const STACK_TYPES = {
  server: 'ConnectivityServer',
  agents: 'ConnectivityAgents',
} as const satisfies StackTypes<'server' | 'agents'>;
export type StackGroup = keyof typeof STACK_TYPES;

/**
 * Returns the groups that are switched off. Without the flags that deploy the check, a stack cannot have it either. The namespace exists
 * as long as this controller or a stack has the agents. The CA exists, with TLS, as long as one of them has the server or the agents.
 */
export function switchedOff(
  { enabled, tlsSecretName }: Pick<DeploymentOptions, 'enabled' | 'tlsSecretName'>,
  ownership?: StackOwnership<StackGroup>,
): ReadonlySet<ComponentGroup> {
  const hasServer = enabled && (ownership?.server.isOn ?? true);
  const hasAgents = enabled && (ownership?.agents.isOn ?? true);
  const off = new Set<ComponentGroup>();
  if (!hasServer) off.add('server');
  if (!hasAgents) off.add('agents').add('agentsNamespace');
  if (tlsSecretName === '' || !(hasServer || hasAgents)) off.add('serverCa');
  return off;
}

/** Returns the groups that the flags deploy. */
export function deployedByFlags({ enabled }: Pick<DeploymentOptions, 'enabled'>): ReadonlySet<StackGroup> {
  return new Set(enabled ? ['server', 'agents'] : []);
}
