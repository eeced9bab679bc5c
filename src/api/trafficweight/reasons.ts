/**
 * Condition types and reasons of TrafficWeights. Users wait for them and alert on them, so never rename one; add a new one
 * instead.
 */

/** Types of the conditions in `status.conditions` (metav1.Condition). */
export const WeightCondition = {
  /** True when the weight is in force: currentWeight is desiredWeight, and the backend says so. Not about Ingresses and removals of single namespaces. */
  Ready: 'Ready',
  /** False while the weight cannot be read from the backend: the last one stays. Absent with a static weight. */
  BackendRead: 'BackendRead',
  /** False while a change of the weight proceeds in steps, or was rolled back. Only with spec.ramp. */
  Ramped: 'Ramped',
  /** True when the table knows that the weight is in force. Only with a table. */
  Acknowledged: 'Acknowledged',
  /** True when every DNSEndpoint carries its weight. */
  Applied: 'Applied',
  /** False while many hosts would lose their records, and nobody has confirmed that. Absent if none waits. */
  RemovalsConfirmed: 'RemovalsConfirmed',
  /** True when external-dns has read every DNSEndpoint as it is. */
  Observed: 'Observed',
  /** False while a hosted zone cannot be read: what was read last holds, or nothing is detected. Only with spec.hostedZoneIDs. */
  ZonesRead: 'ZonesRead',
  /** True when the hosted zones have the weight of every record. Only with spec.hostedZoneIDs. */
  Published: 'Published',
  /** False when an Ingress cannot have its records: its annotation is invalid, or another record or owner prevents them. */
  IngressesAccepted: 'IngressesAccepted',
} as const;
export type WeightCondition = (typeof WeightCondition)[keyof typeof WeightCondition];

/** Reasons in conditions and events. */
export const WeightReason = {
  // Ready
  InForce: 'InForce',
  /** Ready: the TrafficWeight is being deleted. */
  Terminating: 'Terminating',
  /** The spec is invalid: an older CRD let it through. Nothing is written. */
  InvalidSpec: 'InvalidSpec',
  /** The operator cannot read the objects that the records are made from. Nothing is written. */
  NotRead: 'NotRead',

  // BackendRead; also Ready
  WeightRead: 'WeightRead',
  /** The backend does not answer, or refuses. */
  BackendUnavailable: 'BackendUnavailable',
  /** The backend has no integer from 0 to 255. */
  InvalidWeight: 'InvalidWeight',
  /** The weight 0 would leave no cluster with traffic. */
  AllZero: 'AllZero',

  // Ramped; also Ready
  DesiredWeightReached: 'DesiredWeightReached',
  Ramping: 'Ramping',
  /** The gate has no data: the ramp waits. */
  GateWithoutData: 'GateWithoutData',
  RollingBack: 'RollingBack',
  /** The gate failed, and the weight is back at the weight before. It stays until another weight is desired. */
  RolledBack: 'RolledBack',
  /** The gate failed with rollback Hold: the weight of the last step stays until another weight is desired. */
  Held: 'Held',

  // Acknowledged; also Ready
  WeightAcknowledged: 'WeightAcknowledged',
  NotAcknowledgedYet: 'NotAcknowledgedYet',
  /** The weight is in force, and cannot be written to the backend. */
  AcknowledgeFailed: 'AcknowledgeFailed',
  /** No host has a record, so that a weight above 0 is not acknowledged. */
  NoRecords: 'NoRecords',

  // Applied; also Ready
  AllApplied: 'AllApplied',
  /** Many DNSEndpoints change: they are written in rounds, and namespaces take turns. */
  NotAppliedYet: 'NotAppliedYet',
  WriteFailed: 'WriteFailed',

  // RemovalsConfirmed, and an event; also Applied and Ready if it holds the weight
  /** Many hosts would lose their records, since nothing selects them any longer: spec.allowRemoval confirms it. */
  RemovalNotConfirmed: 'RemovalNotConfirmed',

  // Observed; also Ready
  AllObserved: 'AllObserved',
  NotObservedYet: 'NotObservedYet',
  /** external-dns has not read DNSEndpoints of some namespaces for long: a ramp goes on without them. */
  NotObserved: 'NotObserved',

  // ZonesRead
  AllZonesRead: 'AllZonesRead',
  ZonesNotReadYet: 'ZonesNotReadYet',
  /** A hosted zone does not answer, or refuses. */
  ZoneUnavailable: 'ZoneUnavailable',

  // Published; also Ready
  AllPublished: 'AllPublished',
  /** A hosted zone does not have the weights yet, or was not read since they changed. */
  NotPublishedYet: 'NotPublishedYet',
  /** A hosted zone still differs from DNSEndpoints minutes after they changed. */
  NotPublished: 'NotPublished',

  // IngressesAccepted, and events on the TrafficWeight and the Ingress
  AllAccepted: 'AllAccepted',
  InvalidAnnotation: 'InvalidAnnotation',
  /** Another Ingress has the host. */
  Conflict: 'Conflict',
  /** A hosted zone has a record of the host next to which Route 53 allows no weighted record. */
  RecordInTheWay: 'RecordInTheWay',
  /** A hosted zone has as many records of the host as Route 53 takes. */
  TooManyRecords: 'TooManyRecords',
  /** The other clusters' records of the host have another TTL, which is taken. */
  DifferentTTL: 'DifferentTTL',
  /** A hosted zone delegates the host, or a name around it, to other name servers. */
  Delegated: 'Delegated',
  /** DNS allows no such record, such as a CNAME at the apex of a zone. */
  NotPublishable: 'NotPublishable',
  /** A DNSEndpoint with the name of the Ingress is not its own. */
  ForeignDNSEndpoint: 'ForeignDNSEndpoint',
  /** The DNSEndpoint of the source would have a name that is too long. */
  NameTooLong: 'NameTooLong',
  /** The DNSEndpoint of the source would be larger than the API server takes. */
  TooLarge: 'TooLarge',
  /** Ingresses, HTTPRoutes or DNSEndpoints of a namespace take more memory than the operator allows for one namespace. */
  NamespaceTooLarge: 'NamespaceTooLarge',
} as const;
export type WeightReason = (typeof WeightReason)[keyof typeof WeightReason];

/** Reasons of a TrafficWeight that is not ready since its weight could not be decided. */
export const UNDECIDED_REASONS = [
  WeightReason.InvalidSpec,
  WeightReason.NotRead,
  WeightReason.BackendUnavailable,
  WeightReason.InvalidWeight,
  WeightReason.AllZero,
] as const;

/** Reasons that each change of the weight has for a moment. */
export const IN_PROGRESS_REASONS: ReadonlySet<string> = new Set([
  WeightReason.NotAppliedYet,
  WeightReason.NotObservedYet,
  WeightReason.NotPublishedYet,
  WeightReason.NotAcknowledgedYet,
  WeightReason.Ramping,
]);
