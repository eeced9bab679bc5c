import * as z from 'zod';
import { quantityOf } from '../../runtime/apply/quantity.ts';
import { prometheusDuration } from '../../runtime/process/duration.ts';
import { durationSchema } from '../durationSchema.ts';
import { patternSchema } from '../patternSchema.ts';
import { image, priorityClassName, resources } from './builtInSchema.ts';
import { labelsSchema, OBJECT_NAME, tolerationsSchema } from './placementSchema.ts';

/** Prometheus drops a series 5 min after its last sample, and one lost scrape must not end a series. */
const SCRAPE_INTERVALS = { least: '1s', most: '2m', examples: '"5s", "30s" or "1m"', inSeconds: true };
/** Units in the order that Prometheus requires. */
const RETENTION = {
  pattern: '^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$',
  message: 'must be a duration of Prometheus, 2h at least, such as "24h" or "15d"',
  longest: 32,
};
/** Characters, as in 2h. The pattern alone would also match an empty text. */
const SHORTEST_RETENTION = 2;
/** A block of samples covers two hours: with less, Prometheus would keep none. */
const LEAST_RETENTION_MS = 7_200_000;
/** Units are powers of two. */
const RETENTION_SIZE = {
  pattern: '^[1-9][0-9]*(KB|MB|GB|TB)$',
  message: 'must be a size of Prometheus, such as "512MB" or "8GB"',
  longest: 20,
};
const NAME = {
  ...OBJECT_NAME,
  message: 'must be 1 to 253 lower-case letters, digits, "-" and ".", such as "fast"',
};
const LONGEST_QUANTITY = 32;
const LEAST_SIZE = '1Gi';
const SIZE_MESSAGE = `must be a quantity of ${LEAST_SIZE} at least, such as "10Gi"`;
const ONE_VOLUME_MESSAGE = 'must have size or existingClaim, not both: one volume, one claim';
const CLASS_MESSAGE = 'storageClassName: needs size, since it is of the claim that the operator creates';

const size = z
  .string()
  .max(LONGEST_QUANTITY, SIZE_MESSAGE)
  .refine((text) => (quantityOf(text) ?? 0) >= (quantityOf(LEAST_SIZE) ?? 0), SIZE_MESSAGE)
  .optional()
  .meta({
    description:
      `Size of a PersistentVolumeClaim that the operator creates, ${LEAST_SIZE} at least, such as "10Gi". It can only grow. Half of it ` +
      'is for blocks unless retentionSize is set.',
    'x-kubernetes-validations': [
      { rule: `isQuantity(self) && quantity(self).compareTo(quantity('${LEAST_SIZE}')) >= 0`, message: SIZE_MESSAGE },
    ],
  });

const storage = z
  .object({
    size,
    storageClassName: patternSchema(
      'StorageClass of that claim. Default: the default StorageClass of the cluster.',
      NAME,
    ).optional(),
    existingClaim: patternSchema(
      'Name of a PersistentVolumeClaim in the namespace of the operator, which neither creates nor deletes it.',
      NAME,
    ).optional(),
  })
  .superRefine(({ size, storageClassName, existingClaim }, context) => {
    if (size !== undefined && existingClaim !== undefined) {
      context.addIssue({ code: 'custom', message: ONE_VOLUME_MESSAGE });
    }
    if (size === undefined && storageClassName !== undefined) {
      context.addIssue({ code: 'custom', message: CLASS_MESSAGE });
    }
  })
  .optional()
  .meta({
    description:
      'Volume for the samples. It replaces all storage flags of the operator: {} is an emptyDir, which is deleted with the pod.',
    'x-kubernetes-validations': [
      { rule: '!has(self.size) || !has(self.existingClaim)', message: ONE_VOLUME_MESSAGE },
      { rule: 'has(self.size) || !has(self.storageClassName)', message: CLASS_MESSAGE },
    ],
  });

/** Schema of `spec.components[].prometheus`. */
export const prometheusSchema = z
  .object({
    image,
    priorityClassName,
    nodeSelector: labelsSchema(
      'Labels of the nodes that Prometheus may run on. They replace common.nodeSelector and the flag of the operator.',
    ),
    tolerations: tolerationsSchema(
      'Taints that Prometheus tolerates. They replace common.tolerations and the flag of the operator.',
    ),
    resources,
    scrapeInterval: durationSchema(
      'Time between two scrapes of a target. Without --window, nodes are measured over four scrapes. Default: the flag of the operator.',
      SCRAPE_INTERVALS,
    ),
    retention: patternSchema(
      'How long samples are kept: a duration of Prometheus, 2h at least, such as "24h" or "15d". Default: the flag of the operator.',
      RETENTION,
    )
      .min(SHORTEST_RETENTION, RETENTION.message)
      .refine((text) => (prometheusDuration(text) ?? 0) >= LEAST_RETENTION_MS, RETENTION.message)
      .optional(),
    retentionSize: patternSchema(
      'Size limit of the samples on disk, such as "512MB" or "8GB"; the oldest are deleted first. Default: with storage, half of its ' +
        'size, or 1GB without a size; else the flag of the operator.',
      RETENTION_SIZE,
    ).optional(),
    storage,
  })
  .optional()
  .meta({ description: 'Settings of the type Prometheus. Absent fields take the value of the flags of the operator.' });
