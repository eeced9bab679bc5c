import * as z from 'zod';
import { int64 } from '../integerSchema.ts';

/** The verdict on a node. Unknown means that there are no figures; it does not mean fit. */
export type Verdict = 'Fit' | 'Unfit' | 'Unknown';

const CAPACITY_SOURCES = ['Spec', 'Annotation', 'Label', 'ActiveSlaves', 'Series'] as const;

/** Schema of an entry of `status.nodes`. */
export const nodeStatusSchema = z
  .object({
    currentBandwidthPercent: z.string().optional().meta({
      description: 'Bandwidth use in percent, such as "1.06976e-04"; empty if it is unknown.',
    }),
    currentTransmitTotal: int64(
      'Bytes sent over the measured devices since their counters started, whatever the direction.',
    ),
    capacity: z.string().optional().meta({
      description:
        'Capacity that the percent refers to, such as "25Gbit", rounded to two decimals. Absent without a percent.',
    }),
    capacitySource: z
      .enum(CAPACITY_SOURCES)
      .optional()
      .meta({
        description:
          'Where the capacity comes from: Spec, an entry of spec.capacity; Annotation, traffic.example.com/capacity of the ' +
          'Node; Label, the node label that --capacity-label names; ActiveSlaves, the link speeds in the series, with a ' +
          'bond among the devices, which counts with the speed of the slaves that can send; or Series, the link speeds.',
      }),
    time: int64('Time of the measurement in seconds since 1970-01-01 UTC.'),
    unfit: z.boolean().optional().meta({
      description: 'Value of the node label; with mode Observe, the value that it would have.',
    }),
    verdict: z.enum(['Fit', 'Unfit', 'Unknown']).optional().meta({
      description: 'Verdict of the last passes; Unknown if there are no figures.',
    }),
    reason: z.string().optional().meta({ description: 'Reason of the verdict, one CamelCase word.' }),
    message: z
      .string()
      .optional()
      .meta({
        description:
          'Says why the node has no figure or no verdict, and what to do; or names the device that is above ' +
          'maxBandwidthPercent although the node is not.',
      }),
    since: z.string().optional().meta({ format: 'date-time', description: 'Time of the last change of the verdict.' }),
    labelSince: z.string().optional().meta({
      format: 'date-time',
      description: 'With mode Observe: time of the last change of the label that the node would have.',
    }),
  })
  // No field is required: a status of PKopel/traffic-operator has only the first four, and must stay valid until it is
  // replaced.
  .meta({ description: 'Figures and verdict of one node.' });

/** Figures and verdict of one node. A status of PKopel/traffic-operator lacks `verdict`, `reason` and `since`. */
export interface NodeStatus {
  /** Percent, such as "1.06976e-04"; '' if unknown. */
  currentBandwidthPercent: string;
  /** Bytes. */
  currentTransmitTotal?: number;
  /** In the form of the capacity annotation, such as "25Gbit"; absent without a percent. */
  capacity?: string;
  capacitySource?: (typeof CAPACITY_SOURCES)[number];
  /** Unix seconds. */
  time?: number;
  unfit: boolean;
  verdict: Verdict;
  reason: string;
  /** Why the node has no figure or no verdict, or the device that is above the threshold although the node is not. */
  message?: string;
  /** RFC 3339; absent if the list had no room for the node when its verdict changed. */
  since?: string;
  /** RFC 3339; only with mode Observe. Absent if the node has no figures yet, or the time is not known. */
  labelSince?: string;
}
