/** When a weight counts as in force: external-dns has read every DNSEndpoint, or every DNSEndpoint carries it. */
export const ACKNOWLEDGE = ['Observed', 'Applied'] as const;
export type Acknowledge = (typeof ACKNOWLEDGE)[number];

/** Why a host has the weight that it has. */
export const HOST_REASONS = [
  'ClusterWeight',
  'Annotation',
  'NoReadyEndpoints',
  'InvalidAnnotation',
  'Conflict',
  'ForeignDNSEndpoint',
  'NoAddress',
] as const;
export type HostReason = (typeof HOST_REASONS)[number];

/** Reasons of a host whose Ingress is not accepted. */
export const REFUSED_REASONS = ['InvalidAnnotation', 'Conflict', 'ForeignDNSEndpoint'] as const satisfies HostReason[];

/** The table with the weights, and its region: those of k8s-traffic-controller. */
export const DEFAULT_TABLE = 'traffic-controller';
export const DEFAULT_REGION = 'eu-west-1';

/** Of a weight that is measured: a share, and changes that are worth a write of all records. */
export const DEFAULT_FULL_VALUE = '1';
export const DEFAULT_MIN_CHANGE = 5;

/** The prefix of the annotation with an application's share: that of k8s-traffic-controller. */
export const DEFAULT_ANNOTATION_PREFIX = 'dns.adevinta.com';
