import {
  flag,
  list,
  withDefault,
  type FlagCheck,
  type FlagProblem,
  type FlagTable,
  type FlagValues,
} from '../../options/flagTable.ts';
import {
  nodeLabel,
  prometheusDuration,
  resources,
  retention,
  retentionSize,
  tolerations,
  volumeSize,
} from '../../options/kubernetesValues.ts';
import { boolean, dnsSubdomain, image, port, regExp } from '../../options/values.ts';
import { quantityOf } from '../../runtime/apply/quantity.ts';
import type { SharedFlags } from '../contract/flags.ts';
import { defaultMeasurementOptions, POD_INTERFACES, type MeasurementOptions } from './options.ts';

const MEASUREMENT = defaultMeasurementOptions('');

/** How the operator's own Prometheus and node-exporter are deployed. */
export const MEASUREMENT_FLAGS = {
  prometheusImage: withDefault(
    image,
    'quay.io/prometheus/prometheus:v3.15.0',
    'Image of the Prometheus that is deployed.',
  ),
  prometheusPriorityClass: flag(dnsSubdomain, 'Its PriorityClass.', { defaultNote: 'none' }),
  prometheusResources: flag(resources, 'What its container asks for and may have, all of it.', {
    defaultNote: JSON.stringify(MEASUREMENT.prometheus.resources),
  }),
  prometheusNodeSelector: list(nodeLabel, 'Label of the nodes that it may run on.'),
  prometheusTolerations: flag(tolerations, 'Taints that it tolerates.', { defaultNote: 'none' }),
  prometheusRetention: withDefault(retention, MEASUREMENT.prometheus.retentionTime, 'How long it keeps samples.'),
  prometheusRetentionSize: flag(retentionSize, 'How much it keeps on disk; the oldest samples go first.', {
    defaultNote: `${MEASUREMENT.prometheus.retentionSize}, or half of --prometheus-storage-size`,
  }),
  prometheusStorageSize: flag(
    volumeSize,
    'Size of a PersistentVolumeClaim for its samples, which is deleted with what the operator measures with.',
    { defaultNote: `none: an emptyDir of ${MEASUREMENT.prometheus.storageSize}` },
  ),
  prometheusStorageClass: flag(dnsSubdomain, 'StorageClass of that claim.', { defaultNote: 'the cluster’s default' }),
  prometheusExistingClaim: flag(
    dnsSubdomain,
    'A PersistentVolumeClaim in the operator’s namespace for its samples, which the operator neither makes nor deletes.',
    { defaultNote: 'none' },
  ),
  nodeExporter: flag(boolean, 'Deploy node-exporter on every node.', {
    defaultNote: 'true, or false with --prometheus-url',
  }),
  nodeExporterImage: withDefault(image, 'quay.io/prometheus/node-exporter:v1.12.1', 'Its image.'),
  nodeExporterPort: withDefault(port, '9100', 'Its TCP port on the nodes, which must be free there.'),
  // Not a critical one unless told: some clouds make no such pod outside kube-system where no ResourceQuota names it.
  nodeExporterPriorityClass: flag(dnsSubdomain, 'Its PriorityClass, such as system-node-critical.', {
    defaultNote: 'none',
  }),
  nodeExporterResources: flag(resources, 'What its container asks for and may have, all of it.', {
    defaultNote: JSON.stringify(MEASUREMENT.exporter.resources),
  }),
  nodeExporterIgnoredDevices: flag(
    regExp,
    'Names of network devices that it does not even read, in place of the default, which is how network plug-ins name the nodes’ ends of pods’ interfaces. A node whose uplink has such a name is not measured.',
    { defaultNote: POD_INTERFACES },
  ),
  imagePullSecret: list(
    dnsSubdomain,
    'Secret to pull the images of Prometheus and node-exporter with, in the namespace of each.',
  ),
} as const satisfies FlagTable;

export type MeasurementFlags = FlagValues<typeof MEASUREMENT_FLAGS>;

/** Namespaces are DNS labels of 63 characters at most, and the exporter's is named after the operator's. */
const LONGEST_NAMESPACE = 63 - '-node-exporter'.length;

type Flags = SharedFlags & MeasurementFlags;

