import type { ConnectivityAgentsSpec, ConnectivityServerSpec } from '../../../api/trafficstack/trafficStack.ts';
import { given, objectsOf, type BuiltIn } from '../../contract/builtIn.ts';
import { FIELD_MANAGER } from '../names.ts';
import type { DeploymentOptions } from '../options.ts';
import { allComponents } from './components.ts';

const NO_CONNECTIVITY =
  'without --connectivity (connectivity.enabled in the chart), the server has no rights, and nobody asks it';

/** The server and the agents, as TrafficStacks may have them. The options are the defaults of their settings. */
export function builtInsOf(options: DeploymentOptions): BuiltIn[] {
  const { enabled } = options;
  const common = {
    ...{ fieldManager: FIELD_MANAGER, isDeployed: enabled },
    problem: enabled ? undefined : NO_CONNECTIVITY,
  };
  return [
    {
      ...{ type: 'ConnectivityServer', ...common },
      render: ({ connectivityServer }) => objectsOf('server', allComponents(withServer(options, connectivityServer))),
    },
    {
      ...{ type: 'ConnectivityAgents', ...common },
      render: ({ connectivityAgents }) => objectsOf('agents', allComponents(withAgents(options, connectivityAgents))),
    },
  ];
}

function withServer(options: DeploymentOptions, settings: ConnectivityServerSpec = {}): DeploymentOptions {
  return { ...options, server: { ...options.server, ...given(settings) } };
}

function withAgents(
  options: DeploymentOptions,
  { nodeSelector = options.nodeSelector, ...settings }: ConnectivityAgentsSpec = {},
): DeploymentOptions {
  return { ...options, nodeSelector, agents: { ...options.agents, ...given(settings) } };
}
