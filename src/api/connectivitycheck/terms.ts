/** Networks that connect nodes: the network of the pods, and the network of the nodes themselves (hostNetwork). */
export const PLANES = ['Pod', 'Host'] as const;
export type Plane = (typeof PLANES)[number];

/**
 * Reasons why a node is left out of findings. NotReady: its kubelet reports it. Unreachable: its kubelet is silent, so that
 * the condition Ready is Unknown; the network of the node may be the cause.
 */
export const EXCLUSIONS = ['NotReady', 'Unreachable', 'Cordoned', 'Joining', 'Leaving'] as const;
export type Exclusion = (typeof EXCLUSIONS)[number];

/** Verdicts of a check. Unknown: nothing could be measured. */
export const CONNECTIVITY_VERDICTS = ['Healthy', 'Degraded', 'Failed', 'Unknown'] as const;
export type ConnectivityVerdict = (typeof CONNECTIVITY_VERDICTS)[number];

/** Time between two reports of an agent, without `spec.interval`. */
export const DEFAULT_INTERVAL = '15s';
/** Number of other nodes that each agent probes, without `spec.peers`. */
export const DEFAULT_PEERS = 10;
/** Lost datagrams of a pair in percent from which on it is Degraded, without `spec.thresholds.lossPercent`. */
export const DEFAULT_LOSS_PERCENT = 10;
