/**
 * Measured, or why there is no percent:
 *
 * | Reason          | What is missing |
 * |-----------------|-----------------|
 * | NoSeries        | series of the node, or one of a device that counts |
 * | StaleSamples    | samples that are young enough: counters without a rate in the window, or rates whose target is gone |
 * | NoCapacity      | a device with a known speed, and an annotation in its place |
 * | InvalidCapacity | a capacity annotation that can be read |
 * | InvalidSample   | a sample that is a number |
 * | AmbiguousSeries | one set of series: two exporters or two clusters answer for the node |
 * | AmbiguousUplink | one uplink: there are several veths or macvlans and nothing else |
 */
export type UsageReason =
  | 'Measured'
  | 'NoSeries'
  | 'StaleSamples'
  | 'NoCapacity'
  | 'InvalidCapacity'
  | 'InvalidSample'
  | 'AmbiguousSeries'
  | 'AmbiguousUplink';
