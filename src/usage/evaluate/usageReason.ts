/**
 * Measured, or the reason why there is no percent:
 *
 * | Reason          | Cause |
 * |-----------------|-------|
 * | NoSeries        | the node has no series, or none of a device that counts |
 * | StaleSamples    | the samples are too old: counters without a rate in the window or with repeated values, also of one device of several, or rates whose target is gone, or a NIC has no counter |
 * | NoCapacity      | nothing states the capacity, and no device has a usable speed, or a device with real traffic has none |
 * | InvalidCapacity | the capacity annotation or the capacity label cannot be parsed |
 * | InvalidSample   | a sample is not a number, or is negative, or a rate is far above the speed of its device |
 * | CounterReset    | a counter fell within the rate window, as after a restart of the node: its rate is known when the window has passed |
 * | AmbiguousSeries | several exporters or clusters report the node |
 * | NoHostNetwork   | the exporter is in the network of a pod, and its series say nothing of the node |
 * | AmbiguousUplink | the node has several veths or macvlans and no other device, or series are missing that show which device is the NIC, or a virtual function has traffic |
 * | NoDeviceSelected | the patterns of the reading leave none of the devices that count |
 * | NotEvaluated    | nobody had asked for this reading when the pass ran, or the pass had no time left for it |
 */
export type UsageReason =
  | 'Measured'
  | 'NoSeries'
  | 'StaleSamples'
  | 'NoCapacity'
  | 'InvalidCapacity'
  | 'InvalidSample'
  | 'CounterReset'
  | 'AmbiguousSeries'
  | 'NoHostNetwork'
  | 'AmbiguousUplink'
  | 'NoDeviceSelected'
  | 'NotEvaluated';

/** Why a node has no percent. */
export interface Problem {
  readonly reason: Exclude<UsageReason, 'Measured'>;
  /** The problem, and the action to take, without numbers that change with each pass. */
  readonly message: string;
  /** Time of the newest sample, seconds since 1970. Set if it is too old for a rate. */
  readonly newestSeconds?: number;
}
