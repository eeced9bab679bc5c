import {
  firstProblem,
  flag,
  list,
  withDefault,
  type FlagCheck,
  type FlagProblem,
  type FlagTable,
  type FlagValues,
} from '../../options/flagTable.ts';
import {
  nodeAffinity,
  nodeLabel,
  resources,
  retention,
  retentionSize,
  tolerations,
  volumeSize,
} from '../../options/kubernetesValues.ts';
import { boolean, dnsSubdomain, image, port, regExp } from '../../options/values.ts';
import { prometheusDuration } from '../../runtime/process/duration.ts';
import type { SharedFlags } from '../contract/flags.ts';
import { defaultMeasurementOptions, halfOf, POD_INTERFACES, wholeName, type MeasurementOptions } from './options.ts';

const MEASUREMENT = defaultMeasurementOptions('');

/** The flags for the deployed Prometheus and node-exporter. */
export const MEASUREMENT_FLAGS = {
  prometheusImage: withDefault(image, 'quay.io/prometheus/prometheus:v3.15.0', 'Image of the deployed Prometheus.'),
  prometheusPriorityClass: flag(dnsSubdomain, 'PriorityClass of the deployed Prometheus.', { defaultNote: 'none' }),
  prometheusResources: flag(
    resources,
    'Requests and limits of the Prometheus container. They replace the whole default.',
    {
      defaultNote: JSON.stringify(MEASUREMENT.prometheus.resources),
    },
  ),
  prometheusNodeSelector: list(nodeLabel, 'Label that a node needs to run the deployed Prometheus.'),
  prometheusTolerations: flag(tolerations, 'Tolerations of the deployed Prometheus.', { defaultNote: 'none' }),
  prometheusRetention: withDefault(
    retention,
    MEASUREMENT.prometheus.retentionTime,
    'How long the deployed Prometheus keeps samples.',
  ),
  prometheusRetentionSize: flag(
    retentionSize,
    'Size limit of its samples on disk. Prometheus deletes the oldest samples first.',
    {
      defaultNote: `${MEASUREMENT.prometheus.retentionSize}, or half of --prometheus-storage-size`,
    },
  ),
  prometheusStorageSize: flag(
    volumeSize,
    'Size of a PersistentVolumeClaim for the samples of the deployed Prometheus. The operator deletes the claim when it removes Prometheus.',
    { defaultNote: `none: an emptyDir of ${MEASUREMENT.prometheus.storageSize}` },
  ),
  prometheusStorageClass: flag(dnsSubdomain, 'StorageClass of the claim of --prometheus-storage-size.', {
    defaultNote: 'the cluster’s default',
  }),
  prometheusExistingClaim: flag(
    dnsSubdomain,
    'Existing PersistentVolumeClaim in the operator’s namespace for the samples of the deployed Prometheus. The operator does not create or delete it.',
    { defaultNote: 'none' },
  ),
  nodeExporter: flag(boolean, 'Deploy node-exporter on every node.', {
    defaultNote: 'true, or false with --prometheus-url',
  }),
  nodeExporterImage: withDefault(image, 'quay.io/prometheus/node-exporter:v1.12.1', 'Image of node-exporter.'),
  nodeExporterPort: withDefault(port, '9100', 'TCP port of node-exporter. It must be free on every node.'),
  // No critical class by default: some clouds reject such a pod outside kube-system unless a ResourceQuota allows the
  // class.
  nodeExporterPriorityClass: flag(dnsSubdomain, 'PriorityClass of node-exporter, such as system-node-critical.', {
    defaultNote: 'none',
  }),
  nodeExporterNodeSelector: list(
    nodeLabel,
    'Label that a node needs to run node-exporter. Other nodes without series are not measured, which is not a problem.',
  ),
  nodeExporterAffinity: flag(
    nodeAffinity,
    'Node affinity of node-exporter. Nodes that it leaves out are treated as with --node-exporter-node-selector.',
    { defaultNote: 'none' },
  ),
  nodeExporterResources: flag(
    resources,
    'Requests and limits of the node-exporter container. They replace the whole default.',
    {
      defaultNote: JSON.stringify(MEASUREMENT.exporter.resources),
    },
  ),
  nodeExporterIgnoredDevices: flag(
    regExp,
    'Names of network devices that node-exporter does not read. It replaces the default: the names that network plug-ins give to the host ends of pod interfaces. A node is not measured if its uplink has such a name.',
    { defaultNote: POD_INTERFACES },
  ),
} as const satisfies FlagTable;

export type MeasurementFlags = FlagValues<typeof MEASUREMENT_FLAGS>;

/** A namespace has at most 63 characters, and the namespace of node-exporter has the operator's namespace in its name. */
const LONGEST_NAMESPACE = 63 - '-node-exporter'.length;

type Flags = SharedFlags & MeasurementFlags;

/** The first invalid combination of flags, or undefined. */
export function measurementFlagProblem(flags: Flags): FlagProblem<keyof Flags> | undefined {
  return firstProblem(CHECKS, flags);
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

/** Converts the flags to options. */
export function measurementOptions(flags: SharedFlags & MeasurementFlags): MeasurementOptions {
  const { namespace, exporter, prometheus } = defaultMeasurementOptions(flags.namespace);
  const isOwn = flags.prometheusUrl === undefined;
  const { nodeExporterIgnoredDevices: ignored, window } = flags;
  return {
    namespace,
    ...(flags.weights && { weights: true }),
    operatorMetrics: flags.metricsBindAddress !== 'off' && !flags.metricsSecure,
    connectivity: flags.connectivity,
    connectivityTlsSecret: flags.connectivityTlsSecret ?? '',
    imagePullSecrets: flags.imagePullSecret,
    discoveryNamespaces: flags.discoveryNamespace,
    hasDefaultStack: flags.defaultStack,
    openshift: flags.openshift,
    ...(window !== undefined && { windowSeconds: window / 1000 }),
    exporter: {
      ...exporter,
      enabled: flags.nodeExporter ?? isOwn,
      image: flags.nodeExporterImage,
      port: flags.nodeExporterPort,
      priorityClassName: flags.nodeExporterPriorityClass ?? exporter.priorityClassName,
      nodeSelector: Object.fromEntries(flags.nodeExporterNodeSelector),
      affinity: flags.nodeExporterAffinity,
      resources: flags.nodeExporterResources ?? exporter.resources,
      ignoredDevices: ignored === undefined ? exporter.ignoredDevices : wholeName(ignored),
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
 * Retention and volume. As with the emptyDir, half of a claim is for blocks.
 *
 * @param standardSize the retention size if no claim is created
 */
function storageOf(
  flags: MeasurementFlags,
  standardSize: string,
): Pick<MeasurementOptions['prometheus'], 'retentionTime' | 'retentionSize' | 'volume'> {
  const { prometheusStorageSize: size, prometheusStorageClass, prometheusExistingClaim: claimName } = flags;
  const storageClass = prometheusStorageClass === undefined ? {} : { storageClassName: prometheusStorageClass };
  return {
    retentionTime: flags.prometheusRetention,
    retentionSize: flags.prometheusRetentionSize ?? (size === undefined ? standardSize : halfOf(size)),
    ...(size !== undefined && { volume: { kind: 'claim', size, ...storageClass } }),
    ...(claimName !== undefined && { volume: { kind: 'existing', claimName } }),
  };
}
