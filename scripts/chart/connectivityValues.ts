import { z } from 'zod';
import { defaultConnectivityOptions, NODE_PORT, type PodSize } from '../../src/connectivity/objects/names.ts';
import { anyList, anyMap, reportDuration, stringMap } from './shapes.ts';

const DEFAULTS = defaultConnectivityOptions('');

const service = z
  .strictObject({
    type: z
      .enum(['ClusterIP', 'NodePort'])
      .default(DEFAULTS.serviceType)
      .describe(`ClusterIP, or NodePort for TCP port ${NODE_PORT} of every node.`),
  })
  .prefault({})
  .describe('The Service netchecker-service.');

const tls = z
  .strictObject({
    secretName: z
      .string()
      .default(DEFAULTS.tlsSecretName)
      .describe(
        'Secret of type kubernetes.io/tls in the release namespace, with ca.crt, for the DNS name netchecker-service.<release namespace>; empty: plain HTTP.',
      ),
  })
  .prefault({})
  .describe('HTTPS of the server. The operator copies ca.crt into the namespace of the agents.');

/** @param whose such as `the server` */
function resources(whose: string, defaults: PodSize['resources']) {
  const empty = JSON.stringify(defaults);
  return anyMap
    .default({})
    .describe(`Requests and limits of ${whose}. They replace the whole default; empty: ${empty}.`);
}

const server = z
  .strictObject({
    resources: resources('the server', DEFAULTS.server.resources),
    priorityClassName: z
      .string()
      .default(DEFAULTS.server.priorityClassName)
      .describe('Priority class of the server; empty: none.'),
    nodeSelector: stringMap.default({}).describe('Node selector of the server, in addition to kubernetes.io/os.'),
    tolerations: anyList.default([]).describe('Tolerations of the server.'),
  })
  .prefault({})
  .describe('The pod of the server.');

const agents = z
  .strictObject({
    resources: resources('each agent', DEFAULTS.agents.resources),
    priorityClassName: z
      .string()
      .default(DEFAULTS.agents.priorityClassName)
      .describe('Priority class of the agents; empty: none. With system-node-critical they also run on a full node.'),
  })
  .prefault({})
  .describe('The pods of the agents, which tolerate all taints.');

/** The deployed connectivity check. */
export const connectivity = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Whether the operator deploys the connectivity check, with its own image, and creates a first ConnectivityCheck if the cluster has none.',
      ),
    reportInterval: reportDuration
      .default(`${DEFAULTS.reportIntervalSeconds}s`)
      .describe(
        'Time between two reports of an agent until a ConnectivityCheck sets it: whole seconds, from 2s to 24h.',
      ),
    service,
    tls,
    server,
    agents,
    peerPort: z
      .int()
      .min(1)
      .max(65535)
      .default(DEFAULTS.peerPort)
      .describe('TCP and UDP port on which the agents answer each other. It must be free on every node.'),
    nodeSelector: stringMap
      .default({})
      .describe('Labels that a node needs to run agents, in addition to kubernetes.io/os.'),
    allowAnonymous: z
      .boolean()
      .default(DEFAULTS.allowAnonymous)
      .describe('Accept reports without a token, such as the reports of the original agents.'),
    allowedTargets: z
      .array(z.string().regex(/^[0-9a-fA-F.:]+\/[0-9]{1,3}$/))
      .default([])
      .describe(
        'Addresses that URLs of ConnectivityChecks may lead to, although agents refuse them by default: CIDRs such as 169.254.20.10/32.',
      ),
  })
  .prefault({})
  .describe(
    'The connectivity check: a server in the release namespace, and agents in <release namespace>-connectivity.',
  );
