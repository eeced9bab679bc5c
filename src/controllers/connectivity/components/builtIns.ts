import type {
  CommonSpec,
  ConnectivityAgentsSpec,
  ConnectivityServerSpec,
} from '../../../api/trafficstack/trafficStack.ts';
import { readDuration } from '../../../runtime/process/duration.ts';
import { given, objectsOf, placementIn, pullSecretsOf, type BuiltIn } from '../../contract/builtIn.ts';
import type { DeploymentOptions } from '../flags.ts';
import { readServerCa } from '../serverCa.ts';
import { allComponents, FIELD_MANAGER } from './components.ts';

const NO_CONNECTIVITY =
  'without --connectivity (connectivity.enabled in the chart), the server has no rights, and nobody asks it';

/** The server and the agents, as TrafficStacks may have them. The options are the defaults of their settings. */
export function builtInsOf(options: DeploymentOptions): BuiltIn[] {
  const { enabled } = options;
  const common = {
    ...{ fieldManager: FIELD_MANAGER, isDeployed: enabled },
    problem: enabled ? undefined : NO_CONNECTIVITY,
    waitsFor: () => missingCa(options),
  };
  return [
    {
      ...{ type: 'ConnectivityServer', ...common },
      settings: { connectivityServer: serverSettings(options) },
      render: ({ connectivityServer }, common) =>
        objectsOf('server', allComponents(withServer(options, connectivityServer, common))),
    },
    {
      ...{ type: 'ConnectivityAgents', ...common },
      settings: { connectivityAgents: agentSettings(options) },
      render: ({ connectivityAgents }, common) =>
        objectsOf('agents', allComponents(withAgents(options, connectivityAgents, common))),
    },
  ];
}

/** With TLS, agents that run could not follow the server to HTTPS without its CA. */
async function missingCa({ tlsSecretName, serverCaFile }: DeploymentOptions): Promise<string | undefined> {
  if (serverCaFile === undefined) return undefined;
  const read = await readServerCa(serverCaFile, tlsSecretName);
  return 'problem' in read ? read.problem.message : undefined;
}

function withServer(
  options: DeploymentOptions,
  { reportInterval, serviceType, allowAnonymous, ...ofPod }: ConnectivityServerSpec = {},
  common: CommonSpec = {},
): DeploymentOptions {
  const { priorityClassName, nodeSelector, tolerations } = common;
  return {
    ...options,
    imagePullSecrets: pullSecretsOf(common, options.imagePullSecrets),
    ...given({ reportIntervalSeconds: secondsOf(reportInterval), serviceType, allowAnonymous }),
    server: { ...options.server, ...given({ priorityClassName, nodeSelector, tolerations }), ...given(ofPod) },
  };
}

/** Adds the settings of a stack's agents. Agents ignore the common placement: they run on the nodes whose network they check. */
function withAgents(
  options: DeploymentOptions,
  { nodeSelector, reportInterval, peerPort, ...ofPod }: ConnectivityAgentsSpec = {},
  common: CommonSpec = {},
): DeploymentOptions {
  const { priorityClassName } = common;
  return {
    ...options,
    ...given({ nodeSelector, reportIntervalSeconds: secondsOf(reportInterval), peerPort }),
    imagePullSecrets: pullSecretsOf(common, options.imagePullSecrets),
    agents: { ...options.agents, ...given({ priorityClassName }), ...given(ofPod) },
  };
}

function secondsOf(duration: string | undefined): number | undefined {
  const ms = duration === undefined ? undefined : readDuration(duration);
  return ms === undefined ? undefined : ms / 1000;
}

/** Returns the settings that give a server of a stack these options, even if the flags change later. */
function serverSettings(options: DeploymentOptions): ConnectivityServerSpec {
  const { server, serviceType, allowAnonymous } = options;
  const { resources } = server;
  return { ...placementIn(server), resources, reportInterval: reportIntervalOf(options), serviceType, allowAnonymous };
}

/** Returns the settings that give the agents of a stack these options, even if the flags change later. */
function agentSettings(options: DeploymentOptions): ConnectivityAgentsSpec {
  const { agents, nodeSelector, peerPort } = options;
  const { resources } = agents;
  const placement = placementIn({ ...agents, nodeSelector });
  return { ...placement, resources, reportInterval: reportIntervalOf(options), peerPort };
}

function reportIntervalOf({ reportIntervalSeconds }: DeploymentOptions): string {
  return `${reportIntervalSeconds}s`;
}
