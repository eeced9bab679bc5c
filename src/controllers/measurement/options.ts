import type { V1Affinity, V1ResourceRequirements, V1Toleration } from '@kubernetes/client-node';
import { quantityOf } from '../../runtime/apply/quantity.ts';
import { LEAST_SAMPLES_PER_WINDOW } from '../../usage/evaluate/snapshot.ts';

/** The options of the deployed node-exporter and Prometheus. */
export interface MeasurementOptions {
  /** The namespace of the operator and Prometheus. node-exporter is in `<namespace>-node-exporter`. */
  namespace: string;
  /**
   * Whether Prometheus scrapes the operator's own pods. False if /metrics is off, or served over HTTPS: it then
   * requires a token with rights, and Prometheus has no rights.
   */
  operatorMetrics: boolean;
  /** Whether the process for DNS weights runs, which Prometheus then scrapes with a job of its own. Default: false. */
  weights?: boolean;
  /** Whether Prometheus scrapes the server of the connectivity check. */
  connectivity: boolean;
  /** Secret with the CA of that server (ca.crt) in the namespace of the operator; empty: the server speaks plain HTTP. */
  connectivityTlsSecret: string;
  /** Pull secrets for the images. Each must be in the namespace of the pods; Kubernetes ignores missing ones. */
  imagePullSecrets: readonly string[];
  /** The namespaces in which TrafficStacks look for an existing node-exporter and Prometheus; empty: all. */
  discoveryNamespaces: readonly string[];
  /** Whether the operator creates the TrafficStack `default`. Default: true. */
  hasDefaultStack?: boolean;
  /** Whether the cluster assigns the IDs of pods, as OpenShift does. The pods then name none. */
  openshift: boolean;
  /** Window of a rate, seconds, if a flag sets it. Undefined: it follows the scrape interval. */
  windowSeconds?: number | undefined;
  exporter: ExporterOptions;
  prometheus: PrometheusOptions;
}

/** The node-exporter on every Linux node. */
export interface ExporterOptions {
  /** False: node-exporter is not deployed, and removed if it exists. */
  enabled: boolean;
  image: string;
  /** TCP port on the node's address. If another program uses the port, node-exporter does not start. */
  port: number;
  /** Go regular expression of device names that node-exporter does not read: the host ends of pod interfaces. */
  ignoredDevices: string;
  /**
   * '' for none, which works everywhere. With system-node-critical, node-exporter also runs on nodes that are full of
   * pods. But GKE and others reject critical pods outside kube-system unless a ResourceQuota allows the class.
   */
  priorityClassName: string;
  /** Labels of a node that runs node-exporter, in addition to kubernetes.io/os=linux. */
  nodeSelector: Record<string, string>;
  /** Further requirements for such a node. */
  affinity?: V1Affinity | undefined;
  resources: V1ResourceRequirements;
}

/** The operator's own Prometheus. */
export interface PrometheusOptions {
  /** False: the operator queries an existing Prometheus. It deploys none, and removes its own if that exists. */
  enabled: boolean;
  /** Prometheus 3.15 or newer: older versions do not read the retention from the configuration file. */
  image: string;
  /** Scrape interval in seconds. The window of a rate must be at least four times as long. */
  scrapeIntervalSeconds: number;
  /** How long samples are kept, as a Prometheus duration. */
  retentionTime: string;
  /** Maximum size of the blocks on disk, as a Prometheus size: powers of two, 1GB is 2^30 bytes. */
  retentionSize: string;
  /**
   * Size limit of the emptyDir, a Kubernetes quantity: the blocks, and the newest three hours before they are in one.
   */
  storageSize: string;
  /** Replaces the emptyDir. */
  volume?: PrometheusVolume | undefined;
  priorityClassName: string;
  nodeSelector: Record<string, string>;
  tolerations: V1Toleration[];
  resources: V1ResourceRequirements;
}

