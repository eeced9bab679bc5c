import { createHash } from 'node:crypto';
import {
  ACKNOWLEDGE,
  DEFAULT_ANNOTATION_PREFIX,
  DEFAULT_REGION,
  DEFAULT_TABLE,
} from '../../api/trafficweight/terms.ts';
import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { flag, withDefault, type FlagTable, type FlagValues, type FlagProblem } from '../../options/flagTable.ts';
import { address, boolean, dnsLabel, dnsSubdomain, text, url, valueType, wholeNumber } from '../../options/values.ts';
import { specSchema } from '../../api/trafficweight/specSchema.ts';
import type { TrafficWeightSpec } from '../../api/trafficweight/trafficWeight.ts';

const { kubeconfig, logLevel } = COMMON_FLAGS;

/** The original's help says dynamodb, and its code reads dynamoDB. */
const backendType = valueType('fake|dynamodb', 'fake or dynamodb', (given) => {
  const name = given.toLowerCase();
  return name === 'fake' || name === 'dynamodb' ? name : undefined;
});
const acknowledge = valueType(ACKNOWLEDGE.join('|'), ACKNOWLEDGE.join(' or '), (given) =>
  ACKNOWLEDGE.find((one) => one === given),
);

/** The flags of `weights`: the flags of k8s-traffic-controller, and what a program needs here. */
export const WEIGHTS_FLAGS = {
  clusterName: flag(
    text,
    'Name of the cluster: the set identifier of its records, and the key of its row. Required, and different in each cluster.',
  ),
  backendType: withDefault(
    backendType,
    'fake',
    'Where the weight of the cluster comes from. fake: --initial-weight. dynamodb: its row in --table-name.',
  ),
  initialWeight: withDefault(
    wholeNumber(0, 255),
    '0',
    'Weight of the cluster; with --backend-type=dynamodb, of a row that does not exist and is created.',
  ),
  allowAllZero: withDefault(
    boolean,
    'false',
    'With --backend-type=dynamodb, whether the cluster may go to 0 although no other one in the table has traffic.',
  ),
  awsRegion: flag(text, 'AWS region of the table.', { defaultNote: DEFAULT_REGION }),
  tableName: flag(text, 'Name of the table in DynamoDB.', { defaultNote: DEFAULT_TABLE }),
  bindingDomain: flag(
    text,
    'Only hosts that are this domain, or within it, have records. With a dot before it, only those within it.',
    {
      defaultNote: 'all hosts',
    },
  ),
  annotationFilter: flag(text, 'Only Ingresses with this annotation, as KEY=VALUE.', {
    defaultNote: 'all Ingresses',
  }),
  annotationPrefix: flag(
    text,
    'Prefix of the annotation <prefix>/traffic-weight of an Ingress, its percentage of the weight.',
    { defaultNote: DEFAULT_ANNOTATION_PREFIX },
  ),
  awsHealthCheckId: flag(text, 'ID of a health check of Route 53 that the records get.', {
    defaultNote: 'none',
  }),
  enableLeaderElection: withDefault(boolean, 'false', 'Elect one replica as leader; the other replicas stand by.'),
  leaseName: withDefault(
    dnsSubdomain,
    'a5568bf5.dns.adevinta.com',
    'Name of the Lease, by default the Lease of k8s-traffic-controller. Another Deployment in the same namespace needs another name.',
  ),
  devMode: withDefault(
    boolean,
    'false',
    'Records lead to the name devmode instead of the load balancer, for a cluster without one.',
  ),
  metricsAddr: withDefault(address, ':8080', 'Address that serves /metrics.'),
  healthProbeBindAddress: withDefault(address, ':8081', 'Address that serves /healthz and /readyz.'),
  acknowledge: withDefault(
    acknowledge,
    'Observed',
    'When a weight is in force. Observed: external-dns has read every DNSEndpoint. Applied: every DNSEndpoint carries it, for a version of external-dns that does not report what it has read.',
  ),
  dynamodbEndpointUrl: flag(url, 'URL of DynamoDB, such as the URL of a VPC endpoint.', {
    defaultNote: 'the URL of the region',
  }),
  hostedZoneIds: flag(
    text,
    'IDs of the hosted zones of Route 53 in which external-dns publishes the records, separated by commas. They are read, so that a record that Route 53 would refuse is named and not written.',
    { defaultNote: 'none is read' },
  ),
  route53EndpointUrl: flag(url, 'URL of Route 53, for --hosted-zone-ids.', { defaultNote: 'the URL of the partition' }),
  namespace: flag(dnsLabel, 'Namespace of the Lease.', {
    defaultNote: 'the namespace of the pod, or of the context in the kubeconfig',
  }),
  kubeconfig,
  logLevel,
} as const satisfies FlagTable;

export type WeightsFlags = FlagValues<typeof WEIGHTS_FLAGS>;

type Key = keyof WeightsFlags;

/** Hexadecimal digits of a hash in a name. */
const NAME_DIGITS = 8;

/** The flags that have other names than the fields of a spec. */
const FLAG_OF: Readonly<Record<string, Key>> = {
  healthCheckID: 'awsHealthCheckId',
  region: 'awsRegion',
  weight: 'initialWeight',
  hostedZoneIDs: 'hostedZoneIds',
};

/** The spec that the flags describe. */
export function specOf(flags: WeightsFlags): TrafficWeightSpec {
  const { clusterName = '', annotationFilter, annotationPrefix, awsHealthCheckId, acknowledge } = flags;
  const bindingDomain = flags.bindingDomain?.toLowerCase().replace(/[.]$/, '');
  return {
    ...{ clusterName, acknowledge, backend: backendOf(flags) },
    ...(bindingDomain !== undefined && { bindingDomain }),
    ...(annotationFilter !== undefined && { annotationFilter }),
    ...(annotationPrefix !== undefined && { annotationPrefix }),
    ...(awsHealthCheckId !== undefined && { healthCheckID: awsHealthCheckId }),
    ...(flags.hostedZoneIds !== undefined && { hostedZoneIDs: [...new Set(flags.hostedZoneIds.split(','))] }),
  };
}

/**
 * The name of the TrafficWeight that the flags stand for: another name for another selection of Ingresses. Two Deployments with
 * different filters in one cluster would otherwise take each other's DNSEndpoints for their own, and remove them.
 */
export function nameOf({ clusterName, bindingDomain = '', annotationFilter = '' }: TrafficWeightSpec): string {
  const selection = JSON.stringify([clusterName, bindingDomain, annotationFilter]);
  return `weights-${createHash('sha256').update(selection).digest('hex').slice(0, NAME_DIGITS)}`;
}

/** The first flag whose value no TrafficWeight may have, or undefined. */
export function specProblem(flags: WeightsFlags): FlagProblem<Key> | undefined {
  if (flags.clusterName === undefined) return { key: 'clusterName', message: 'is required: the name of this cluster' };
  const { error } = specSchema.safeParse(specOf(flags));
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return undefined;
  // The last one may be a place in a list.
  const field = issue.path.findLast((part) => typeof part === 'string') ?? '';
  return { key: FLAG_OF[field] ?? (field as Key), message: issue.message };
}

function backendOf({
  backendType,
  initialWeight,
  tableName,
  awsRegion,
  allowAllZero,
}: WeightsFlags): TrafficWeightSpec['backend'] {
  if (backendType === 'fake') return { static: { weight: initialWeight } };
  const table = {
    ...(tableName !== undefined && { tableName }),
    ...(awsRegion !== undefined && { region: awsRegion }),
  };
  return { dynamodb: { ...table, initialWeight, ...(allowAllZero && { allowAllZero }) } };
}
