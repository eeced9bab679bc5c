import { PROMETHEUS_FLAGS } from '../../controllers/contract/flags.ts';
import { PROCESS_FLAGS } from '../../options/commonFlags.ts';
import { flag, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { boolean, url } from '../../options/values.ts';

/** The flags of `trafficweights`. */
export const TRAFFIC_WEIGHTS_FLAGS = {
  ...PROCESS_FLAGS,
  ...PROMETHEUS_FLAGS,
  weights: withDefault(
    boolean,
    'true',
    'Give the DNS records their weights. With false, the process only answers probes: a Subscription of OLM cannot remove the Deployment.',
  ),
  stacks: withDefault(
    boolean,
    'false',
    'TrafficStacks of users are on. Without --prometheus-url, queries go to the Prometheus that a TrafficStack uses, if one does; with false, only the stack "default" counts.',
  ),
  dynamodbEndpointUrl: flag(url, 'URL of DynamoDB for TrafficWeights, such as that of a VPC endpoint.', {
    defaultNote: 'that of the region',
  }),
  route53EndpointUrl: flag(url, 'URL of Route 53 for the hosted zones of TrafficWeights.', {
    defaultNote: 'that of the partition',
  }),
} as const satisfies FlagTable;

export type TrafficWeightsFlags = FlagValues<typeof TRAFFIC_WEIGHTS_FLAGS>;