/** A volume that outlives the pod: a claim that the operator creates, or an existing claim. */
export type PrometheusVolume =
  | {
      kind: 'claim';
      /** A Kubernetes quantity. */
      size: string;
      /** Absent: the cluster's default StorageClass. */
      storageClassName?: string;
    }
  | { kind: 'existing'; claimName: string };

/** Half of a volume, a Kubernetes quantity, as a Prometheus size: the rest is for the newest three hours, and for compaction. */
export function halfOf(size: string): string {
  return `${Math.floor((quantityOf(size) ?? 0) / 2 ** 21)}MB`;
}

/** Anchors a pattern. node-exporter matches anywhere in a name; --device-exclude matches whole names. */
export function wholeName(pattern: string): string {
  return `^(?:${pattern})$`;
}

/** The pattern that `wholeName` has anchored. */
export function bareName(anchored: string): string {
  return /^\^\(\?:(.*)\)\$$/s.exec(anchored)?.[1] ?? anchored;
}

/** TCP port of Prometheus in its pod and Service. */
export const PROMETHEUS_PORT = 9090;

/** Default window of a rate with the deployed Prometheus: seconds. Four scrapes of 5 s. */
export const DEFAULT_RATE_WINDOW_SECONDS = 20;

/**
 * The window of a rate if --window is not set: seconds. LEAST_SAMPLES_PER_WINDOW scrapes, but never less than the
 * default, so that a shorter scrape interval does not make verdicts change more often.
 */
export function defaultRateWindowSeconds(scrapeIntervalSeconds: number): number {
  return Math.max(DEFAULT_RATE_WINDOW_SECONDS, LEAST_SAMPLES_PER_WINDOW * scrapeIntervalSeconds);
}

/**
 * Names that network plug-ins generate for the host end of a pod's interface: a known prefix and hex digits (bridge,
 * ptp, Calico, Cilium, AWS, Azure, GKE), 15 hex digits (OVN), up to 12 hex digits and _h (Kube-OVN), or the pod's name
 * and 6 hex digits (Antrea). The prefix alone is not enough: it would also match an uplink that is a veth, and a node
 * whose only uplink is a veth must be measured.
 */
export const POD_INTERFACES =
  '^((veth|cali|lxc|eni|azv|gke)[0-9a-f]{6,}|[0-9a-f]{15}|[0-9a-f]{5,12}(_[0-9a-z]+)?_[hc]|.+-[0-9a-f]{6}|lxc_health)$';

/** The default options. */
export function defaultMeasurementOptions(namespace: string): MeasurementOptions {
  return {
    namespace,
    operatorMetrics: true,
    connectivity: false,
    connectivityTlsSecret: '',
    imagePullSecrets: [],
    discoveryNamespaces: [],
    openshift: false,
    exporter: { ...EXPORTER },
    prometheus: { ...PROMETHEUS },
  };
}

/** The URL of the deployed Prometheus, for pods of the cluster. */
export function measurementEndpoint(options: Pick<MeasurementOptions, 'namespace'>): string {
  return `http://prometheus.${options.namespace}.svc:${PROMETHEUS_PORT}`;
}

const EXPORTER: ExporterOptions = {
  enabled: true,
  image: 'quay.io/prometheus/node-exporter:v1.12.1',
  port: 9100,
  ignoredDevices: POD_INTERFACES,
  priorityClassName: '',
  nodeSelector: {},
  // The collectors need about 20 MB. No CPU limit, because throttling would delay samples.
  resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '96Mi' } },
};

/**
 * Sized for some hundred nodes. A node with four devices has about 30 series. At 5 s and 1.5 bytes a sample, that is
 * 0.8 MB a day on disk, and 100 to 150 kB of memory.
 */
const PROMETHEUS: PrometheusOptions = {
  enabled: true,
  image: 'quay.io/prometheus/prometheus:v3.15.0',
  scrapeIntervalSeconds: 5,
  retentionTime: '24h',
  retentionSize: '1GB',
  storageSize: '2Gi',
  priorityClassName: '',
  nodeSelector: {},
  tolerations: [],
  resources: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '1Gi' } },
};