/** The first combination of flags that cannot be meant, or undefined. */
export function measurementFlagProblem(flags: Flags): FlagProblem<keyof Flags> | undefined {
  return CHECKS.map((check) => check(flags)).find((problem) => problem !== undefined);
}

const CHECKS: readonly FlagCheck<Flags>[] = [
  ({ prometheusStorageClass, prometheusStorageSize }) =>
    prometheusStorageClass !== undefined && prometheusStorageSize === undefined
      ? { key: 'prometheusStorageClass', message: 'needs --prometheus-storage-size' }
      : undefined,
  ({ prometheusExistingClaim, prometheusStorageSize }) =>
    prometheusExistingClaim !== undefined && prometheusStorageSize !== undefined
      ? {
          key: 'prometheusExistingClaim',
          message: 'must not be combined with --prometheus-storage-size: one volume, one claim',
        }
      : undefined,
  ({ prometheusUrl, window = 0, prometheusRetention }) =>
    prometheusUrl === undefined && window > (prometheusDuration(prometheusRetention) ?? 0)
      ? { key: 'window', message: `must be ${prometheusRetention} at most, which is --prometheus-retention` }
      : undefined,
  ({ prometheusUrl, nodeExporter = prometheusUrl === undefined, namespace }) =>
    nodeExporter && namespace.length > LONGEST_NAMESPACE
      ? {
          key: 'namespace',
          message: `must have ${LONGEST_NAMESPACE} characters at most, for <namespace>-node-exporter`,
        }
      : undefined,
];

/** What the operator measures with, from its flags. */
export function measurementOptions(flags: SharedFlags & MeasurementFlags): MeasurementOptions {
  const { namespace, exporter, prometheus } = defaultMeasurementOptions(flags.namespace);
  const isOwn = flags.prometheusUrl === undefined;
  return {
    namespace,
    operatorMetrics: flags.metricsBindAddress !== 'off' && !flags.metricsSecure,
    imagePullSecrets: flags.imagePullSecret,
    exporter: {
      ...exporter,
      enabled: flags.nodeExporter ?? isOwn,
      image: flags.nodeExporterImage,
      port: flags.nodeExporterPort,
      priorityClassName: flags.nodeExporterPriorityClass ?? exporter.priorityClassName,
      resources: flags.nodeExporterResources ?? exporter.resources,
      ignoredDevices: wholeNameOr(exporter.ignoredDevices, flags.nodeExporterIgnoredDevices),
    },
    prometheus: {
      ...prometheus,
      enabled: isOwn,
      image: flags.prometheusImage,
      priorityClassName: flags.prometheusPriorityClass ?? prometheus.priorityClassName,
      scrapeIntervalSeconds: flags.scrapeInterval / 1000,
      resources: flags.prometheusResources ?? prometheus.resources,
      nodeSelector: Object.fromEntries(flags.prometheusNodeSelector),
      tolerations: flags.prometheusTolerations ?? prometheus.tolerations,
      ...storageOf(flags, prometheus.retentionSize),
    },
  };
}

/**
 * How much is kept, and where. Of a volume of a known size half is for blocks, as of the emptyDir: the rest is for the
 * newest three hours and for blocks while they are compacted.
 */
function storageOf(
  flags: MeasurementFlags,
  standardSize: string,
): Pick<MeasurementOptions['prometheus'], 'retentionTime' | 'retentionSize' | 'volume'> {
  const { prometheusStorageSize: size, prometheusStorageClass, prometheusExistingClaim: claimName } = flags;
  const half = size === undefined ? standardSize : `${Math.floor((quantityOf(size) ?? 0) / 2 ** 21)}MB`;
  const storageClass = prometheusStorageClass === undefined ? {} : { storageClassName: prometheusStorageClass };
  return {
    retentionTime: flags.prometheusRetention,
    retentionSize: flags.prometheusRetentionSize ?? half,
    ...(size !== undefined && { volume: { kind: 'claim', size, ...storageClass } }),
    ...(claimName !== undefined && { volume: { kind: 'existing', claimName } }),
  };
}

/** node-exporter looks for a match anywhere in a name; a flag is meant as the whole one, as --device-exclude is. */
function wholeNameOr(standard: string, given: string | undefined): string {
  return given === undefined ? standard : `^(?:${given})$`;
}
