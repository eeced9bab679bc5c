import type { Keepers, KeptTypes } from '../../contract/keepers.ts';
import type { ComponentGroup } from '../components/components.ts';
import type { DeploymentOptions } from '../options.ts';

/** The groups that a stack may keep. */
export const KEPT_TYPES = {
  server: 'ConnectivityServer',
  agents: 'ConnectivityAgents',
} as const satisfies KeptTypes<'server' | 'agents'>;
export type StackGroup = keyof typeof KEPT_TYPES;

/**
 * The groups that are switched off. Without the flags that deploy the check, a stack cannot have it either. The namespace is there for as
 * long as somebody has the agents, and the CA, with TLS, for as long as somebody has one of both.
 */
export function switchedOff(
  { enabled, tlsSecretName }: Pick<DeploymentOptions, 'enabled' | 'tlsSecretName'>,
  keepers?: Keepers<StackGroup>,
): ReadonlySet<ComponentGroup> {
  const hasServer = enabled && (keepers?.server.isOn ?? true);
  const hasAgents = enabled && (keepers?.agents.isOn ?? true);
  const off = new Set<ComponentGroup>();
  if (!hasServer) off.add('server');
  if (!hasAgents) off.add('agents').add('agentsNamespace');
  if (tlsSecretName === '' || !(hasServer || hasAgents)) off.add('serverCa');
  return off;
}

/** What is unknown of the server or the agents leaves all of both as it is: they are deployed together. */
export const PARTNERS: readonly (readonly ComponentGroup[])[] = [['server', 'agents', 'agentsNamespace']];
