/** The kinds whose hosts have records. */
export const SOURCE_KINDS = ['Ingress', 'HTTPRoute'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

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
  'SharedHost',
  'OtherNamespace',
  'RecordInTheWay',
  'TooManyRecords',
  'DifferentTTL',
  'Delegated',
  'NotPublishable',
  'ZoneNotRead',
  'ForeignDNSEndpoint',
  'NameTooLong',
  'TooLarge',
  'NoAddress',
] as const;
export type HostReason = (typeof HOST_REASONS)[number];

/** Reasons of a host whose Ingress is not accepted. */
export const REFUSED_REASONS = [
  'InvalidAnnotation',
  'Conflict',
  'RecordInTheWay',
  'TooManyRecords',
  'DifferentTTL',
  'Delegated',
  'NotPublishable',
  'ForeignDNSEndpoint',
  'NameTooLong',
  'TooLarge',
] as const satisfies HostReason[];

/** The table with the weights, and its region: the defaults of k8s-traffic-controller. */
export const DEFAULT_TABLE = 'traffic-controller';
export const DEFAULT_REGION = 'eu-west-1';

/** The key of a ConfigMap with the weight. */
export const DEFAULT_WEIGHT_KEY = 'weight';

/** Defaults of a measured weight: the query returns a share from 0 to 1, and smaller changes are not worth a write of all records. */
export const DEFAULT_FULL_VALUE = '1';
export const DEFAULT_MIN_CHANGE = 5;

/** The highest weight of a record: ResourceRecordSet.Weight of Route 53's API reference. */
export const MOST_WEIGHT = 255;
/** Characters of a query to Prometheus. */
export const LONGEST_QUERY = 4_096;

/** How the weight changes when the gate of a ramp has failed. */
export const ROLLBACKS = ['Gradual', 'Immediate', 'Hold'] as const;
export type Rollback = (typeof ROLLBACKS)[number];
export const DEFAULT_ROLLBACK: Rollback = 'Immediate';

/** Which changes of a weight are ramped. */
export const RAMP_DIRECTIONS = ['Both', 'Up'] as const;

/** Phases of a ramped change. */
export const RAMP_PHASES = ['Progressing', 'RollingBack', 'RolledBack', 'Held'] as const;
export type RampPhase = (typeof RAMP_PHASES)[number];

/** Results of the gate of a ramp. */
export const GATE_RESULTS = ['Passed', 'Failed', 'NoData'] as const;
export type GateResultName = (typeof GATE_RESULTS)[number];

/** The prefix of the annotation with an application's share: the default of k8s-traffic-controller. */
export const DEFAULT_ANNOTATION_PREFIX = 'dns.adevinta.com';
