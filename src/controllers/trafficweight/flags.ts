import { flag, withDefault, type FlagTable } from '../../options/flagTable.ts';
import { boolean, url } from '../../options/values.ts';

/** The flags of the manager for DNS weights. */
export const TRAFFIC_WEIGHT_FLAGS = {
  weights: withDefault(
    boolean,
    'false',
    'Give the DNS records of the cluster their weights, as TrafficWeights ask for. Needs the CRD of external-dns.',
  ),
  dynamodbEndpointUrl: flag(url, 'URL of DynamoDB for TrafficWeights, such as that of a VPC endpoint.', {
    defaultNote: 'that of the region',
  }),
  route53EndpointUrl: flag(url, 'URL of Route 53 for the hosted zones of TrafficWeights.', {
    defaultNote: 'that of the partition',
  }),
} as const satisfies FlagTable;
