/** Time between two reports of an agent, without `spec.interval`. */
export const DEFAULT_INTERVAL = '15s';
/** Number of other nodes that each agent probes, without `spec.peers`. */
export const DEFAULT_PEERS = 10;
/** Lost datagrams of a pair in percent from which on it is Degraded, without `spec.thresholds.lossPercent`. */
export const DEFAULT_LOSS_PERCENT = 10;
